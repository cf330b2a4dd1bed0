"""Dependence between features that is left within the clusters of a partition.

The model assumes features that are independent within clusters. Dependent features repeat information, which the
likelihood counts more than once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.numeric_columns import numeric_columns

if TYPE_CHECKING:
    from clinclust.engine.kernels.arrays import CohortArrays

__all__ = ["WithinClusters", "within_clusters"]

Array = NDArray[np.float64]


class WithinClusters(NamedTuple):
    """The squared correlations of the residuals of every two features within clusters.

    The indicators of a nominal feature count as one feature, by their mean.
    """

    excess: Array
    """(D, D) squared correlation less its expectation under independence, 1 / (n - K), where n is the number of
    subjects in whom both features are observed; 0 on the diagonal."""
    squared: Array
    """(D, D) squared correlation. On the diagonal it is 1, less for the indicators of a nominal feature, and 0 for a
    feature that does not vary within clusters."""
    n_columns: NDArray[np.int64]
    """(D,) number of indicators of each nominal feature; 1 for others."""


def within_clusters(arrays: CohortArrays, labels: NDArray[np.int64]) -> WithinClusters:
    """Return how features depend on each other within the clusters 0 .. K - 1 of `labels`, int64 (N,)."""
    table, feature = numeric_columns(arrays)
    observed = ~np.isnan(table)
    residual = np.where(observed, table, 0.0)
    n_clusters = int(labels.max()) + 1
    for cluster in range(n_clusters):
        members = labels == cluster
        counts = np.maximum(observed[members].sum(axis=0), 1)
        residual[members] -= residual[members].sum(axis=0) / counts
    residual = np.where(observed, residual, 0.0)
    seen = observed.astype(np.float64)
    # einsum instead of a BLAS product, because the last digits of a BLAS product depend on its number of threads.
    together = np.einsum("ij,ik->jk", residual, residual)
    squares = np.einsum("ij,ik->jk", residual**2, seen)
    n_both = np.einsum("ij,ik->jk", seen, seen)
    squared = (together / np.sqrt(np.maximum(squares * squares.T, 1e-300))) ** 2
    excess = squared - 1.0 / np.maximum(n_both - n_clusters, 1.0)
    by_feature = _by_feature(excess, feature)
    np.fill_diagonal(by_feature, 0.0)
    return WithinClusters(by_feature, _by_feature(squared, feature), np.bincount(feature))


def _by_feature(between: Array, feature: NDArray[np.int64]) -> Array:
    """Return the means over the columns of each two features, float64 (D, D), of a matrix (C, C)."""
    n_features = int(feature.max()) + 1
    if n_features == feature.size:  # no feature is nominal; the products below grow with the fourth power of D
        return between.copy()
    of = (feature[:, None] == np.arange(n_features)).astype(np.float64)
    of /= of.sum(axis=0)
    return np.asarray(np.einsum("ja,jk,kb->ab", of, between, of))
