"""Read a table of text whose cells are separated by a delimiter."""

from __future__ import annotations

import re
from pathlib import Path

from clinclust.errors import InputError
from clinclust.files.delimited_lines import DelimitedLines, delimiter_of
from clinclust.files.encodings import decoded
from clinclust.files.listed import quoted
from clinclust.files.text_table import TableRead, TextTable, refuse_unnamed

__all__ = ["read_delimited"]

_SAID = re.compile(r"sep=([^\w\r\n\"])\r?[\r\n]", re.IGNORECASE)  # the first line as Excel writes and reads it


def read_delimited(path: Path, encoding: str | None, usual: str) -> TableRead:
    """Read a delimited text file; see `clinclust.files.tables.read_cohort`.

    Parameters
    ----------
    path : Path
    encoding : str or None
    usual : {",", "tab"}
        The delimiter that the suffix of the file stands for.
    """
    text, remarks = decoded(path.read_bytes(), encoding)
    said = _SAID.match(text)
    delimiter = said[1] if said else delimiter_of(text, usual)
    lines = DelimitedLines(text[said.end() :] if said else text, delimiter, first_line=2 if said else 1)
    rows = iter(lines)
    _, header = next(rows, (0, []))
    if not header:
        raise InputError("the file is empty")
    if len(header) == 1 and re.search("[,;\t|]", header[0]):
        remarks.append(
            f"read as one column, {quoted(header[0])}: if it is several, begin the file with a line that says what "
            "separates them, such as sep=;"
        )
    table = TextTable(header)
    for number, row in rows:
        table.add(number, row)
    frame = table.frame()
    named = len(header)
    while named and not header[named - 1].strip() and not frame.iloc[:, named - 1].str.strip().any():
        named -= 1  # a delimiter at the end of every row, as some programs write it
    refuse_unnamed([place for place, name in enumerate(header[:named], 1) if not name.strip()], len(header))
    return TableRead(frame if named == len(header) else frame.iloc[:, :named], remarks + lines.remarks())
