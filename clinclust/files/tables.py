"""Reading the table in a file by its format; csv and other files of text."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from clinclust.errors import CohortWarning, InputError, refuse
from clinclust.files.cell_text import Places, limited, listed, quoted
from clinclust.files.layout import SheetOptions, find_header, sheet_table
from clinclust.files.opening import Source, kind_of, shown_name, unpacked
from clinclust.files.text_table import SheetRows, TableRead, is_blank, name_columns, refuse_many_columns
from clinclust.files.typed_files import STATISTICAL, read_parquet, read_statistical
from clinclust.files.workbooks import read_ods_or_xlsb, read_xls, read_xlsx

# Read a table of text whose cells are separated by a delimiter.

_SAID = re.compile(r"sep=([^\w\r\n\"])\r?[\r\n]", re.IGNORECASE)  # the first line as Excel writes and reads it
_MARKED = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the mark of utf-16-le, so it is looked for first
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CALLED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_LINES_TRIED = 50
_SWALLOWING = "a text in quotes holds whole rows of the table: look for a quote that is not closed in its place"
_NO_VALUE = "rows without any value are left out"


class _Line(NamedTuple):
    """A row of the text: its number in a spreadsheet, its first line in the file, whether it has more, its cells."""

    number: int
    first: int
    is_long: bool
    fields: list[str]


def read_delimited(source: Source, encoding: str | None, options: SheetOptions) -> TableRead:
    """Read a delimited text file; see `clinclust.read_cohort`."""
    text, remarks = _decoded(source.read(), encoding)
    said = _SAID.match(text)
    delimiter = said[1] if said else _delimiter_of(text)
    lines = _lines(text[said.end() :] if said else text, delimiter, 1 if said else 0)
    rows = options.empty_rows()
    first = list(islice(lines, rows.n_first))
    filled = [(line.number, line.fields) for line in first if not all(map(is_blank, line.fields))]
    if not filled:
        raise InputError("the file is empty")
    n_filled = max(sum(not is_blank(field) for field in fields) for _, fields in filled)
    refuse_many_columns(n_filled, options.most_columns)  # at once: what follows looks at each column
    header = find_header(filled, (), options)
    subjects = (fields for number, fields in filled if options.may_be_subject(number))
    names = dict(filled)[header.rows[-1][0]] if header.rows else next(subjects, filled[0][1])
    if len(names) == 1 and re.search(r"[,;\t|]|\S {2,}\S", names[0]):
        remarks.append(
            f"read as one column, {quoted(names[0])}: if it is several, begin the file with a line that says what "
            "separates them, such as sep=;"
        )
    for number, fields in filled:
        if number <= header.last:
            rows.add(number, fields)
    below = (line for line in chain(first, lines) if line.number > header.last)
    of_rows, short = _add(rows, below, len(names), delimiter, options)
    read = sheet_table(rows, options, header=header)
    if misfits := set(read.frame.index + 2).intersection(short):
        raise _misfits([short[number] for number in sorted(misfits)], len(names), delimiter)
    return replace(read, remarks=remarks + read.remarks + of_rows)


def _decoded(content: bytes, encoding: str | None) -> tuple[str, list[str]]:
    """Return the text of a file, without byte order marks, and remarks on how it was decoded.

    Without an `encoding`, a byte order mark decides; else it is UTF-8 or, if not, Windows-1252.
    """
    marked = next((name for mark, name in _MARKED if content.startswith(mark)), None)
    tried = [name for name in (encoding, marked) if name][:1] or ["utf-8", "cp1252"]
    text, used, line = None, tried[0], 1
    for used in tried:
        try:
            text = content.decode(used).lstrip("\ufeff")
            break
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
        except (LookupError, ValueError):  # ValueError: a name with a NUL, or an encoding of host names
            raise InputError(f"there is no encoding {quoted(encoding)} of text; utf-8 and cp1252 are usual") from None
    if text is None:
        raise InputError(f"line {line} is not {' or '.join(tried)} text; give its encoding (`encoding`)")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError(
            f"line {line} holds a NUL character, which no text does: the file is damaged, or in another encoding than "
            f"{used}, such as utf-16; give its encoding (`encoding`)"
        )
    guessed = "the file is not UTF-8 text: read as cp1252. If letters look wrong, give `encoding`"
    return text, [guessed] if used != tried[0] else []


def _delimiter_of(text: str) -> str:
    """Return the delimiter that splits most rows alike, and among several into most fields; a comma if none does."""
    splits = dict[str, tuple[float, int]]()  # the share of the first rows that it splits alike, and into how many
    for mark in _CALLED:
        numbers: Counter[int] = Counter()
        with suppress(csv.Error):
            rows = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=mark))
            numbers.update(map(len, islice(rows, _LINES_TRIED)))
        n_fields, n_rows = numbers.most_common(1)[0] if numbers else (1, 0)
        splits[mark] = (n_rows / numbers.total(), n_fields) if n_fields > 1 else (0.0, 0)
    most = max(splits.values())
    best = [mark for mark in _CALLED if splits[mark] == most]
    if most[1] and len(best) > 1:
        raise InputError(
            f"{' and '.join(_CALLED[mark] for mark in best)} split the rows alike: begin the file with a line that "
            f"says what separates the cells, {' or '.join(f'sep={mark}' for mark in best)}"
        )
    return best[0]


def _lines(text: str, delimiter: str, n_before: int) -> Iterator[_Line]:
    """Yield every row that is not blank; InputError where it cannot be split further."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = n_before
    try:
        for number, row in enumerate(reader, start=1):
            first, line = line + 1, reader.line_num + n_before
            if row:
                yield _Line(number, first, line > first, row)
    except csv.Error as error:
        raise InputError(f"line {line + 1} cannot be read ({error}): look for a quote that is not closed") from None


def _add(
    rows: SheetRows, lines: Iterable[_Line], width: int, delimiter: str, options: SheetOptions
) -> tuple[list[str], dict[int, _Line]]:
    """Add the rows below the header; return remarks on them, and the rows at the end with fewer fields, by number.

    These may be notes, which programs do not fill up with delimiters. InputError lists the other rows that may be
    subjects and have not as many fields as the header.
    """
    places = Places()
    short: list[_Line] = []
    misfits: list[_Line] = []
    for line in lines:
        fields = line.fields
        if not options.may_be_subject(line.number):
            rows.n_outside += not all(map(is_blank, fields))
        elif len(fields) < width and options.rows is None:
            short.append(line)
        elif len(fields) != width or short:  # short ones between subjects are no notes
            misfits += [*short, *[line] * (len(fields) != width)]
            short = []
        if len(fields) != width or not options.may_be_subject(line.number):
            continue
        if line.is_long:
            inner = [part for text in fields for part in text.splitlines()[1:-1]]
            if any(part.count(delimiter) == width - 1 > 0 for part in inner):
                places.add(_SWALLOWING, f"line {line.first}")
        if width > 1 and not any(map(str.strip, fields)):
            places.add(_NO_VALUE, f"line {line.first}")
        else:
            rows.add(line.number, fields)
    if misfits:
        raise _misfits([*misfits, *short], width, delimiter)
    rows.filled_up.update(line.number for line in short)
    for line in short:
        rows.add(line.number, line.fields + [""] * (width - len(line.fields)))
    return places.sentences(), {line.number: line for line in short}


def _misfits(lines: Sequence[_Line], width: int, delimiter: str) -> InputError:
    shown = (f"line {line.first} has {len(line.fields)} field{'s' * (len(line.fields) != 1)}" for line in lines)
    return InputError(
        f"{listed(shown)}, the header has {width}: look for a {delimiter!r} too many or too few, for a text that "
        "needs quotes, for a title above the header (header_row=N, or 0 if there is no header), or for another "
        "table (rows=FIRST-LAST says which rows are the subjects)"
    )


# Read the table of a file of any kind without interpreting it.

_WORKBOOKS = ("xlsx", "xls", "xlsb", "ods")


def read_table(path: Path, options: SheetOptions, sheet: str | None = None, encoding: str | None = None) -> TableRead:
    """Return the table of a file, with a name for each column; see `clinclust.read_cohort`."""
    source, remarks = unpacked(path)
    kind, of_kind = kind_of(source)
    stated = (
        ("sheet", sheet, _WORKBOOKS, "a workbook"),
        ("encoding", encoding, ("text", *STATISTICAL), "a text file"),
        ("header_row", options.header_row, ("text", *_WORKBOOKS), "a text file or a workbook"),
        ("rows", options.rows and options.rows.text, ("text", *_WORKBOOKS), "a text file or a workbook"),
        ("decimal", options.decimal, ("text", *_WORKBOOKS), "a text file or a workbook"),
    )
    refuse(
        [
            f"{name}={quoted(value)} makes sense for {what} only"
            for name, value, kinds, what in stated
            if value is not None and kind not in kinds
        ]
    )
    if kind == "text":
        read = read_delimited(source, encoding, options)
    elif kind == "parquet":
        read = read_parquet(source)
    elif kind in STATISTICAL:
        read = read_statistical(source, kind, encoding)
    elif kind == "xlsx":
        read = read_xlsx(source, sheet, options)
    elif kind == "xls":
        read = read_xls(source, sheet, options)
    else:
        read = read_ods_or_xlsb(source, kind, sheet, options)
    read = name_columns(read)
    refuse_many_columns(read.frame.shape[1], options.most_columns)
    return replace(read, remarks=[*remarks, *of_kind, *read.remarks])


def warn_of_file(path: Path, remarks: Sequence[str], stacklevel: int) -> None:
    """Warn of each remark on a file; `stacklevel` as in `warnings.warn`, seen from the caller."""
    for remark in remarks:
        warnings.warn(limited(f"{shown_name(path)}: {remark}"), CohortWarning, stacklevel=stacklevel + 1)
