"""Dependence of columns in pairs, within a quick division of the subjects into groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns
from clinclust.drafting.redundancy.groups_of_subjects import memberships
from clinclust.graded import graded, mid_ranks, paired_moments

__all__ = ["Within", "correlatable", "dependence_within"]

Array = NDArray[np.float64]


class Within(NamedTuple):
    """Dependence in pairs of columns, float64 (C, C) each: rank correlation, or Cramér's V with a nominal column."""

    overall: Array
    within: Array
    """After the means of the groups are taken out."""
    n: Array
    """The number of subjects in whom both are observed."""


_SEED = 0
_MOST_LEVELS = 20  # of a nominal column, each level of which costs a column of its own


def correlatable(columns: Columns, active: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return those of the columns that `dependence_within` can take: ordered ones, and those of few levels."""
    return np.asarray(active[~columns.nominal[active] | (columns.n_levels[active] <= _MOST_LEVELS)], dtype=np.int64)


def dependence_within(columns: Columns, active: NDArray[np.int64]) -> Within:
    """Return the dependence of the active columns in pairs, in the sample."""
    values = ((columns.sample[:, i], bool(columns.nominal[i]) and columns.n_levels[i] > 2) for i in active)
    table, weights, owners = graded(values, mid_ranks)
    # `graded` weighs an indicator of a level by (1 - p) / (L - 1); Cramér's V needs (1 - p), over the smaller L - 1.
    freedom = np.bincount(owners, minlength=active.size)[owners] - 1.0
    weights = weights * np.where(freedom > 0, freedom, 1.0)
    standard = _standardised(table)
    groups = memberships(np.nan_to_num(_standardised(_without_ties(table))))
    residual = standard - _group_means(standard, groups)
    seen = (~np.isnan(table)).astype(np.float64)
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    n = seen[:, first].T @ seen[:, first]
    levels = np.maximum(np.bincount(owners, minlength=active.size) - 1.0, 1.0)
    fewest = np.minimum(levels[:, None], levels)
    return Within(_summed(standard, weights, first, fewest), _summed(residual, weights, first, fewest), n)


def _standardised(table: Array) -> Array:
    """Return normal scores of the ranks of each column, so that skewed columns make no groups; NaN = missing."""
    from scipy.special import ndtri

    n = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    top = np.nanmax(table, axis=0)
    ranks = np.where(top > 1.0, table, 1.0 + table * (n - 1.0))  # indicators as ranks: any two values will do
    scores = ndtri((ranks - 0.5) / np.maximum(n, np.nanmax(ranks, axis=0)))
    return np.asarray((scores - np.nanmean(scores, axis=0)) / np.maximum(np.nanstd(scores, axis=0), 1e-9))


def _without_ties(table: Array) -> Array:
    """Return ranks in which chance, from a fixed seed, orders the subjects with equal values; NaN = missing.

    Columns of few values would make clumps of subjects that are no groups.
    """
    ranks = np.full(table.shape, np.nan)
    for index, column in enumerate(table.T):
        chance = np.random.default_rng([_SEED, index]).random(len(table))
        order = np.lexsort((chance, column))[: int((~np.isnan(column)).sum())]
        ranks[order, index] = np.arange(1.0, order.size + 1.0)
    return ranks


def _group_means(table: Array, groups: Array) -> Array:
    """Return for each value the mean of its column in the groups of its subject, weighted by membership."""
    seen = ~np.isnan(table)
    totals = groups.T @ np.where(seen, table, 0.0)
    means = totals / np.maximum(groups.T @ seen, 1e-9)
    return np.asarray(groups @ means, dtype=np.float64)


def _summed(table: Array, weights: Array, first: NDArray[np.int64], fewest: Array) -> Array:
    """Return the root of the weighted sums of squared correlations, by columns of the cohort, with a sign for r."""
    _, covariance, own, other = paired_moments(table, table)
    varying = np.minimum(own, other) > 1e-6
    r = np.where(varying, covariance / np.sqrt(np.where(varying, own * other, 1.0)), 0.0)
    squared = r**2 * weights[:, None] * weights
    squared = np.add.reduceat(np.add.reduceat(squared, first, axis=1), first, axis=0)
    dependence = np.minimum(np.sqrt(squared / fewest), 1.0)
    np.fill_diagonal(dependence, 0.0)
    return np.asarray(dependence, dtype=np.float64)
