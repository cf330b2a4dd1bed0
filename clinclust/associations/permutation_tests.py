"""Tests whose p is the share of permutations with as large a statistic, whatever the distribution of the values.

Where persons have several rows, each gets the values of another with as many rows (Good 2005, Permutation, Parametric
and Bootstrap Tests of Hypotheses, chapter 3).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.contrasts import Contrast, ContrastKind, contrast_of
from clinclust.graded import graded, mid_ranks

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

BY_PERSON, BY_VALUE = ", persons permuted", ", values permuted"
"""The ends of the names of tests by permutations of whole persons, or of single values."""
_PERMUTATIONS, _ENOUGH, _SEED = 9999, 100, 20161007
"""At most so many permutations; fewer when so many gave as large a statistic (Besag and Clifford 1991)."""
_ROUNDING = 1e-10
_LEAST_PERMUTATIONS, _MOST_DRAWS = 999, 200_000_000
"""Large cohorts get fewer permutations: so many values at most, but no fewer permutations than this."""
_MOST_SHAPE, _LEAST_OBSERVED, _MOST_CELLS = 0.2, 2, 500


def contrast_of_few(values: Array, groups: Labels, kind: ContrastKind) -> Contrast:
    """Return `contrast_of`, (N,) values and groups, with p by permutations where its p is not accurate.

    Values are permuted where squared skewness plus excess kurtosis exceeds 0.2 n in the smallest group (Hall 1992, The
    Bootstrap and Edgeworth Expansion, chapter 2), and always for Welch's test.
    """
    found = contrast_of(values, groups, kind)
    if kind == "counts" or np.isnan(found.p):
        return found
    taking_part = (groups >= 0) & ~np.isnan(values)
    values, groups = values[taking_part], groups[taking_part]
    sizes = np.bincount(groups)
    large = sizes[groups] >= _LEAST_OBSERVED
    values, groups = values[large], groups[large]
    scores = _scores(values, kind)
    if kind != "welch" and _shape(scores[:, 0]) <= _MOST_SHAPE * sizes[sizes >= _LEAST_OBSERVED].min():
        return found
    levels, codes = np.unique(scores[:, 0], return_inverse=True)
    if levels.size * np.unique(groups).size <= _MOST_CELLS:
        return found._replace(test=found.test + BY_VALUE, df=np.nan, df2=np.nan, p=_p_by_tables(levels, codes, groups))
    return _with_p(found, scores, groups, [np.arange(values.size)[:, None]], BY_VALUE)


def _p_by_tables(levels: Array, codes: Labels, groups: Labels) -> float:
    """Return p by random tables of levels by groups with given margins: the permutations, at a cost without N."""
    from scipy.stats import random_table

    n_of_level, n_of_group = (counts[counts > 0] for counts in (np.bincount(codes), np.bincount(groups)))
    observed = np.zeros((levels.size, n_of_group.size))
    np.add.at(observed, (codes, np.unique(groups, return_inverse=True)[1]), 1.0)
    tables = random_table(n_of_level, n_of_group).rvs(
        _PERMUTATIONS, method="patefield", random_state=np.random.default_rng(_SEED)
    )
    between, least = (((levels @ counts) ** 2 / n_of_group).sum(axis=-1) for counts in (tables, observed))
    return float((1 + (between >= least * (1.0 - _ROUNDING)).sum()) / (1 + _PERMUTATIONS))


def _shape(scores: Array) -> float:
    """Return the squared skewness and the excess kurtosis, if it is positive, of centred scores."""
    scaled = scores / np.abs(scores).max()
    second, third, fourth = ((scaled**power).mean() for power in (2, 3, 4))
    return float(third**2 / second**3 + max(fourth / second**2 - 3.0, 0.0))


def contrast_by_person(values: Array, groups: Labels, kind: ContrastKind, persons: Labels) -> Contrast:
    """Return `contrast_of` with p by permutations of whole persons, int64 (N,), of a sum of squares between groups."""
    found = contrast_of(values, groups, kind)
    exchanges = _exchanges(persons)
    if np.isnan(found.p) or not any(rows.shape[0] > 1 for rows in exchanges):
        return Contrast()
    return _with_p(found, _scores(values, kind), groups, exchanges, BY_PERSON)


def without_permutation(test: str) -> str:
    """Return the name of a test without what is permuted."""
    return test.removesuffix(BY_PERSON).removesuffix(BY_VALUE)


def _with_p(found: Contrast, scores: Array, groups: Labels, exchanges: list[Labels], named: str) -> Contrast:
    """Return the contrast with p by permutations of the rows of each array of `exchanges`."""
    between = _SumOfSquares(scores, groups)
    observed = between.of(np.arange(groups.size))
    as_large = drawn = 0
    for order in _orders(exchanges, groups.size):
        drawn += 1
        as_large += between.of(order) >= observed * (1.0 - _ROUNDING)
        if as_large == _ENOUGH:
            break
    p = as_large / drawn if as_large == _ENOUGH else (1 + as_large) / (1 + drawn)
    return found._replace(test=found.test + named, df=np.nan, df2=np.nan, p=p)


def _exchanges(persons: Labels) -> list[Labels]:
    """Return the rows of the persons with equally many rows, (persons, rows of each); one array per number of rows."""
    order = np.argsort(persons, kind="stable")
    _, start, counts = np.unique(persons[order], return_index=True, return_counts=True)
    return [order[start[counts == count][:, None] + np.arange(count)] for count in np.unique(counts)]


def _orders(exchanges: list[Labels], n_rows: int) -> Iterator[Labels]:
    """Yield random orders of the rows, int64 (N,), in which each person has the rows of another."""
    rng = np.random.default_rng(_SEED)
    for _ in range(min(_PERMUTATIONS, max(_LEAST_PERMUTATIONS, _MOST_DRAWS // n_rows))):
        order = np.empty(n_rows, dtype=np.int64)
        for rows in exchanges:
            order[rows] = rows[rng.permutation(rows.shape[0])]
        yield order


def _scores(values: Array, kind: ContrastKind) -> Array:
    """Return the columns whose means are compared between the groups, (N, C), NaN = missing."""
    if kind == "counts":
        _, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        return np.asarray(graded([(values, True)], mid_ranks).columns / np.sqrt(counts / counts.sum()))
    column = mid_ranks(values) if kind == "rank" else values
    return (column - np.nanmean(column))[:, None]


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
