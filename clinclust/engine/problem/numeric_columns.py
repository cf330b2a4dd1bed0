"""Features as columns of numbers that can be correlated: scores, ranks, and indicators of levels without order."""

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
    """Return which of the discrete features have ordered codes, and which have levels without order."""
    nominal = [likelihood.kernel for likelihood in REGISTRY.values() if likelihood.is_nominal]
    is_nominal = np.isin(arrays.kinds[: arrays.codes.shape[1]], nominal)
    return np.flatnonzero(~is_nominal), np.flatnonzero(is_nominal)


def numeric_columns(arrays: CohortArrays) -> tuple[Array, Whole]:
    """Return numeric columns, NaN = missing, shape (N, C), and the feature of each, shape (C,).

    First the codes of ordered features, then continuous values, then an indicator of each level without order.
    """
    ordered, unordered = _ordered_and_unordered(arrays)
    n_discrete, n_continuous = arrays.codes.shape[1], arrays.values.shape[1]
    codes = np.take(arrays.codes, ordered, axis=1)  # row by row in memory, so that sums have one order
    columns = [np.where(codes > 0, codes, np.nan), arrays.values]
    owners = [ordered, np.arange(n_discrete, n_discrete + n_continuous)]
    for feature in unordered:
        code = arrays.codes[:, [feature]]
        levels = np.arange(arrays.level_start[feature], arrays.level_start[feature + 1])
        columns.append(np.where(code > 0, code == levels, np.nan))
        owners.append(np.full(levels.size, feature))
    return np.hstack(columns), np.concatenate(owners)


def encoded_columns(arrays: CohortArrays) -> Iterator[tuple[Array, bool]]:
    """Yield the values of each feature, NaN = missing, and whether they are levels without order."""
    _, unordered = _ordered_and_unordered(arrays)
    for feature, code in enumerate(arrays.codes.T):
        yield np.where(code > 0, code, np.nan), feature in unordered
    for column in arrays.values.T:
        yield column, False


class Graded(NamedTuple):
    """Features as columns whose squared correlations add up: ranks, or one indicator for each level without order."""

    columns: Array
    """(N, C), NaN = missing."""
    weights: Array
    """(C,) 1, or (1 - p) / (L - 1) of a level of frequency p: then z^2 add up to chi-squared over L - 1."""
    owners: Whole
    """(C,) the feature, 0 .. D - 1."""


def graded(features: Iterable[tuple[Array, bool]], ranks: Callable[[Array], Array]) -> Graded:
    """Return graded columns of features.

    Parameters
    ----------
    features : iterable of (float64 (N,), bool)
        The values of each feature, NaN = missing, and whether they are levels without order.
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
    """Yield for each level of a column without order whether a subject has it, NaN = missing, and (1 - p) / (L - 1)."""
    seen = ~np.isnan(column)
    levels, counts = np.unique(column[seen], return_counts=True)
    for level, count in zip(levels, counts, strict=True):
        yield np.where(seen, column == level, np.nan), (1.0 - count / seen.sum()) / max(levels.size - 1, 1)


def mid_ranks(values: Array) -> Array:
    """Return the mean rank, from 1 on, of each value among those observed, NaN = missing."""
    ranks, seen = np.full(values.size, np.nan), ~np.isnan(values)
    _, ties, counts = np.unique(values[seen], return_inverse=True, return_counts=True)
    ranks[seen] = (np.cumsum(counts) - (counts - 1) / 2.0)[ties]
    return ranks


def whole_ranks(values: Array) -> Array:
    """Return mean ranks as whole numbers from -127 to 127: sums of their products are exact in any order."""
    ranks = mid_ranks(values)
    middle = (ranks - 0.5) / max(int((~np.isnan(ranks)).sum()), 1)
    return np.asarray(np.rint((2.0 * middle - 1.0) * _GRADES), dtype=np.float64)
