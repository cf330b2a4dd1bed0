"""Tests where persons have several rows: whole persons are permuted, because rows of one person are not independent.

A permutation gives each person the values of another person with as many rows. If the feature is independent of what
the subtypes were found from, and persons are independent of each other, every such permutation is as probable as the
table itself, however the rows of one person depend on each other. So p is exact (Good 2005, Permutation, Parametric and
Bootstrap Tests of Hypotheses, chapter 3).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.contrasts import Contrast, ContrastKind, contrast_of
from clinclust.graded import graded, mid_ranks

__all__ = ["BY_PERSON", "contrast_by_person"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

BY_PERSON = ", persons permuted"
"""The end of the name of a test whose p is by permutations of whole persons."""
_PERMUTATIONS, _ENOUGH, _SEED = 9999, 100, 20161007
"""At most so many permutations; fewer when so many gave as large a statistic (Besag and Clifford 1991)."""
_ROUNDING = 1e-10


def contrast_by_person(values: Array, groups: Labels, kind: ContrastKind, persons: Labels) -> Contrast:
    """Return the contrast of `contrast_of` with p by permutations of whole persons.

    The statistic that is compared is the sum of squares between the groups: of the values (``"student"``,
    ``"welch"``), of their ranks (``"rank"``), or of the indicators of the levels, weighed as in Pearson's chi-squared
    (``"counts"``). The statistic that is returned is that of `contrast_of`.

    Parameters
    ----------
    values : float64 (N,)
        NaN = missing.
    groups : int64 (N,)
        The group of each row; rows with a group below 0 take no part.
    kind : str
    persons : int64 (N,)
        The person of each row.
    """
    found = contrast_of(values, groups, kind)
    exchanges = _exchanges(persons)
    if np.isnan(found.p) or not any(rows.shape[0] > 1 for rows in exchanges):
        return Contrast()
    between = _SumOfSquares(_scores(values, kind), groups)
    observed = between.of(np.arange(values.size))
    as_large = drawn = 0
    for order in _orders(exchanges, values.size):
        drawn += 1
        as_large += between.of(order) >= observed * (1.0 - _ROUNDING)
        if as_large == _ENOUGH:
            break
    p = as_large / drawn if as_large == _ENOUGH else (1 + as_large) / (1 + drawn)
    return found._replace(test=found.test + BY_PERSON, df=np.nan, df2=np.nan, p=p)


def _exchanges(persons: Labels) -> list[Labels]:
    """Return the rows of the persons with as many rows as each other, (persons, rows of each); one array per number."""
    order = np.argsort(persons, kind="stable")
    _, start, counts = np.unique(persons[order], return_index=True, return_counts=True)
    return [order[start[counts == count][:, None] + np.arange(count)] for count in np.unique(counts)]


def _orders(exchanges: list[Labels], n_rows: int) -> Iterator[Labels]:
    """Yield random orders of the rows, int64 (N,), in which each person has the rows of another."""
    rng = np.random.default_rng(_SEED)
    for _ in range(_PERMUTATIONS):
        order = np.empty(n_rows, dtype=np.int64)
        for rows in exchanges:
            order[rows] = rows[rng.permutation(rows.shape[0])]
        yield order


def _scores(values: Array, kind: ContrastKind) -> Array:
    """Return the columns whose means are compared between the groups, (N, C), NaN = missing."""
    if kind == "counts":
        return graded([(values, True)], mid_ranks).columns / np.sqrt(_level_shares(values))
    column = mid_ranks(values) if kind == "rank" else values
    return (column - np.nanmean(column))[:, None]


def _level_shares(values: Array) -> Array:
    _, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return np.asarray(counts / counts.sum())


class _SumOfSquares:
    """The sum of squares between the groups, over all columns, where the groups have the values of other rows."""

    def __init__(self, scores: Array, groups: Labels) -> None:
        self._seen = (~np.isnan(scores[:, 0])).astype(np.float64)
        self._columns = np.where(self._seen[:, None] > 0.0, scores, 0.0).T.copy()
        self._groups, self._n_groups = groups + 1, int(groups.max()) + 2  # group 0 takes no part
        is_complete = self._seen.all() and (groups >= 0).all()
        self._sizes = self._sums(self._seen) if is_complete else None

    def of(self, order: Labels) -> float:
        """Return the sum of squares if row i has the values of row ``order[i]``."""
        sizes = self._sums(self._seen[order]) if self._sizes is None else self._sizes
        filled = sizes > 0.0
        sizes, total = sizes[filled], 0.0
        for column in self._columns:
            sums = self._sums(column[order])[filled]
            total += float((sums**2 / sizes).sum() - sums.sum() ** 2 / sizes.sum())
        return total

    def _sums(self, values: Array) -> Array:
        return np.asarray(np.bincount(self._groups, values, self._n_groups)[1:], dtype=np.float64)
