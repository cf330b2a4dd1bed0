"""One column of a table as it is seen before it is drafted: its distinct texts and how often each occurs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.cell_text import numbers_of
from clinclust.files.column_notes import ColumnNotes
from clinclust.schema.reading import text_cells

__all__ = ["ObservedColumn", "observed"]


@dataclass(frozen=True)
class ObservedColumn:
    """The cells of a column that are not empty.

    Attributes
    ----------
    name : str
    n_rows : int
        The number of rows of the table.
    texts : list of str
        The distinct texts, without outer white space, in one order for any order of the rows.
    counts : int64 ndarray, shape (len(texts),)
        The number of cells that hold each text.
    notes : ColumnNotes
        What the file says of the column.
    first : list of int, len(texts)
        The place of the first row that holds each text.
    labels : pandas.Index, len(n_rows)
        The labels of the rows.
    is_time : bool
        Whether the cells are dates or times by their type.
    has_decimal_commas : bool
        Whether other columns of the table have decimal commas.
    is_ticked : bool
        Whether it is one of several columns side by side that hold one mark alone (`ticks.py`).
    order : tuple of str
        All levels from low to high, if the column is an ordered categorical of pandas; otherwise empty.
    """

    name: str
    n_rows: int
    texts: list[str]
    counts: NDArray[np.int64]
    notes: ColumnNotes
    first: list[int]
    labels: pd.Index
    is_time: bool = False
    has_decimal_commas: bool = False
    is_ticked: bool = False
    order: tuple[str, ...] = ()

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The number that each text writes, float64 (len(texts),); NaN for other texts."""
        return numbers_of(self.texts)

    @property
    def n_observed(self) -> int:
        """The number of cells that are not empty."""
        return int(self.counts.sum())

    def without(self, codes: list[str]) -> ObservedColumn:
        """Return the column without the cells that hold one of these texts."""
        kept = [place for place, text in enumerate(self.texts) if text not in set(codes)]
        texts, first = [self.texts[place] for place in kept], [self.first[place] for place in kept]
        return replace(self, texts=texts, counts=self.counts[kept], first=first)

    def merged(self, meaning: dict[str, str]) -> ObservedColumn:
        """Return the column with each text of `meaning` replaced by what it means."""
        counted: dict[str, int] = {}
        first: dict[str, int] = {}
        for text, count, place in zip(self.texts, self.counts.tolist(), self.first, strict=True):
            meant = meaning.get(text, text)
            counted[meant] = counted.get(meant, 0) + count
            first[meant] = min(place, first.get(meant, place))
        counts = np.array(list(counted.values()), dtype=np.int64)
        return replace(self, texts=list(counted), counts=counts, first=list(first.values()))


def observed(name: str, column: pd.Series, notes: ColumnNotes) -> ObservedColumn:
    """Return a column as its distinct texts, without empty cells."""
    cells = text_cells(column)
    per_text = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.texts))
    places = np.full(len(cells.texts) + 1, -1)
    places[cells.codes[::-1]] = np.arange(len(column))[::-1]  # the first row of each text is written last
    counted: dict[str, int] = {}
    first: dict[str, int] = {}
    for text, count, place in zip(cells.texts, per_text.tolist(), places[:-1].tolist(), strict=True):
        if text and count:  # cells that differ only in outer white space are one text
            counted[text] = counted.get(text, 0) + count
            first[text] = min(place, first.get(text, place))
    counted = dict(sorted(counted.items()))
    counts = np.array(list(counted.values()), dtype=np.int64)
    is_time = pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype)
    is_ordered = isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
    order = tuple(dict.fromkeys(text for text in cells.texts if text)) if is_ordered else ()
    places_of_texts = [first[text] for text in counted]
    return ObservedColumn(
        name, len(column), list(counted), counts, notes, places_of_texts, column.index, is_time, order=order
    )
