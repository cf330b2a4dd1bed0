"""Find, among all pairs of columns at once, the few in which one column may follow from the other.

Each screen keeps every pair in which the sample shows no contradiction; `evidence.told_by` then looks at single pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns
from clinclust.graded import mid_ranks, paired_moments

__all__ = ["FEW_LEVELS", "Dependence", "candidates", "rank_dependence"]

Array = NDArray[np.float64]
Pairs = set[tuple[int, int]]

FEW_LEVELS = 30  # the levels of such columns are compared one by one; more are looked at in their order
_MOST_NOMINAL = 60
_NEARLY_MONOTONE = 0.95  # below 1 because of values that are missing in one of the columns only
_MOST_CELLS = 4e9  # of products in the table of levels by levels
_ROWS_IN_ORDER = (1000, 400)  # up to, and beyond 200 columns


class Dependence:
    """Rank correlations of the ordered columns in pairs, in the sample.

    Attributes
    ----------
    indices : int64 (C,)
        The columns.
    n, r : float64 (C, C)
        The number of subjects in whom both are observed, and the rank correlation (0 if either does not vary).
    slope : float64 (C, C)
        The regression of the rank of the row's column on that of the column's column. It is 1 or -1 if the latter is
        a monotone function of the former, however coarse.
    """

    def __init__(self, columns: Columns) -> None:
        self.indices = columns.ordered(columns.varying())
        ranks = np.column_stack([mid_ranks(columns.sample[:, i]) for i in self.indices] or [np.zeros(0)])
        middle = np.nanmean(ranks, axis=0) if self.indices.size else np.zeros(1)
        self.n, covariance, own, other = paired_moments(ranks - middle, ranks - middle)
        varying = np.minimum(own, other) > 1e-9
        self.r = np.where(varying, covariance / np.sqrt(np.where(varying, own * other, 1.0)), 0.0)
        self.slope = np.where(varying, covariance / np.where(varying, other, 1.0), 0.0)


def rank_dependence(columns: Columns) -> Dependence:
    """Return the rank correlations of the ordered columns."""
    return Dependence(columns)


def candidates(columns: Columns, dependence: Dependence) -> Pairs:
    """Return the pairs (x, y) of indices in which y may follow from x."""
    varying = columns.varying()
    most = np.where(columns.nominal[varying], _MOST_NOMINAL, FEW_LEVELS)  # only an order helps with more levels
    coarse = varying[columns.n_levels[varying] <= most]
    found = _of_few_levels(columns, coarse) | _in_few_runs(columns, coarse)
    own, other = np.nonzero(np.abs(dependence.slope) >= _NEARLY_MONOTONE)
    first, second = dependence.indices[own], dependence.indices[other]
    fine = (first != second) & (columns.n_levels[first] > FEW_LEVELS)
    return found | set(zip(first[fine].tolist(), second[fine].tolist(), strict=True))


def _of_few_levels(columns: Columns, coarse: NDArray[np.int64]) -> Pairs:
    """Return the pairs of columns of few levels in which each level of x goes with one level of y."""
    if coarse.size < 2:
        return set()
    n_levels = columns.n_levels[coarse]
    rows = max(200, int(_MOST_CELLS / float(n_levels.sum()) ** 2))
    table = columns.sample[:rows, coarse]
    indicators = np.zeros((len(table), int(n_levels.sum())), dtype=np.float32)
    starts = np.concatenate([[0], np.cumsum(n_levels)[:-1]])
    for start, index, column in zip(starts, coarse, table.T, strict=True):
        seen = np.flatnonzero(~np.isnan(column))
        levels = np.unique(columns.sample[:, index])
        indicators[seen, start + np.searchsorted(levels, column[seen])] = 1.0
    together = indicators.T @ indicators  # exact: whole numbers far below 2^24
    commonest = np.add.reduceat(np.maximum.reduceat(together, starts, axis=1), starts, axis=0)
    both = np.add.reduceat(np.add.reduceat(together, starts, axis=1), starts, axis=0)
    follows = (commonest == both) & (both > 0)
    np.fill_diagonal(follows, False)
    return {(int(coarse[x]), int(coarse[y])) for x, y in np.argwhere(follows)}


def _in_few_runs(columns: Columns, coarse: NDArray[np.int64]) -> Pairs:
    """Return the pairs in which y of few levels is constant over long stretches of x of many levels."""
    varying = columns.ordered(columns.varying())
    fine = varying[columns.n_levels[varying] > FEW_LEVELS]
    table = columns.sample[: _ROWS_IN_ORDER[len(columns) > 200], coarse]
    most = 2.0 * columns.n_levels[coarse] + 2.0
    found: Pairs = set()
    for x in fine.tolist():
        values = columns.sample[: len(table), x]
        in_order = np.argsort(values, kind="stable")[: int((~np.isnan(values)).sum())]
        few = np.flatnonzero(_changes(table[in_order]) <= most)
        found |= {(x, int(coarse[y])) for y in few if coarse[y] != x}
    return found


def _changes(table: Array) -> Array:
    """Return how often the observed values of each column change from row to row."""
    if len(table) == 0:
        return np.zeros(table.shape[1])
    rows = np.arange(len(table))[:, None]
    last = np.maximum.accumulate(np.where(np.isnan(table), 0, rows), axis=0)
    filled = np.take_along_axis(table, last, axis=0)
    return np.asarray(((filled[1:] != filled[:-1]) & ~np.isnan(filled[:-1])).sum(axis=0), dtype=np.float64)
