"""One column of a table in one pass: its distinct texts, how many cells hold each, and what is proposed for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.files.cell_text import numbers_of, shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.schema.reading import text_cells


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


LOOK = "LOOK: "  # begins the lines of a comment that a person should decide
DOUBTFUL = 0.8  # the probability below which the next best kind is offered


@dataclass(frozen=True)
class Proposal:
    """The fields of a drafted feature, and the reason for them."""

    fields: dict[str, Any] = field(default_factory=dict)  # of `Feature`, without its name
    reason: str = ""
    probability: float = 1.0  # of the kind, given the values and what other tables hold
    otherwise: str = ""  # the line of schema for the next best kind, if there is one
    looks: tuple[str, ...] = ()  # what a person should decide, each as a sentence without a full stop

    @property
    def is_doubtful(self) -> bool:
        """Whether another kind is nearly as probable."""
        return self.probability < DOUBTFUL and bool(self.otherwise)

    def comment(self) -> str:
        """Return the comment above the feature: the reason, then what a person should decide, a line each."""
        lines = [joined(self.reason, f"probability {self.probability:.2f}" if self.is_doubtful else "")]
        lines += [f"{LOOK}otherwise {self.otherwise}"] if self.is_doubtful else []
        return "\n".join([*lines, *(f"{LOOK}{look}" for look in self.looks)])

    def extended(self, *looks: str, reason: str = "", **fields: Any) -> Proposal:
        """Return the proposal with more to decide, a further reason, and other fields."""
        return replace(
            self,
            fields={**self.fields, **fields},
            reason=joined(self.reason, reason),
            looks=(*self.looks, *(look for look in looks if look)),
        )


@dataclass(frozen=True)
class Look:
    """Something that fits a schema, but may make subtypes that are none."""

    columns: tuple[str, ...]  # in the order of the table; empty if it concerns the whole table
    what: str  # what was seen, as a sentence without a full stop
    repair: str  # what to write in the schema, or which option to give; empty if `what` says it


def joined(*parts: str) -> str:
    """Return the parts that are not empty, with semicolons between them."""
    return "; ".join(part for part in parts if part)


def with_codes(fields: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return fields with those of `more` that they lack, and with the missing codes of both."""
    codes = dict.fromkeys([*more.get("missing_codes", ()), *fields.get("missing_codes", ())])
    return {**more, **fields, **({"missing_codes": list(codes)} if codes else {})}


def constant(column: Column) -> Proposal:
    """Return the proposal for a column of at most one value; if other cells are empty, it may be a mark for yes."""
    if not column.texts:
        return Proposal({"role": "ignore"}, "no observed value")
    value, share = shortened(column.texts[0]), column.n_observed / column.codes.size
    if share < 1.0:
        look = f"{value!r} is in {share:.0%} of the cells, and the others are empty: if that means no, write no there"
        return Proposal({"role": "ignore"}, "one value, or none", looks=(look,))
    return Proposal({"role": "ignore"}, f"the same value in every subject observed: {value!r}")
