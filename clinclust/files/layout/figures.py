"""Whether the numbers in a row are figures of the rows above it: sums, means, counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.cell_text import numbers_of
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.words_of_totals import Figure
from clinclust.files.layout.written_numbers import number_with

__all__ = ["Figures"]

_FEWEST_NUMBERS = 2


class Figures:
    """The numbers of a table, to compare a cell with those above it.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows below the header, as text.
    decimal : str or None
        The decimal mark that somebody said.
    """

    def __init__(self, frame: pd.DataFrame, decimal: str | None) -> None:
        self._frame, self._decimal = frame, decimal
        self._columns: dict[int, tuple[NDArray[np.float64], NDArray[np.bool_]]] = {}

    def is_sum_or_mean(self, text: str, place: int, above: NDArray[np.bool_]) -> bool:
        """Return whether a cell is the sum or the mean of the column above it, and no value that a subject has.

        Parameters
        ----------
        text : str
        place : int
            The column, from 0.
        above : bool ndarray, shape (n,)
            The rows that it may be a figure of.
        """
        value, numbers, decimals, _ = self._compared(text, place, above)
        return numbers.size > 1 and value not in numbers and _near(value, (numbers.sum(), numbers.mean()), decimals)

    def agree(self, texts: dict[int, str], figures: Sequence[Figure], above: NDArray[np.bool_], most: bool) -> bool:
        """Return whether the numbers among some cells are these figures of the columns above them.

        Parameters
        ----------
        texts : dict of int to str
            The cells, by their columns from 0.
        figures : sequence of {"sum", "mean", "median", "deviation", "count", "minimum", "maximum"}
        above : bool ndarray, shape (n,)
        most : bool
            Whether more than half of the numbers suffice, as where totals were not all computed again.
        """
        numeric = {place: text for place, text in texts.items() if np.isfinite(self.number(text))}
        agreeing = sum(self._is_figure(text, place, figures, above) for place, text in numeric.items())
        return agreeing > 0 and (agreeing == len(numeric) or (most and 2 * agreeing > len(numeric)))

    def _is_figure(self, text: str, place: int, figures: Sequence[Figure], above: NDArray[np.bool_]) -> bool:
        value, numbers, decimals, n_filled = self._compared(text, place, above)
        n_rows = int(above.sum())
        if numbers.size < _FEWEST_NUMBERS:
            return bool(figures) and value in (n_filled, n_rows)
        known: dict[Figure, tuple[float, ...]] = {
            "sum": (numbers.sum(),),
            "mean": (numbers.mean(),),
            "median": (float(np.median(numbers)),),
            "deviation": (numbers.std(ddof=1), numbers.std()),
            "count": (numbers.size, n_filled, n_rows),
            "minimum": (numbers.min(),),
            "maximum": (numbers.max(),),
        }
        return _near(value, [number for figure in figures for number in known[figure]], decimals)

    def number(self, text: str) -> float:
        """Return the number in a cell, or NaN."""
        return float(numbers_of([self._plain(text)])[0])

    def _compared(self, text: str, place: int, above: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64], int, int]:
        """Return the number in a cell, the numbers above it, its decimals, and how many cells above it are filled."""
        if place not in self._columns:
            cells = self._frame.iloc[:, place].tolist()
            filled = np.array([not is_blank(cell) for cell in cells], dtype=bool)
            self._columns[place] = numbers_of([self._plain(cell, percent=False) for cell in cells]), filled
        numbers, filled = self._columns[place]
        chosen = numbers[above]
        decimals = len(self._plain(text).partition(".")[2])
        return self.number(text), chosen[np.isfinite(chosen)], decimals, int(filled[above].sum())

    def _plain(self, text: str, percent: bool = True) -> str:
        text = text.strip()
        mark = "," if self._decimal != "." and "," in text else None
        plain = number_with(text, mark)
        return plain.removesuffix("%").strip() if percent else plain


def _near(value: float, figures: Sequence[float], decimals: int) -> bool:
    """Return whether one of the figures, rounded to these decimals, is the value."""
    return any(abs(float(figure) - value) <= 0.5000001 * 10.0**-decimals for figure in figures)
