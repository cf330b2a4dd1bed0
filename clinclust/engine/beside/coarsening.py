"""How far to coarsen: by as much as dependence between the features makes the likelihood count twice."""

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
    """Return which part of the log likelihood independent features would have, in (0, 1].

    1 / (1 + mean over features of the summed squared correlations with the other features within clusters), each
    square debiased by 1 / n, as a sum of correlated terms holds that part of its information.
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
    # Not a BLAS product: its digits depend on its number of threads.
    together = np.einsum("ij,ik->jk", residual, residual)
    squares = np.einsum("ij,ik->jk", residual**2, seen)
    n_both = np.einsum("ij,ik->jk", seen, seen)
    correlations = together / np.sqrt(np.maximum(squares * squares.T, 1e-300))
    excess = correlations**2 - 1.0 / np.maximum(n_both - n_clusters, 1.0)
    # The indicators of one feature count as one, by their mean, and not against each other.
    of = (feature[:, None] == np.arange(int(feature.max()) + 1)).astype(np.float64)
    of /= of.sum(axis=0)
    by_feature = np.einsum("ja,jk,kb->ab", of, excess, of)
    np.fill_diagonal(by_feature, 0.0)
    return float(1.0 / (1.0 + max(by_feature.sum(axis=1).mean(), 0.0)))
