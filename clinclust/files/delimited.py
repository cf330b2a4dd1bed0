"""Read a table of text whose cells are separated by a delimiter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from clinclust.errors import InputError
from clinclust.files.chosen_columns import refuse_many_columns
from clinclust.files.delimited_lines import DelimitedLines, Line
from clinclust.files.delimiters import delimiter_of
from clinclust.files.encodings import decoded
from clinclust.files.layout.doubts import UncertainRowsError
from clinclust.files.layout.header import find_header
from clinclust.files.layout.sheet_rows import Row, SheetRows, is_blank
from clinclust.files.layout.sheet_table import SheetOptions, sheet_table
from clinclust.files.listed import quoted
from clinclust.files.source import Source
from clinclust.files.text_table import TableRead

__all__ = ["read_delimited"]

_SAID = re.compile(r"sep=([^\w\r\n\"])\r?[\r\n]", re.IGNORECASE)  # the first line as Excel writes and reads it
_LAST = 100  # single texts stand below the last subject
_COMMA_IS_USUAL = (".csv", "")


def read_delimited(source: Source, encoding: str | None, options: SheetOptions) -> TableRead:
    """Read a delimited text file; see `clinclust.read_cohort`."""
    text, remarks = decoded(source.read(), encoding)
    said = _SAID.match(text)
    usual = "," if source.suffix in _COMMA_IS_USUAL else "\t"
    delimiter, told = (said[1], []) if said else delimiter_of(text, usual, source.suffix)
    lines = DelimitedLines(text[said.end() :] if said else text, delimiter, first_line=2 if said else 1)
    every = lines.rows()
    rows = options.empty_rows()
    first = list(islice(every, rows.n_first))
    filled = [(line.number, line.fields) for line in first if not all(map(is_blank, line.fields))]
    if not filled:
        raise InputError("the file is empty")
    n_filled = max(sum(not is_blank(field) for field in fields) for _, fields in filled)
    refuse_many_columns(n_filled, options.most_columns)  # at once: what follows looks at each column
    header = find_header(filled, (), options.header_row, options.rows, options.of_subjects)
    names = header.rows[-1][1] if header.rows else _first_subject(filled, options)
    if len(names) == 1 and re.search(r"[,;\t|]|\S {2,}\S", names[0]):
        remarks.append(
            f"read as one column, {quoted(names[0])}: if it is several, begin the file with a line that says what "
            "separates them, such as sep=;"
        )
    for above in filled:
        if above[0] <= header.last:
            rows.add(*above)
    below = _subjects_among(chain(first, every), header.last, options, rows)
    for number, fields in lines.of_width(below, len(names)):
        rows.add(number, fields)
    try:
        read = sheet_table(rows, options, header=header)
    except InputError as error:
        lines.refuse_misfits(error if isinstance(error, UncertainRowsError) else None)
        raise
    lines.refuse_single_texts(set((read.frame.index[-_LAST:] + 2).tolist()))
    return replace(read, remarks=remarks + told + read.remarks + lines.remarks())


def _subjects_among(lines: Iterable[Line], header: int, options: SheetOptions, rows: SheetRows) -> Iterator[Line]:
    """Yield the lines below the header that may be subjects; those that are none, of whatever length, are counted."""
    for line in lines:
        if line.number <= header:
            continue
        if options.may_be_subject(line.number):
            yield line
        else:
            rows.n_outside += not all(map(is_blank, line.fields))


def _first_subject(filled: Sequence[Row], options: SheetOptions) -> list[str]:
    """Return the cells of the first row that may be a subject, whose number is that of the columns."""
    return next((fields for number, fields in filled if options.may_be_subject(number)), filled[0][1])
