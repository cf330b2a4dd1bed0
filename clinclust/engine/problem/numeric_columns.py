"""Features as numeric columns that can be correlated: scores, ranks, and indicators of nominal levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.likelihoods import REGISTRY

if TYPE_CHECKING:
    from clinclust.engine.kernels.arrays import CohortArrays

__all__ = ["Graded", "encoded_columns", "graded", "mid_ranks", "numeric_columns", "whole_ranks"]

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

_GRADES = 127


def _ordered_and_unordered(arrays: CohortArrays) -> tuple[Whole, Whole]:
    """Return the indices of the discrete features with ordered levels, and of the nominal ones."""
    nominal = [likelihood.kernel for likelihood in REGISTRY.values() if likelihood.is_nominal]
    is_nominal = np.isin(arrays.kinds[: arrays.codes.shape[1]], nominal)
    return np.flatnonzero(~is_nominal), np.flatnonzero(is_nominal)


def numeric_columns(arrays: CohortArrays) -> tuple[Array, Whole]:
    """Return numeric columns, float64 (N, C), NaN = missing, and the index of the feature of each, int64 (C,).

    The columns are the codes of discrete features with ordered levels, then the continuous values, then an indicator of
    each level of the nominal features.
    """
    ordered, unordered = _ordered_and_unordered(arrays)
    n_discrete, n_continuous = arrays.codes.shape[1], arrays.values.shape[1]
    codes = np.take(arrays.codes, ordered, axis=1)  # contiguous rows, so that sums always have the same order
    columns = [np.where(codes > 0, codes, np.nan), arrays.values]
    owners = [ordered, np.arange(n_discrete, n_discrete + n_continuous)]
    for feature in unordered:
        code = arrays.codes[:, [feature]]
        levels = np.arange(arrays.level_start[feature], arrays.level_start[feature + 1])
        columns.append(np.where(code > 0, code == levels, np.nan))
        owners.append(np.full(levels.size, feature))
    return np.hstack(columns), np.concatenate(owners)


def encoded_columns(arrays: CohortArrays) -> Iterator[tuple[Array, bool]]:
    """Yield the encoded values of each feature, float64 (N,), NaN = missing, and whether the feature is nominal."""
    _, unordered = _ordered_and_unordered(arrays)
    for feature, code in enumerate(arrays.codes.T):
        yield np.where(code > 0, code, np.nan), feature in unordered
    for column in arrays.values.T:
        yield column, False


class Graded(NamedTuple):
    """Features as columns whose weighted squared correlations add up: ranks, or one indicator per nominal level."""

    columns: Array
    """(N, C), NaN = missing."""
    weights: Array
    """(C,) 1 for ranks, (1 - p) / (L - 1) for the indicator of a level with frequency p. With these weights, the n r^2
    of the L indicators add up to chi-squared divided by L - 1."""
    owners: Whole
    """(C,) index of the feature of each column, 0 .. D - 1."""


def graded(features: Iterable[tuple[Array, bool]], ranks: Callable[[Array], Array]) -> Graded:
    """Return graded columns of features.

    Parameters
    ----------
    features : iterable of (float64 (N,), bool)
        The values of each feature, NaN = missing, and whether the feature is nominal.
    ranks : callable
        `mid_ranks` or `whole_ranks`.
    """
    columns, weights, owners, n_subjects = [], [], [], 0
    for owner, (values, is_unordered) in enumerate(features):
        n_subjects = values.size
        for column, weight in _level_indicators(values) if is_unordered else [(ranks(values), 1.0)]:
            columns.append(column)
            weights.append(weight)
            owners.append(owner)
    table = np.column_stack(columns) if columns else np.zeros((n_subjects, 0))
    return Graded(table, np.array(weights), np.array(owners, dtype=np.int64))


def _level_indicators(column: Array) -> Iterator[tuple[Array, float]]:
    """Yield, for each level of a nominal column, its indicator (NaN = missing) and its weight (1 - p) / (L - 1)."""
    seen = ~np.isnan(column)
    levels, counts = np.unique(column[seen], return_counts=True)
    for level, count in zip(levels, counts, strict=True):
        yield np.where(seen, column == level, np.nan), (1.0 - count / seen.sum()) / max(levels.size - 1, 1)


def mid_ranks(values: Array) -> Array:
    """Return the mid-rank (ties share their mean rank; the lowest rank is 1) of each observed value; NaN = missing."""
    ranks, seen = np.full(values.size, np.nan), ~np.isnan(values)
    _, ties, counts = np.unique(values[seen], return_inverse=True, return_counts=True)
    ranks[seen] = (np.cumsum(counts) - (counts - 1) / 2.0)[ties]
    return ranks


def whole_ranks(values: Array) -> Array:
    """Return mid-ranks scaled and rounded to whole numbers from -127 to 127; sums of their products are exact."""
    ranks = mid_ranks(values)
    middle = (ranks - 0.5) / max(int((~np.isnan(ranks)).sum()), 1)
    return np.asarray(np.rint((2.0 * middle - 1.0) * _GRADES), dtype=np.float64)
