"""Read a table of text whose cells are separated by a delimiter."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

from clinclust.errors import InputError
from clinclust.files.chosen_columns import refuse_many_columns
from clinclust.files.delimited_lines import DelimitedLines, Line
from clinclust.files.encodings import decoded
from clinclust.files.layout.doubts import UncertainRowsError
from clinclust.files.layout.header import find_header
from clinclust.files.layout.sheet_rows import Row, SheetRows, is_blank
from clinclust.files.layout.sheet_table import SheetOptions, sheet_table
from clinclust.files.listed import quoted
from clinclust.files.packed import Source
from clinclust.files.text_table import TableRead

__all__ = ["read_delimited"]

_SAID = re.compile(r"sep=([^\w\r\n\"])\r?[\r\n]", re.IGNORECASE)  # the first line as Excel writes and reads it
_LAST = 100  # single texts stand below the last subject
_COMMA_IS_USUAL = (".csv", "")
_LINES_TRIED = 50
_CALLED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def read_delimited(source: Source, encoding: str | None, options: SheetOptions) -> TableRead:
    """Read a delimited text file; see `clinclust.read_cohort`."""
    text, remarks = decoded(source.read(), encoding)
    said = _SAID.match(text)
    usual = "," if source.suffix in _COMMA_IS_USUAL else "\t"
    delimiter, told = (said[1], []) if said else _delimiter_of(text, usual, source.suffix)
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


class _Split(NamedTuple):
    """How a delimiter splits the first rows: whether most, which share alike, into how many fields, and the header."""

    divides: bool
    share: float
    fields: int
    header: int


def _delimiter_of(text: str, usual: str, suffix: str) -> tuple[str, list[str]]:
    """Return the delimiter that splits most rows alike, and a remark if it is unusual.

    Among several, the one that splits rows into most fields is taken; in a tie the usual one of the kind of file. If
    the comma and the semicolon split all rows alike, into equally many cells, an InputError is raised.
    """
    splits = {mark: _split(text, mark) for mark in sorted(_CALLED, key=lambda mark: mark != usual)}
    dividing = {mark: split for mark, split in splits.items() if max(split.fields, split.header) > 1}
    best = max(dividing, key=lambda mark: dividing[mark], default=usual)
    if dividing and splits[","] == splits[";"] == splits[best] and splits[best].share == 1:
        raise InputError(
            "the comma and the semicolon both split all rows alike: begin the file with a line that says which of "
            "them separates the cells, sep=, or sep=;"
        )
    is_unusual = best == "|" or (suffix in (".tsv", ".tab") and best != "\t")
    told = f"the cells are separated by {_CALLED[best]}, unusual for {suffix or 'such a file'}: read so"
    return best, [told] if is_unusual else []


def _split(text: str, delimiter: str) -> _Split:
    rows = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    numbers: list[int] = []
    with suppress(csv.Error):
        numbers.extend(map(len, islice(rows, _LINES_TRIED)))
    if not numbers:
        return _Split(False, 0.0, 0, 0)
    fields, count = Counter(numbers).most_common(1)[0]
    return _Split(fields > 1, count / len(numbers), fields, numbers[0])
