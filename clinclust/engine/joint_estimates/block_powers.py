"""Estimate of the power of each block from the dependence that clusters leave between its features.

p measurements of the same thing hold the information of fewer than p independent features. Counted in full, they would
open a cluster for each slice of what they measure. The likelihood of each of them is therefore raised to the power

    w = 1 / (1 + c),    c = mean over the features of the block of the sum, over its other features, of the absolute
                            correlations of the residuals within clusters, each corrected for chance.

1 + c is the design effect of p measurements with these correlations: their sum tells clusters apart as well as w p
independent features do (Kish 1965, *Survey Sampling*). The block counts for one feature if all are the same, and for p
if they are independent within clusters.

Squared correlations, which estimate the coarsening, are not enough here. With p items of mean correlation r, the block
would count for up to 1 / r^2 items. Enough items then divide one normal quantity: two halves of it gain
ln(1 / (1 - 2 r / pi)) / 2 nats a subject and item, and cost ln 2 nats a subject. At 1 / r items they never gain that.

The dependence within clusters needs the clusters, and these depend on the powers. Powers and clusters are therefore
found in turns, until the powers reproduce themselves. The turns begin with one cluster. In the whole cohort features
depend on each other most, because they also differ between clusters, so that the first powers are too low rather than
too high, and the first partition is too coarse rather than too fine. Beginning at power 1 would be circular: the
superfluous clusters of full powers explain the dependence away from which the powers are estimated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from clinclust.engine.joint_estimates.within_clusters import WithinClusters, within_clusters
from clinclust.engine.problem.blocks import members_of_blocks

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["block_share", "has_repeated", "powers_left_by", "reproduced_powers"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Find = Callable[["Problem"], tuple["Problem", Labels]]
"""A search with fixed powers: it returns the problem of the values that are kept, and the clusters, int64 (N,)."""

_MOST_ROUNDS = 12
_TOLERANCE = 0.02
"""Change of a power below which it is the same: it is an estimate, and more rounds would take longer than they help."""


def has_repeated(problem: Problem) -> bool:
    """Return whether any block has several features: a block of one always has power 1."""
    return any(members.size > 1 for members in members_of_blocks(problem.cohort.encoding.features).values())


def block_share(problem: Problem, members: Labels, labels: Labels) -> float:
    """Return the power of one block, in (0, 1], given clusters.

    Parameters
    ----------
    problem : Problem
    members : int64 (p,)
        Indices of the features of the block.
    labels : int64 (N,)
        Clusters 0 .. K - 1.
    """
    included = np.zeros(len(problem.cohort.encoding.features), dtype=np.bool_)
    included[members] = True
    found = within_clusters(problem.cohort.with_features(included, 0.0).arrays, labels)
    return float(1.0 / (1.0 + max(_beyond_chance(found).sum(axis=1).mean(), 0.0)))


def _beyond_chance(found: WithinClusters) -> Array:
    """Return the absolute correlations a, corrected for chance: (a - e) / (1 - e), float64 (p, p); diagonal 0.

    e is the mean of a under independence, so that the mean is 0 then, and 1 for equal features (as in Cohen's kappa).
    The squared correlation of nominal features is divided by the root of the product of those with themselves, as in
    Tschuprow's T squared, so that it is 1 for equal ones. Under independence it is about chi-squared.
    """
    itself = np.diagonal(found.squared)
    itself = np.where(itself > 0.0, itself, 1.0)
    scale = np.sqrt(itself * itself[:, None])
    freedom = np.maximum(found.n_columns - 1.0, 1.0)
    freedom = freedom * freedom[:, None]
    mean_of_root = np.sqrt(2.0 / freedom) * np.exp(gammaln(0.5 * (freedom + 1.0)) - gammaln(0.5 * freedom))
    by_chance = np.sqrt((found.squared - found.excess) / scale) * mean_of_root
    by_chance = np.minimum(by_chance, 0.99)  # where hardly two subjects have both features
    beyond = (np.sqrt(found.squared / scale) - by_chance) / (1.0 - by_chance)
    np.fill_diagonal(beyond, 0.0)
    return np.asarray(beyond)


def powers_left_by(problem: Problem, labels: Labels) -> Array:
    """Return the power of each feature that the dependence within these clusters implies, float64 (D,)."""
    powers = np.ones(len(problem.cohort.encoding.features))
    for members in members_of_blocks(problem.cohort.encoding.features).values():
        if members.size > 1:
            powers[members] = block_share(problem, members, labels)
    return powers


def reproduced_powers(problem: Problem, find: Find, enough: Callable[[], bool]) -> Array:
    """Return powers of the features, float64 (D,), that the clusters found with them imply again.

    Parameters
    ----------
    problem : Problem
        Its own powers are not used.
    find : callable
        Search with fixed powers (`Find`).
    enough : callable
        Whether to keep the powers so far: of a search that was cut short, the clusters imply none.
    """
    powers = powers_left_by(problem, np.zeros(problem.cohort.n_subjects, dtype=np.int64))
    for _ in range(_MOST_ROUNDS):
        kept, labels = find(problem.with_powers(powers))
        if enough():
            break
        implied = powers_left_by(kept, labels)
        if np.abs(implied - powers).max() <= _TOLERANCE:
            break
        powers = implied
    return powers
