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
    scores = _scores(values, kind)
    observed = _between(scores, groups)
    as_large = drawn = 0
    for order in _orders(exchanges, values.size):
        drawn += 1
        as_large += _between(scores[order], groups) >= observed * (1.0 - _ROUNDING)
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


def _between(scores: Array, groups: Labels) -> float:
    """Return the sum of squares between the groups, over all columns."""
    taking_part = (groups >= 0) & ~np.isnan(scores[:, 0])
    where = groups[taking_part]
    n = np.bincount(where).astype(np.float64)
    total = 0.0
    for column in scores[taking_part].T:
        sums = np.bincount(where, column - column.mean())
        total += float((sums[n > 0] ** 2 / n[n > 0]).sum())
    return total
