"""The rows of a table as they are read, before and after it is known which of them is the header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pandas as pd

from clinclust.files.column_notes import ColumnNotes
from clinclust.files.layout.subject_rows import RowRanges

__all__ = [
    "LOOKED_AT",
    "TEXT",
    "Row",
    "SheetRows",
    "TableRead",
    "TextTable",
    "cell",
    "column_of",
    "is_blank",
    "letters_of",
]

TEXT = pd.StringDtype(na_value=np.nan)
"""The type of a column of text."""
_CELLS_AT_ONCE = 2_500_000  # Python strings need much memory, so rows are converted to a compact table in portions
Row = tuple[int, list[str]]
"""The number of a row in a spreadsheet, and its texts from the first column on."""
LOOKED_AT = 60
"""How many rows are looked at to find the header; a header that is asked for may stand below them."""


@dataclass(frozen=True)
class TableRead:
    """A table as it was read. Names of its columns may repeat, or be empty."""

    frame: pd.DataFrame
    remarks: list[str] = field(default_factory=list)
    """What its reader must know: each a sentence without the file's name."""
    notes: list[ColumnNotes] = field(default_factory=list)
    """What the file says of each column; empty if it says nothing of any."""
    places: list[int] = field(default_factory=list)
    """The number of each column in the file, from 1; empty if they are 1, 2, 3 and so on."""
    unread: list[int] = field(default_factory=list)
    """The numbers of columns without a name whose values were not kept."""
    n_outside: int = 0
    """How many rows below the header hold something, but are none of those that somebody said to be the subjects."""


class TextTable:
    """The rows of a table below its header, as text: every row that is added has `width` texts."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._rows: list[list[str]] = []
        self._numbers: list[int] = []
        self._portions: list[pd.DataFrame] = []

    def add(self, number: int, texts: list[str]) -> None:
        """Add a row with its number in a spreadsheet, whose first row has number 1."""
        self._rows.append(texts)
        self._numbers.append(number)
        if len(self._rows) * self._width >= _CELLS_AT_ONCE:
            self._portions.append(self._converted(self._rows))
            self._rows = []

    def _converted(self, rows: Sequence[list[str]]) -> pd.DataFrame:
        cells = np.empty((len(rows), self._width), dtype=object)
        for place, texts in enumerate(rows):
            cells[place] = texts
        return pd.DataFrame(cells, dtype=TEXT)

    def frame(self, above: Sequence[tuple[int, list[str]]] = ()) -> pd.DataFrame:
        """Return the table, with rows above those that were added; the labels of its index plus 2 are row numbers."""
        portions = [self._converted([texts for _, texts in above]), *self._portions, self._converted(self._rows)]
        frame = pd.concat([portion for portion in portions if len(portion)] or portions[:1], ignore_index=True)
        labels = np.array([number for number, _ in above] + self._numbers, dtype=np.int64) - 2
        if not np.array_equal(labels, np.arange(len(frame))):
            frame.index = pd.Index(labels)
        return frame


def is_blank(text: str) -> bool:
    """Return whether a cell holds nothing that can be seen."""
    return not text or text.isspace()


def cell(row: Row, place: int) -> str:
    """Return the text of a row in the column of a number, from 1."""
    return row[1][place - 1] if place <= len(row[1]) else ""


class SheetRows:
    """The rows of a sheet: the first that hold anything as they are, the others in a compact table.

    If somebody said which rows are `subjects`, no others are kept below the first.
    """

    def __init__(self, n_first: int = LOOKED_AT, subjects: RowRanges | None = None) -> None:
        self.n_first, self._subjects = n_first, subjects
        self.first: list[Row] = []
        self.beyond: set[int] = set()  # columns, from 1, that hold a value below the first rows alone
        self.n_outside = 0  # rows that hold something, but are none of the subjects
        self._columns: list[int] = []
        self._rest: TextTable | None = None

    @property
    def columns(self) -> list[int]:
        """Numbers, from 1, of the columns that hold anything in the first rows."""
        if self._rest is not None:
            return self._columns
        return sorted({at for _, texts in self.first for at, text in enumerate(texts, 1) if not is_blank(text)})

    def add(self, number: int, texts: list[str]) -> None:
        """Add a row; one without anything to be seen is not kept."""
        if self._rest is None:
            if len(self.first) < self.n_first:
                if not all(map(is_blank, texts)):
                    self.first.append((number, texts))
                return
            self._columns = self.columns
            self._rest = TextTable(len(self._columns))
        if self._subjects is not None and number not in self._subjects:
            self.n_outside += not all(map(is_blank, texts))
            return
        if len(texts) != len(self._columns) or self._columns[-1] != len(self._columns):
            known = set(self._columns)
            self.beyond.update(at for at, text in enumerate(texts, 1) if at not in known and not is_blank(text))
            texts = [cell((0, texts), at) for at in self._columns]
        for text in texts:  # faster than all(map(is_blank, texts)), and each row of a large file comes here
            if text and not text.isspace():
                self._rest.add(number, texts)
                return

    def body(self, last: int) -> pd.DataFrame:
        """Return the rows below that of the number `last`, in `columns`; labels plus 2 are numbers in a spreadsheet."""
        columns = self.columns
        table = self._rest or TextTable(len(columns))
        return table.frame([(row[0], [cell(row, at) for at in columns]) for row in self.first if row[0] > last])


def column_of(letters: str) -> int:
    """Return the number of a column, from 1, by its letters."""
    return reduce(lambda number, letter: 26 * number + ord(letter) - ord("A") + 1, letters, 0)


def letters_of(column: int) -> str:
    """Return the name of a column from its number, from 1."""
    before, place = divmod(column - 1, 26)
    return (letters_of(before) if before else "") + chr(ord("A") + place)
