"""How far features depend on each other in the whole cohort.

Features are independent given the cluster, so two that depend on each other in the whole cohort both differ between
clusters. An irrelevant feature depends on no other, and is recognised without a partition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clinclust.engine.kernels.arrays import CohortArrays

__all__ = ["level_indicators", "mutual_dependence"]

Array = NDArray[np.float64]

_GRADES = 127
_FEATURES_AT_ONCE = 512


def mutual_dependence(cohort: CohortArrays) -> Array:
    """Return the evidence that each feature depends on others, float64 (D,): 0 or more, without a unit.

    The sum of what exceeds 2 ln D in its dependence on each other feature. That of two features is n r^2, with r the
    correlation of ranks over the n subjects in whom both are observed: about chi-squared with one degree of freedom
    if they are independent. Of features that depend on nothing few pairs pass 2 ln D, so that hundreds of irrelevant
    ones do not add up. Levels without order count as indicators, whose n r^2 are averaged with weights
    (1 - p) / (L - 1), p the frequency of the level: Pearson's chi-squared over its degrees of freedom.
    """
    n_features = int(cohort.family_stop[-1])
    bound = 2.0 * np.log(max(n_features, 2))
    scores = np.zeros(n_features)
    columns = _graded(cohort)
    for first in range(0, n_features, _FEATURES_AT_ONCE):
        last = min(first + _FEATURES_AT_ONCE, n_features)
        scores[first:last] = np.maximum(_between(*columns, first, last) - bound, 0.0).sum(axis=1)
    return scores


def _between(table: Array, weights: Array, owners: NDArray[np.int64], first: int, last: int) -> Array:
    """Return the dependence of features first .. last - 1 on all, float64 (last - first, D)."""
    observed = (~np.isnan(table)).astype(np.float64)
    grades = np.where(np.isnan(table), 0.0, table)
    mine = (owners >= first) & (owners < last)
    # Sums of products of whole numbers, which are exact: the digits do not depend on the threads of BLAS.
    n = np.maximum(observed[:, mine].T @ observed, 1.0)
    own_mean, other_mean = grades[:, mine].T @ observed / n, observed[:, mine].T @ grades / n
    own_variance = (grades[:, mine] ** 2).T @ observed / n - own_mean**2
    other_variance = observed[:, mine].T @ grades**2 / n - other_mean**2
    covariance = grades[:, mine].T @ grades / n - own_mean * other_mean
    varying = np.minimum(own_variance, other_variance) > 1e-9
    squared = np.where(varying, n * covariance**2 / np.where(varying, own_variance * other_variance, 1.0), 0.0)
    squared *= weights[mine, None] * weights
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    between = np.add.reduceat(squared, starts, axis=1)
    between = np.add.reduceat(between, np.flatnonzero(np.diff(owners[mine], prepend=-1)), axis=0)
    between[np.arange(last - first), np.arange(first, last)] = 0.0
    return np.asarray(between, dtype=np.float64)


def _graded(cohort: CohortArrays) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return columns of whole numbers (N, C), NaN = missing, their weights (C,) and the features they belong to (C,).

    Ranks, so that no outlier decides, in 255 grades from -127 to 127.
    """
    ordered, discrete = int(cohort.family_stop[1]), int(cohort.family_stop[2])
    columns: list[Array] = []
    weights: list[float] = []
    owners: list[int] = []
    for feature in range(int(cohort.family_stop[-1])):
        if feature < discrete:
            code = cohort.codes[:, feature]
            column = np.where(code > 0, code, np.nan)
        else:
            column = cohort.values[:, feature - discrete]
        seen = ~np.isnan(column)
        if not ordered <= feature < discrete:
            columns.append(_grades(column, seen))
            weights.append(1.0)
            owners.append(feature)
            continue
        for indicator, weight in level_indicators(column):
            columns.append(indicator)
            weights.append(weight)
            owners.append(feature)
    return np.column_stack(columns), np.array(weights), np.array(owners, dtype=np.int64)


def level_indicators(column: Array) -> Iterator[tuple[Array, float]]:
    """Yield for each level of a column without order whether a subject has it, NaN = missing, and (1 - p) / (L - 1)."""
    seen = ~np.isnan(column)
    levels, counts = np.unique(column[seen], return_counts=True)
    for level, count in zip(levels, counts, strict=True):
        yield np.where(seen, column == level, np.nan), (1.0 - count / seen.sum()) / max(levels.size - 1, 1)


def _grades(column: Array, seen: NDArray[np.bool_]) -> Array:
    """Return the mean rank of each observed value, as a whole number from -_GRADES to _GRADES."""
    grades = np.full(column.size, np.nan)
    _, ties, counts = np.unique(column[seen], return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2.0) / max(int(seen.sum()), 1)
    grades[seen] = np.rint((2.0 * middle - 1.0) * _GRADES)[ties]
    return grades
