"""The rows of a table as they are read: which are subjects, in ranges such as ``2-61``, and their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd

from clinclust.errors import InputError
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.listed import listed, quoted

_RANGE = re.compile(r"(\d{1,7})(?:\s*-\s*(\d{0,7}))?")
_LAST = 10**9  # beyond the last row of any file
_LONGEST = 120
_SHOWN = 8


@dataclass(frozen=True)
class RowRanges:
    """Rows by their numbers in a spreadsheet: the first and last of ranges in rising order, and the text of these."""

    text: str
    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def parsed(cls, text: str) -> RowRanges:
        """Return the ranges that a text such as ``2-61, 66-`` means; InputError if it means none."""
        ranges = [(0, 0)]
        for part in text.split(","):
            match = _RANGE.fullmatch(part.strip())
            first = int(match[1]) if match else 0
            last = first if match is None or match[2] is None else int(match[2] or _LAST)
            if not ranges[-1][1] < first <= last:
                raise InputError(
                    f"rows={quoted(text)}: {quoted(part.strip())} is no range of rows; write the first and the last "
                    "row of the subjects as a spreadsheet counts them, such as 2-61; several in rising order such as "
                    "2-61,66-90; the last without an end such as 5-"
                )
            ranges.append((first, last))
        return cls(text.strip(), tuple(ranges[1:]))

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.ranges)

    @property
    def first(self) -> int:
        """The first row of all ranges."""
        return self.ranges[0][0]


def ranges_of(numbers: Iterable[int], between: Iterable[int] = ()) -> str | None:
    """Return the text that means these rows, and none of those `between`; None if it would be too long."""
    kept = set(numbers)
    runs = [list(run) for is_kept, run in groupby(sorted(kept.union(between)), kept.__contains__) if is_kept]
    text = ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return text if 0 < len(text) <= _LONGEST else None


class Finding(NamedTuple):
    """What some rows below the header are instead of subjects; `places` count these rows from 0."""

    what: str
    places: list[int]
    is_certain: bool = True


class Doubt(NamedTuple):
    """What was seen, as a sentence without a full stop, and the rows that are no subjects if the suspicion is right."""

    what: str
    rows: tuple[int, ...] = ()


def rows_named(numbers: Sequence[int]) -> str:
    """Return the words for some rows: ``row 4``, or ``rows 4, 9``, or ``rows 4 to 9``."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"rows {numbers[0]} to {numbers[-1]}"
    return f"row{'s' * (len(numbers) > 1)} {listed(numbers)}"


def refusal(doubts: Sequence[Doubt], numbers: Sequence[int], no_subjects: Sequence[int]) -> InputError:
    """Return the error that lists the doubts, with an option that leaves their rows out, and one that keeps all."""
    lines = ["it is not certain which rows are subjects:", *(f"  - {doubt.what}" for doubt in doubts[:_SHOWN])]
    lines += [f"  - and {len(doubts) - _SHOWN:,} more"] if len(doubts) > _SHOWN else []
    left_out = {row for doubt in doubts for row in doubt.rows}
    if left_out and numbers:
        without = ranges_of([number for number in numbers if number not in left_out], left_out | set(no_subjects))
        every = ranges_of(numbers, no_subjects)
        repair = "say with `rows` which rows are subjects, or delete in the file what is none"
        if without is not None:
            repair = f"if none of these rows is a subject, say rows={without!r}"
        lines.append(f"  {repair}" + ("" if every is None else f"; if all of them are subjects, say rows={every!r}"))
    return InputError("\n".join(lines))


TEXT = pd.StringDtype(na_value=np.nan)
_CELLS_AT_ONCE = 2_500_000  # Python strings need much memory, so rows are converted to a compact table in portions
Row = tuple[int, list[str]]  # the number of a row in a spreadsheet, and its texts from the first column on
LOOKED_AT = 60  # rows, to find the header; one that is asked for may be below them


@dataclass(frozen=True)
class TableRead:
    """A table as it was read. Names of its columns may repeat, or be empty."""

    frame: pd.DataFrame
    remarks: list[str] = field(default_factory=list)  # each a sentence without the name of the file
    notes: list[ColumnNotes] = field(default_factory=list)  # of each column; empty if the file says nothing of any
    places: list[int] = field(default_factory=list)  # of the columns in the file, from 1; empty if 1, 2, 3, ...
    unread: list[int] = field(default_factory=list)  # places of columns without a name whose values were not kept
    n_outside: int = 0  # rows below the header that hold something, but are not among the subjects of the user


def _compact(rows: Sequence[list[str]], width: int) -> pd.DataFrame:
    cells = np.empty((len(rows), width), dtype=object)
    for place, texts in enumerate(rows):
        cells[place] = texts
    return pd.DataFrame(cells, dtype=TEXT)


def is_blank(text: str) -> bool:
    """Return whether a cell holds nothing that can be seen."""
    return not text or text.isspace()


def cell(row: Row, place: int) -> str:
    """Return the text of a row in the column of a number, from 1."""
    return row[1][place - 1] if place <= len(row[1]) else ""


class SheetRows:
    """The rows of a sheet: the first that hold anything as they are, the others in a compact table.

    If the user gave the rows of the `subjects`, no others are kept below the first.
    """

    def __init__(self, n_first: int = LOOKED_AT, subjects: RowRanges | None = None) -> None:
        self.n_first, self._subjects = n_first, subjects
        self.first: list[Row] = []
        self.beyond: set[int] = set()  # columns, from 1, that hold a value below the first rows alone
        self.n_outside = 0  # rows that hold something, but are none of the subjects
        self._columns: list[int] | None = None  # once the first rows are complete
        self._texts: list[list[str]] = []
        self._numbers: list[int] = []
        self._portions: list[pd.DataFrame] = []

    @property
    def columns(self) -> list[int]:
        """Numbers, from 1, of the columns that hold anything in the first rows."""
        if self._columns is not None:
            return self._columns
        return sorted({at for _, texts in self.first for at, text in enumerate(texts, 1) if not is_blank(text)})

    def add(self, number: int, texts: list[str]) -> None:
        """Add a row; a blank one is not kept."""
        if self._columns is None:
            if len(self.first) < self.n_first:
                if not all(map(is_blank, texts)):
                    self.first.append((number, texts))
                return
            self._columns = self.columns
        if self._subjects is not None and number not in self._subjects:
            self.n_outside += not all(map(is_blank, texts))
            return
        if len(texts) != len(self._columns) or self._columns[-1] != len(self._columns):
            known = set(self._columns)
            self.beyond.update(at for at, text in enumerate(texts, 1) if at not in known and not is_blank(text))
            texts = [cell((0, texts), at) for at in self._columns]
        for text in texts:  # faster than all(map(is_blank, texts)), and each row of a large file comes here
            if text and not text.isspace():
                self._texts.append(texts)
                self._numbers.append(number)
                if len(self._texts) * len(self._columns) >= _CELLS_AT_ONCE:
                    self._portions.append(_compact(self._texts, len(self._columns)))
                    self._texts = []
                return

    def body(self, last: int) -> pd.DataFrame:
        """Return the rows below that of the number `last`, in `columns`; labels plus 2 are row numbers."""
        columns = self.columns
        above = [row for row in self.first if row[0] > last]
        first = _compact([[cell(row, at) for at in columns] for row in above], len(columns))
        portions = [first, *self._portions, _compact(self._texts, len(columns))]
        frame = pd.concat([portion for portion in portions if len(portion)] or portions[:1], ignore_index=True)
        labels = np.array([*(number for number, _ in above), *self._numbers], dtype=np.int64) - 2
        if not np.array_equal(labels, np.arange(len(frame))):
            frame.index = pd.Index(labels)
        return frame


def column_of(letters: str) -> int:
    """Return the number of a column, from 1, by its letters."""
    return reduce(lambda number, letter: 26 * number + ord(letter) - ord("A") + 1, letters, 0)


def letters_of(column: int) -> str:
    """Return the letters of a column by its number, from 1."""
    before, place = divmod(column - 1, 26)
    return (letters_of(before) if before else "") + chr(ord("A") + place)
