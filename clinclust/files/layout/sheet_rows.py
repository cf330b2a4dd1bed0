"""Collect the rows of a sheet before it is known which of them is the header."""

from __future__ import annotations

import pandas as pd

from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.text_table import TextTable

__all__ = ["LOOKED_AT", "Row", "SheetRows", "cell", "is_blank"]

Row = tuple[int, list[str]]
"""The number of a row in a spreadsheet, and its texts from the first column on."""

LOOKED_AT = 60
"""How many rows are looked at to find the header; a header that is asked for may stand below them."""


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
