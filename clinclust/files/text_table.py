"""Build a table of text from rows as they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from clinclust.errors import InputError
from clinclust.files.listed import listed

__all__ = ["TableRead", "TextTable", "refuse_unnamed"]

_TEXT = pd.StringDtype(na_value=np.nan)
_CELLS_AT_ONCE = 2_500_000  # Python strings need much memory, so rows are converted to a compact table in portions


@dataclass(frozen=True)
class TableRead:
    """A table as it was read, and remarks of which its reader must know: each a sentence without the file's name."""

    frame: pd.DataFrame
    remarks: list[str] = field(default_factory=list)


class TextTable:
    """The rows of a table below its header, as text.

    Parameters
    ----------
    header : sequence of str
        The names of the columns. Every row that is added has as many texts.
    """

    def __init__(self, header: Sequence[str]) -> None:
        self._header = list(header)
        self._rows: list[list[str]] = []
        self._numbers: list[int] = []
        self._portions: list[pd.DataFrame] = []
        self._rows_at_once = max(1, _CELLS_AT_ONCE // max(1, len(self._header)))

    def add(self, number: int, texts: list[str]) -> None:
        """Add a row with its number in a spreadsheet, in which the header has number 1."""
        self._rows.append(texts)
        self._numbers.append(number)
        if len(self._rows) == self._rows_at_once:
            self._convert()

    def _convert(self) -> None:
        cells = np.empty((len(self._rows), len(self._header)), dtype=object)
        for place, texts in enumerate(self._rows):
            cells[place] = texts
        self._portions.append(pd.DataFrame(cells, dtype=_TEXT))
        self._rows = []

    def frame(self) -> pd.DataFrame:
        """Return the table, with an index whose labels plus 2 are the row numbers in a spreadsheet."""
        if self._rows or not self._portions:
            self._convert()
        frame = self._portions[0] if len(self._portions) == 1 else pd.concat(self._portions, ignore_index=True)
        frame.columns = pd.Index(self._header)
        labels = np.array(self._numbers, dtype=np.int64) - 2
        if not np.array_equal(labels, np.arange(len(frame))):
            frame.index = pd.Index(labels)
        return frame


def refuse_unnamed(columns: Sequence[int], count: int) -> None:
    """Raise InputError if there are columns (numbers from 1, of `count`) that hold values but have no name."""
    if columns:
        raise InputError(
            f"the header has no name for column {listed(columns)} of {count}: write a name for every column into the "
            "first row, with nothing above it"
        )
