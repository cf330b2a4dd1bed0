"""Estimate of the coarsening from the dependence between features within clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.within_clusters import within_clusters
from clinclust.engine.problem.blocks import members_of_chains

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["independent_share"]


def independent_share(problem: Problem, labels: NDArray[np.int64]) -> float:
    """Return the share of the log likelihood that independent features would have, in (0, 1].

    The share is 1 / (1 + c). c is the mean over features of the sum, over the other features, of the squared
    correlations of the residuals within clusters, each less its expectation under independence (`WithinClusters`). A
    negative c counts as 0. A sum of correlated terms holds this share of the information of a sum of independent terms.

    If blocks have powers w_d, the terms of the sum are weighted: the share is

        sum_d w_d / (sum_d w_d^2 + sum over d, e of w_d w_e times the excess),

    at most 1. Dependence that the power of a block takes into account already is thereby not counted twice, and that
    of the features of a multivariate Gaussian block, which the model describes, not at all.

    Parameters
    ----------
    problem : Problem
    labels : int64 (N,)
        Clusters 0 .. K - 1.
    """
    powers = problem.model.powers
    excess = within_clusters(problem.cohort.arrays, labels).excess
    for members in members_of_chains(problem.cohort.encoding.features):
        excess[np.ix_(members, members)] = 0.0
    repeated = ((excess * powers).sum(axis=1) * powers).sum() / powers.sum()
    alone = (powers**2).sum() / powers.sum()
    return min(1.0, float(1.0 / (alone + max(repeated, 0.0))))
