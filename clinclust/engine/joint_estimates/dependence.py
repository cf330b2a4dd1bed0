"""Dependence between features in the whole cohort.

The model makes features independent given the cluster. If two features depend on each other in the whole cohort, both
therefore differ between clusters. An irrelevant feature depends on no other feature, and can be recognised without a
partition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.numeric_columns import encoded_columns
from clinclust.graded import Graded, graded, paired_moments, whole_ranks

if TYPE_CHECKING:
    from clinclust.engine.kernels.arrays import CohortArrays

__all__ = ["mutual_dependence"]

Array = NDArray[np.float64]

_FEATURES_AT_ONCE = 512


def mutual_dependence(cohort: CohortArrays) -> Array:
    """Return the evidence that each feature depends on other features, float64 (D,): at least 0, without a unit.

    The dependence of two features is n r^2, where r is the correlation of ranks over the n subjects in whom both are
    observed. If the features are independent, n r^2 is about chi-squared with one degree of freedom. The evidence of a
    feature is the sum over the other features of max(n r^2 - 2 ln D, 0). Few pairs of independent features exceed
    2 ln D, so that hundreds of irrelevant features do not add up. A nominal feature is replaced by indicators of its
    levels. Their n r^2 are summed with weights (1 - p) / (L - 1), where p is the frequency of the level: this is
    Pearson's chi-squared divided by its degrees of freedom.
    """
    n_features = cohort.kinds.size
    bound = 2.0 * np.log(max(n_features, 2))
    scores = np.zeros(n_features)
    columns = graded(encoded_columns(cohort), whole_ranks)
    for first in range(0, n_features, _FEATURES_AT_ONCE):
        last = min(first + _FEATURES_AT_ONCE, n_features)
        scores[first:last] = np.maximum(_between(columns, first, last) - bound, 0.0).sum(axis=1)
    return scores


def _between(columns: Graded, first: int, last: int) -> Array:
    """Return the dependence of features first .. last - 1 on all features, float64 (last - first, D)."""
    table, weights, owners = columns
    mine = (owners >= first) & (owners < last)
    n, covariance, own_variance, other_variance = paired_moments(table[:, mine], table)
    varying = np.minimum(own_variance, other_variance) > 1e-9
    squared = np.where(varying, n * covariance**2 / np.where(varying, own_variance * other_variance, 1.0), 0.0)
    squared *= weights[mine, None] * weights
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    between = np.add.reduceat(squared, starts, axis=1)
    between = np.add.reduceat(between, np.flatnonzero(np.diff(owners[mine], prepend=-1)), axis=0)
    between[np.arange(last - first), np.arange(first, last)] = 0.0
    return np.asarray(between, dtype=np.float64)
