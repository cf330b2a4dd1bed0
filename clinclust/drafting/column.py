"""One pass over the cells of a column: its distinct texts, how many cells hold each, and which."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.cell_text import numbers_of
from clinclust.files.column_notes import ColumnNotes
from clinclust.schema.reading import text_cells

__all__ = ["Column", "column_of"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column of a table as its distinct texts. Cells without a value or text are not among them."""

    name: str
    codes: NDArray[np.int64]  # (N,) the index of the text of each row; -1 where the cell is empty
    texts: tuple[str, ...]  # distinct, without outer white space, sorted
    counts: NDArray[np.int64]  # (len(texts),) the number of cells that hold each text
    notes: ColumnNotes = field(default_factory=ColumnNotes)
    is_time: bool = False  # whether the cells are dates or times by their type
    order: tuple[str, ...] = ()  # all levels from low to high of an ordered categorical of pandas

    @property
    def n_observed(self) -> int:
        """The number of cells that hold a text."""
        return int(self.counts.sum())

    @cached_property
    def numbers(self) -> Array:
        """The number that each text writes without units or marks, float64 (len(texts),); NaN for other texts."""
        return numbers_of(list(self.texts))

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """The first row of each text, int64 (len(texts),)."""
        codes, rows = np.unique(self.codes, return_index=True)
        return rows[codes >= 0].astype(np.int64)

    def without(self, texts: frozenset[str] | set[str]) -> Column:
        """Return the column with the cells that hold one of some texts empty."""
        kept = np.array([text not in texts for text in self.texts], dtype=bool)
        if kept.all():
            return self
        place = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        left = tuple(text for text, is_kept in zip(self.texts, kept, strict=True) if is_kept)
        return replace(self, codes=place[self.codes], texts=left, counts=self.counts[kept])

    def in_rows(self, of_text: Array) -> Array:
        """Return the number of each row, float64 (N,), given that of each text; NaN where the cell is empty."""
        return np.append(of_text, np.nan)[self.codes]


def column_of(name: str, cells: pd.Series, notes: ColumnNotes) -> Column:
    """Return cells of any type as a column."""
    found = text_cells(cells)
    texts = sorted({text for text in found.texts if text})
    place = {text: index for index, text in enumerate(texts)}
    of_cell = np.array([*(place.get(text, -1) for text in found.texts), -1], dtype=np.int64)
    codes = of_cell[found.codes]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    used = counts > 0
    if not used.all():  # levels of a categorical that no row has
        codes = np.append(np.where(used, np.cumsum(used) - 1, -1), -1)[codes]
        texts, counts = [text for text, is_used in zip(texts, used, strict=True) if is_used], counts[used]
    dtype = cells.dtype
    is_time = pd.api.types.is_datetime64_any_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    is_ordered = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    order = tuple(dict.fromkeys(text for text in found.texts if text)) if is_ordered else ()
    return Column(name, codes, tuple(texts), counts.astype(np.int64), notes, is_time, order)
