"""Estimate of the coarsening from the dependence between features within clusters.

The model assumes features that are independent within clusters. Dependent features repeat information, which the
likelihood counts more than once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.numeric_columns import numeric_columns

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["independent_share"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def independent_share(problem: Problem, labels: Labels) -> float:
    """Return the share of the log likelihood that independent features would have, in (0, 1].

    The share is 1 / (1 + c). c is the mean over features of the sum, over the other features, of the squared
    correlations of the residuals within clusters. From each squared correlation its expectation under independence is
    subtracted, 1 / (n - K), where n is the number of subjects in whom both features are observed. A negative c counts
    as 0. A sum of correlated terms holds this share of the information of a sum of independent terms.

    Parameters
    ----------
    problem : Problem
    labels : int64 (N,)
        Clusters 0 .. K - 1.
    """
    table, feature = numeric_columns(problem.cohort.arrays)
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
    correlations = together / np.sqrt(np.maximum(squares * squares.T, 1e-300))
    excess = correlations**2 - 1.0 / np.maximum(n_both - n_clusters, 1.0)
    # The indicators of a nominal feature count as one feature, by their mean. Their correlations with each other do not
    # count.
    of = (feature[:, None] == np.arange(int(feature.max()) + 1)).astype(np.float64)
    of /= of.sum(axis=0)
    by_feature = np.einsum("ja,jk,kb->ab", of, excess, of)
    np.fill_diagonal(by_feature, 0.0)
    return float(1.0 / (1.0 + max(by_feature.sum(axis=1).mean(), 0.0)))
