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
    with_itself: Array
    """(D,) squared correlation of each feature with itself: 1, below 1 for the indicators of a nominal feature, 0 if
    the feature does not vary within clusters."""


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
    of = (feature[:, None] == np.arange(int(feature.max()) + 1)).astype(np.float64)
    of /= of.sum(axis=0)
    by_feature = np.einsum("ja,jk,kb->ab", of, excess, of)
    np.fill_diagonal(by_feature, 0.0)
    return WithinClusters(by_feature, np.einsum("ja,jk,ka->a", of, squared, of))
