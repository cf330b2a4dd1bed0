"""How many features that do not depend on each other the features of a cohort are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clinclust.engine.joint_estimates.within_clusters import within_clusters

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["independent_features"]

_MOST_SUBJECTS = 2000
"""Subjects beyond which every so-many-th is taken: the number is told without decimals."""


def independent_features(problem: Problem) -> float:
    """Return the effective number of features in the whole cohort, from 1 to D.

    It is D / (1 + mean over features of the summed squared correlations with the others, less those expected of
    independent features), which is (sum of eigenvalues)^2 / sum of squared eigenvalues of the correlation matrix, the
    participation ratio: D for independent features, and 1 for D copies of one. Subtypes make features depend on each
    other too; it is no measure of what is left within them.
    """
    arrays = problem.cohort.arrays
    every = -(-len(arrays.values) // _MOST_SUBJECTS)
    if every > 1:
        problem = problem.restricted_to(np.arange(0, len(arrays.values), every), 0)
    excess = within_clusters(problem.cohort.arrays, np.zeros(len(problem.cohort.arrays.values), dtype=np.int64)).excess
    n_features = len(excess)
    return float(np.clip(n_features / (1.0 + max(excess.sum() / n_features, 0.0)), 1.0, n_features))
