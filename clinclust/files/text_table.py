"""Build a table of text from rows as they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from clinclust.files.column_notes import ColumnNotes

__all__ = ["TEXT", "TableRead", "TextTable"]

TEXT = pd.StringDtype(na_value=np.nan)
"""The type of a column of text."""
_CELLS_AT_ONCE = 2_500_000  # Python strings need much memory, so rows are converted to a compact table in portions


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
