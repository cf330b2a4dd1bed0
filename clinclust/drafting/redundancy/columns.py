"""The columns that are compared: their scores in a sample of the subjects, and in all of them on demand."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["Columns", "in_all"]

Array = NDArray[np.float64]

_SAMPLED = 4000  # rank correlations are then known to .03, and pairs of 500 columns are screened in seconds
_SEED = 0
_KEPT = 64  # whole columns in memory at a time


class Columns:
    """The features of a validated table with role cluster or describe, as scores (NaN = missing).

    Searches run on a sample of the subjects, drawn with a fixed seed. What is claimed of "all subjects" is then looked
    at in all of them, through `whole`.

    Parameters
    ----------
    frame : pandas.DataFrame, shape (N, D)
        A validated table.
    schema : FeatureSchema
        The schema that validated it.
    """

    def __init__(self, frame: pd.DataFrame, schema: FeatureSchema) -> None:
        self.features = [f for f in schema if f.role in ("cluster", "describe") and f.name in frame.columns]
        self.names = [feature.name for feature in self.features]
        n = len(frame)
        rows = np.sort(np.random.default_rng(_SEED).permutation(n)[:_SAMPLED])
        sampled = frame if n <= _SAMPLED else frame.iloc[rows]
        scores = [feature.scores(sampled[feature.name]) for feature in self.features]
        self.sample: Array = np.column_stack(scores) if scores else np.zeros((len(sampled), 0))
        self.n_subjects = n
        self.nominal = np.array([feature.traits.is_nominal for feature in self.features], dtype=bool)
        self.n_levels = np.array(
            [np.unique(column[~np.isnan(column)]).size for column in self.sample.T], dtype=np.int64
        )
        self._is_sample = n > _SAMPLED

        def whole(index: int) -> Array:
            return self.features[index].scores(frame[self.features[index].name])

        self._whole = lru_cache(_KEPT)(whole)

    def __len__(self) -> int:
        return len(self.features)

    def whole(self, index: int) -> Array:
        """Return the scores of all subjects in one column, float64 (N,)."""
        return self._whole(index) if self._is_sample else self.sample[:, index]

    def ordered(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of the columns whose values have an order: two values always have one."""
        return np.asarray(indices[~self.nominal[indices] | (self.n_levels[indices] == 2)], dtype=np.int64)

    def with_apart(self, indices: NDArray[np.int64], fewest: int) -> NDArray[np.int64]:
        """Return those of the columns in which so many subjects of the sample have another than the commonest value."""
        counts = [np.unique(column[~np.isnan(column)], return_counts=True)[1] for column in self.sample[:, indices].T]
        return indices[[bool(count.size) and int(count.sum() - count.max()) >= fewest for count in counts]]

    def varying(self) -> NDArray[np.int64]:
        """Return the columns with at least two different values, in the order of the table."""
        return np.flatnonzero(self.n_levels >= 2)


def in_all(n: int, columns: Columns) -> str:
    """Return in words that something holds in all n subjects in whom it can be seen."""
    return f"in all {n:,} subjects" if n == columns.n_subjects else f"in all {n:,} subjects who have these values"
