"""Collect the rows of a sheet before it is known which of them is the header."""

from __future__ import annotations

import pandas as pd

from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.text_table import TextTable

__all__ = ["LOOKED_AT", "Row", "SheetRows", "is_blank"]

Row = tuple[int, list[str]]
"""The number of a row in a spreadsheet, and its texts from the first column on."""

LOOKED_AT = 60
"""How many rows are looked at to find the header; a header that is asked for may stand below them."""


def is_blank(text: str) -> bool:
    """Return whether a cell holds nothing that can be seen."""
    return not text or text.isspace()


class SheetRows:
    """The rows of a sheet: the first as they are, the others in a compact table.

    Parameters
    ----------
    n_first : int
        How many rows are kept as they are.
    subjects : RowRanges, optional
        The rows of the subjects, if somebody said it: below the first rows no others are kept.

    Attributes
    ----------
    n_first : int
        How many rows are kept as they are.
    first : list of Row
        The first rows that hold anything.
    beyond : set of int
        Numbers, from 1, of columns that hold a value below the first rows, and none in them.
    n_outside : int
        How many rows hold something and were not kept, because they are none of the subjects.
    """

    def __init__(self, n_first: int = LOOKED_AT, subjects: RowRanges | None = None) -> None:
        self.n_first, self._subjects = n_first, subjects
        self.first: list[Row] = []
        self.beyond: set[int] = set()
        self.n_outside = 0
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
        chosen, wanted = texts, self._columns
        if len(texts) != len(wanted) or wanted[-1] != len(wanted):
            chosen = self._chosen(texts)
        for text in chosen:
            if text and not text.isspace():
                self._rest.add(number, chosen)
                return

    def _chosen(self, texts: list[str]) -> list[str]:
        """Return the texts in the columns that the first rows have; what stands in others is recorded."""
        known = set(self._columns)
        self.beyond.update(at for at, text in enumerate(texts, 1) if at not in known and not is_blank(text))
        return [texts[at - 1] if at <= len(texts) else "" for at in self._columns]

    def body(self, last: int) -> pd.DataFrame:
        """Return the rows below that of the number `last`, one of the first rows or 0; the columns are `columns`.

        The label of a row plus 2 is its number in a spreadsheet.
        """
        columns = self.columns
        table = self._rest or TextTable(len(columns))
        above = [
            (number, [texts[at - 1] if at <= len(texts) else "" for at in columns])
            for number, texts in self.first
            if number > last
        ]
        return table.frame(above)
