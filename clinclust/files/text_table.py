"""Build a table of text from rows as they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from clinclust.files.column_notes import ColumnNotes

__all__ = ["TableRead", "TextTable"]

_TEXT = pd.StringDtype(na_value=np.nan)
_CELLS_AT_ONCE = 2_500_000  # Python strings need much memory, so rows are converted to a compact table in portions


@dataclass(frozen=True)
class TableRead:
    """A table as it was read.

    Attributes
    ----------
    frame : pandas.DataFrame
        Names of columns may repeat, or be empty: whoever chooses columns decides what becomes of these.
    remarks : list of str
        What its reader must know: each a sentence without the file's name.
    notes : list of ColumnNotes
        What the file says of each column; empty if it says nothing of any.
    places, unread : list of int
        The number of each column in the file, from 1; empty if they are 1, 2, 3 and so on. The numbers of columns
        without a name whose values were not kept.
    n_outside : int
        How many rows below the header hold something, but are not among those that somebody said to be the subjects.
    """

    frame: pd.DataFrame
    remarks: list[str] = field(default_factory=list)
    notes: list[ColumnNotes] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    n_outside: int = 0


class TextTable:
    """The rows of a table below its header, as text: every row that is added has `width` texts."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._rows: list[list[str]] = []
        self._numbers: list[int] = []
        self._portions: list[pd.DataFrame] = []
        self._rows_at_once = max(1, _CELLS_AT_ONCE // max(1, width))

    def add(self, number: int, texts: list[str]) -> None:
        """Add a row with its number in a spreadsheet, whose first row has number 1."""
        self._rows.append(texts)
        self._numbers.append(number)
        if len(self._rows) == self._rows_at_once:
            self._portions.append(self._converted(self._rows))
            self._rows = []

    def _converted(self, rows: Sequence[list[str]]) -> pd.DataFrame:
        cells = np.empty((len(rows), self._width), dtype=object)
        for place, texts in enumerate(rows):
            cells[place] = texts
        return pd.DataFrame(cells, dtype=_TEXT)

    def frame(self, above: Sequence[tuple[int, list[str]]] = ()) -> pd.DataFrame:
        """Return the table, with rows above those that were added; the labels of its index plus 2 are row numbers."""
        portions = [self._converted([texts for _, texts in above])] if above else []
        portions += self._portions
        if self._rows or not portions:
            portions.append(self._converted(self._rows))
        frame = portions[0] if len(portions) == 1 else pd.concat(portions, ignore_index=True)
        labels = np.array([number for number, _ in above] + self._numbers, dtype=np.int64) - 2
        if not np.array_equal(labels, np.arange(len(frame))):
            frame.index = pd.Index(labels)
        return frame
