"""The types of arrays that most modules take and return, and features as columns that can be correlated.

Columns are ranks, or indicators of nominal levels; moments of pairs of columns leave missing values out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Labels = NDArray[np.int64]
"""Mostly clusters 0 .. K - 1."""
Mask = NDArray[np.bool_]
Whole = NDArray[np.int64]
Code = int | str
"""What a subtype is called: its number from 1, or that of its kind with the letter of its grade (2a)."""
RandomState = int | np.random.Generator | np.random.RandomState | None
"""A seed, as scikit-learn takes it; None for one of the operating system."""


class Graded(NamedTuple):
    """Features as columns whose weighted squared correlations add up: ranks, or one indicator per nominal level."""

    columns: Array  # (N, C), NaN = missing
    weights: Array
    """(C,) 1 for ranks, (1 - p) / (L - 1) for a level of frequency p: weighted n r^2 sum to chi-squared / (L - 1)."""
    owners: Whole  # (C,) index of the feature of each column, 0 .. D - 1


def graded(features: Iterable[tuple[Array, bool]], ranks: Callable[[Array], Array]) -> Graded:
    """Return the graded columns of features, each given as its values (N,), NaN = missing, and whether nominal."""
    columns, weights, owners, n_subjects = [], list[float](), list[int](), 0
    for owner, (values, is_unordered) in enumerate(features):
        n_subjects, seen = values.size, ~np.isnan(values)
        if is_unordered:
            levels, counts = np.unique(values[seen], return_counts=True)
            columns += [np.where(seen, values == level, np.nan) for level in levels]
            weights += ((1.0 - counts / seen.sum()) / max(levels.size - 1, 1)).tolist()
        else:
            columns.append(ranks(values))
            weights.append(1.0)
        owners += [owner] * (len(columns) - len(owners))
    table = np.column_stack(columns) if columns else np.zeros((n_subjects, 0))
    return Graded(table, np.array(weights), np.array(owners, dtype=np.int64))


def mid_ranks(values: Array) -> Array:
    """Return the mid-rank of each value in its column, of one (N,) or a table (N, D), from 1; NaN = missing."""
    return np.ascontiguousarray((pd.Series if values.ndim == 1 else pd.DataFrame)(values).rank(), dtype=np.float64)


def whole_ranks(values: Array) -> Array:
    """Return mid-ranks scaled and rounded to whole numbers from -127 to 127; sums of their products are exact."""
    ranks = mid_ranks(values)
    middle = (ranks - 0.5) / max(int((~np.isnan(ranks)).sum()), 1)
    return np.asarray(np.rint((2.0 * middle - 1.0) * 127.0), dtype=np.float64)


def paired_moments(own: Array, other: Array) -> tuple[Array, Array, Array, Array]:
    """Return the number of rows, covariance, variance and other variance of pairs of columns, each (C_own, C_other).

    The columns are those of two tables (N, C), NaN = missing; the rows, at least 1, are those with both values.
    """
    (x, x_seen), (y, y_seen) = ((np.nan_to_num(table), (~np.isnan(table)).astype(np.float64)) for table in (own, other))
    n = np.maximum(x_seen.T @ y_seen, 1.0)
    x_mean, y_mean = x.T @ y_seen / n, x_seen.T @ y / n
    variance, other_variance = (x**2).T @ y_seen / n - x_mean**2, x_seen.T @ y**2 / n - y_mean**2
    return n, x.T @ y / n - x_mean * y_mean, variance, other_variance
