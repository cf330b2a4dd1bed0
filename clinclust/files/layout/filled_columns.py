"""Which columns every subject of a table has filled in, and what kind of cells they hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.written_numbers import share_of_numbers

__all__ = ["FilledColumns", "filled_columns"]

_ROWS_LOOKED_AT = 200
_FEWEST_ROWS = 5
_NEARLY_ALL, _MOST = 0.95, 0.8


@dataclass(frozen=True)
class FilledColumns:
    """Columns, by their places from 0.

    Attributes
    ----------
    always : tuple of int
        Those that nearly all rows have a value in.
    numeric : tuple of int
        Those in which most values are numbers.
    """

    always: tuple[int, ...]
    numeric: tuple[int, ...]


def filled_columns(frame: pd.DataFrame) -> FilledColumns:
    """Return what the rows of a table have in common, from 200 of them; nothing if there are fewer than five."""
    if len(frame) < _FEWEST_ROWS:
        return FilledColumns((), ())
    rows = np.unique(np.linspace(0, len(frame) - 1, min(len(frame), _ROWS_LOOKED_AT), dtype=np.int64))
    sample = frame.iloc[rows]
    always, numeric = [], []
    for place in range(frame.shape[1]):
        filled = [cell for cell in sample.iloc[:, place].tolist() if not is_blank(cell)]
        if len(filled) >= _NEARLY_ALL * len(rows):
            always.append(place)
        if len(filled) >= _FEWEST_ROWS and share_of_numbers(filled) >= _MOST:
            numeric.append(place)
    return FilledColumns(tuple(always), tuple(numeric))
