"""The problem of a table whose missing values were filled, so that they count as observed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.encoding import starts

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.likelihoods import Likelihood

__all__ = ["completed"]

Array = NDArray[np.float64]


class _Levels(NamedTuple):
    """The table rows of a discrete feature in the completed table."""

    codes: NDArray[np.int64]
    """(N,) the level of each subject, counted from 0; -1 = still missing."""
    values: Array
    """(L,) the levels, observed and filled."""
    statistics: Array
    """(L, 2) as `CohortArrays.level_statistics`."""
    log_base: Array
    """(L,)"""


def completed(problem: Problem, filled: Array) -> Problem:
    """Return the problem of the same subjects with filled values, float64 (N, D); NaN where there is none.

    Its log joint is that of the observed and the filled values. A filled value that nobody was observed to have becomes
    a level of its feature.

    Parameters
    ----------
    problem : Problem
    filled : float64 (N, D)
        Standardised values of the encoded features. Where a value is observed, it must be NaN.
    """
    if np.isnan(filled).all():
        return problem
    cohort, arrays, powers = problem.cohort, problem.cohort.arrays, problem.model.powers
    n_table, likelihoods = arrays.codes.shape[1], problem.cohort.encoding.likelihoods
    levels = [_levels(problem, feature, filled[:, feature]) for feature in range(n_table)]
    level_start = 1 + starts([found.values.size for found in levels])
    codes = np.empty_like(arrays.codes)
    log_base, values = cohort.log_base, arrays.values.copy()
    for feature, found in enumerate(levels):
        codes[:, feature] = np.where(found.codes < 0, 0, found.codes + level_start[feature])
        log_base += float(powers[feature] * found.log_base[found.codes[~np.isnan(filled[:, feature])]].sum())
    for feature in range(n_table, len(likelihoods)):
        rows = np.flatnonzero(~np.isnan(filled[:, feature]))
        own, theta = filled[rows, feature], _prior_of(problem, feature)
        values[rows, feature - n_table] = likelihoods[feature].encoded(own)
        added = likelihoods[feature].log_base_measure(own, theta).sum() - rows.size * np.log(
            cohort.encoding.scales[feature]
        )
        log_base += float(powers[feature] * added)
    arrays = arrays._replace(
        codes=codes,
        values=values,
        level_start=level_start,
        level_values=np.concatenate([arrays.level_values[:1], *(found.values for found in levels)]),
        level_statistics=np.concatenate([arrays.level_statistics[:1], *(found.statistics for found in levels)]),
        level_log_base=np.concatenate([arrays.level_log_base[:1], *(found.log_base for found in levels)]),
    )
    return replace(problem, cohort=replace(cohort, arrays=arrays, log_base=log_base))


def _levels(problem: Problem, feature: int, filled: Array) -> _Levels:
    """Return the levels of a discrete feature with those of its filled values, float64 (N,), and who has which."""
    arrays, likelihood = problem.cohort.arrays, problem.cohort.encoding.likelihoods[feature]
    old = slice(arrays.level_start[feature], arrays.level_start[feature + 1])
    known, is_filled = arrays.level_values[old], ~np.isnan(filled)
    values = np.union1d(known, filled[is_filled])
    codes = arrays.codes[:, feature].astype(np.int64) - arrays.level_start[feature]
    codes[arrays.codes[:, feature] == 0] = -1
    is_observed = codes >= 0
    codes[is_observed] = np.searchsorted(values, known)[codes[is_observed]]
    codes[is_filled] = np.searchsorted(values, filled[is_filled])
    if values.size == known.size:
        return _Levels(codes, known, arrays.level_statistics[old], arrays.level_log_base[old])
    log_base = likelihood.log_base_measure(values, _prior_of(problem, feature))
    return _Levels(codes, values, _level_statistics(likelihood, values), log_base)


def _level_statistics(likelihood: Likelihood, values: Array) -> Array:
    return np.zeros((values.size, 2)) if likelihood.counts_levels else likelihood.statistics(values)


def _prior_of(problem: Problem, feature: int) -> Array:
    arrays = problem.cohort.arrays
    return problem.model.prior[arrays.prior_start[feature] : arrays.prior_start[feature + 1]]
