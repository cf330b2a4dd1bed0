"""Dependence between features within clusters, and the coarsening and the weights of blocks that it implies.

Dependent features repeat information. The likelihood of each of the p features of a block is raised to its weight

    w = 1 / (1 + c),    c = mean over the features of the block of the sum, over its other features, of the absolute
                            correlations of the residuals within clusters, each corrected for chance.

1 + c is the design effect of p measurements with these correlations (Kish 1965, *Survey Sampling*): the block counts
for one feature if all are the same, and for p if they are independent. Weights and clusters are found in turns,
beginning with one cluster, because superfluous clusters of weight 1 would explain away the dependence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from clinclust.arrays import Array, Labels, Whole
from clinclust.engine.kernels.partition import CohortArrays
from clinclust.engine.problem.blocks import members_of_blocks, members_of_chains
from clinclust.engine.problem.numeric_columns import numeric_columns
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.settle import chunks

Find = Callable[[Problem], tuple[Problem, Labels]]
"""A search with fixed weights: it returns the problem with its kept values, and the clusters, int64 (N,)."""

_MOST_SUBJECTS = 2000
"""Number of subjects above which `independent_features` uses a part of them."""
_MOST_ROUNDS = 12
_TOLERANCE = 0.02
"""Change of a weight below which it counts as the same."""


class WithinClusters(NamedTuple):
    """The squared correlations of the residuals of every two features within clusters."""

    excess: Array
    """(D, D) squared correlation less 1 / (n - K), its expectation under independence in n subjects; 0 on the diagonal.
    """
    squared: Array
    """(D, D) squared correlation; its diagonal is 1, less for nominal features, 0 for those that do not vary within
    clusters."""
    n_columns: Whole
    """(D,) number of indicators of each nominal feature; 1 for others."""


def within_clusters(arrays: CohortArrays, labels: Labels) -> WithinClusters:
    """Return how features depend on each other within the clusters 0 .. K - 1 of `labels`, int64 (N,)."""
    n_clusters = int(labels.max()) + 1
    feature = numeric_columns(arrays._replace(codes=arrays.codes[:0], values=arrays.values[:0]))[1]
    sums, counts = np.zeros((2, n_clusters, feature.size))
    together, squares, n_both = np.zeros((3, feature.size, feature.size))
    for rows, chunk in chunks(arrays):
        values, seen = _observed(chunk)
        is_in = (labels[rows, None] == np.arange(n_clusters)).astype(np.float64)
        sums += is_in.T @ values
        counts += is_in.T @ seen  # whole numbers, the same in any order
    means = sums / np.maximum(counts, 1.0)
    for rows, chunk in chunks(arrays):
        values, seen = _observed(chunk)
        residual = (values - means[labels[rows]]) * seen
        together += residual.T @ residual
        squares += (residual**2).T @ seen
        n_both += seen.T @ seen
    squared = (together / np.sqrt(np.maximum(squares * squares.T, 1e-300))) ** 2
    excess = squared - 1.0 / np.maximum(n_both - n_clusters, 1.0)
    by_feature = _by_feature(excess, feature)
    np.fill_diagonal(by_feature, 0.0)
    return WithinClusters(by_feature, _by_feature(squared, feature), np.bincount(feature))


def _observed(arrays: CohortArrays) -> tuple[Array, Array]:
    """Return the `numeric_columns` with 0 for missing values, and 1 where a value is observed, float64 (N, C)."""
    table, _ = numeric_columns(arrays)
    missing = np.isnan(table)
    return np.where(missing, 0.0, table), (~missing).astype(np.float64)


def _by_feature(between: Array, feature: Whole) -> Array:
    """Return the means over the columns of each two features, float64 (D, D), of a matrix (C, C)."""
    of = (feature[:, None] == np.arange(int(feature.max()) + 1)).astype(np.float64)
    of /= of.sum(axis=0)
    return np.asarray(of.T @ between @ of)


def independent_features(problem: Problem) -> float:
    """Return the effective number of features in the whole cohort, from 1 to D.

    It is the participation ratio (sum of eigenvalues)^2 / sum of squared eigenvalues of the correlation matrix,
    corrected for chance: D for independent features, and 1 for D copies of one.
    """
    every = -(-problem.cohort.n_subjects // _MOST_SUBJECTS)
    if every > 1:
        problem = problem.restricted_to(np.arange(0, problem.cohort.n_subjects, every), 0)
    excess = within_clusters(problem.cohort.arrays, problem.cohort.together).excess
    n_features = len(excess)
    return float(np.clip(n_features / (1.0 + max(excess.sum() / n_features, 0.0)), 1.0, n_features))


def independent_share(problem: Problem, labels: Labels) -> float:
    """Return the share of the log likelihood that independent features would have, in (0, 1], as the coarsening.

    With the excess of `WithinClusters` and weights w_d of the features, it is at most 1 and

        sum_d w_d / (sum_d w_d^2 + sum over d, e of w_d w_e excess_de).

    Dependence within a multivariate Gaussian block, which the model describes, does not count.
    """
    powers = problem.model.powers
    excess = within_clusters(problem.cohort.arrays, labels).excess
    for members in members_of_chains(problem.cohort.encoding.features):
        excess[np.ix_(members, members)] = 0.0
    repeated = ((excess * powers).sum(axis=1) * powers).sum() / powers.sum()
    alone = (powers**2).sum() / powers.sum()
    return min(1.0, float(1.0 / (alone + max(repeated, 0.0))))


def reproduced_weights(problem: Problem, find: Find, enough: Callable[[], bool]) -> Array:
    """Return weights of the features, float64 (D,), that the clusters found with them imply again."""
    powers = implied_weights(problem, problem.cohort.together)
    for _ in range(_MOST_ROUNDS):
        kept, labels = find(problem.with_powers(powers))
        if enough():
            break
        implied = implied_weights(kept, labels)
        if np.abs(implied - powers).max() <= _TOLERANCE:
            break
        powers = implied
    return powers


def implied_weights(problem: Problem, labels: Labels) -> Array:
    """Return the weight of each feature that the dependence within these clusters implies, float64 (D,)."""
    powers = np.ones(len(problem.cohort.encoding.features))
    for members in members_of_blocks(problem.cohort.encoding.features).values():
        if members.size > 1:
            powers[members] = block_weight(problem, members, labels)
    return powers


def block_weight(problem: Problem, members: Labels, labels: Labels) -> float:
    """Return the weight, in (0, 1], of the block of these features, int64 (p,), given clusters, int64 (N,)."""
    included = np.zeros(len(problem.cohort.encoding.features), dtype=np.bool_)
    included[members] = True
    found = within_clusters(problem.cohort.with_features(included, 0.0).arrays, labels)
    return float(1.0 / (1.0 + max(_beyond_chance(found).sum(axis=1).mean(), 0.0)))


def _beyond_chance(found: WithinClusters) -> Array:
    """Return the absolute correlations a, corrected for chance as Cohen's kappa: (a - e) / (1 - e), (p, p); diagonal 0.

    e is the mean of a under independence, where the squared correlation is about chi-squared. That of nominal features
    is divided by the root of the product of those with themselves, as in Tschuprow's T squared.
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


def has_repeated(problem: Problem) -> bool:
    """Return whether any block has several features: a block of one always has weight 1."""
    return any(members.size > 1 for members in members_of_blocks(problem.cohort.encoding.features).values())
