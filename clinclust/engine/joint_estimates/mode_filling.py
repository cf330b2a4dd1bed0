"""Missing values filled with modes, which then count as observed (Raykov et al. 2016, appendix F); for reproduction.

Sweeps and updates of all filled values raise ln p(X_obs, X_filled, z) in turn, from the modes in the whole cohort on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels, Whole
from clinclust.engine.problem.encoding import starts
from clinclust.engine.problem.problem import Problem, joint_of
from clinclust.engine.search.plan import RestartResult, SearchPlan
from clinclust.engine.search.restarts import Attempts, Start
from clinclust.engine.search.settle import settle
from clinclust.likelihoods import Likelihood

_LEAST_RISE = 1e-6
"""Rise of the joint in nats, by an update of all filled values, below which they count as unchanged."""


def search_filling(problem: Problem, start: Start, plan: SearchPlan, attempts: Attempts) -> RestartResult:
    """Sweep and fill in turn until nothing changes; log joints are those of the completed table."""
    labels, filled = start.labels, _cohort_modes(problem)
    table = completed(problem, filled)
    trace: list[float] = []
    converged, ignore_size = False, start.begin == "single"
    while not converged and len(trace) < plan.max_sweeps and not plan.cancelled.is_set():
        swept = settle(table, labels, start.order, 1, plan.cancelled, ignore_size=ignore_size)
        if not swept.trace:
            break  # cancelled before the sweep
        labels, ignore_size = swept.partition.labels, False
        filled = _refilled(problem, labels, filled)
        table = completed(problem, filled)
        trace.append(joint_of(table, labels))
        converged = swept.converged and trace[-1] - swept.trace[-1] <= _LEAST_RISE
    trace = trace or [joint_of(table, labels)]
    return RestartResult.of(start.name, labels, trace, converged=converged)


def _cohort_modes(problem: Problem) -> Array:
    """Return the standardised mode of each feature in the cohort where it is missing, float64 (N, D), else NaN."""
    arrays = problem.cohort.arrays
    missing = np.hstack([arrays.codes == 0, np.isnan(arrays.values)])
    sums = problem.partition(problem.cohort.together).statistics[0]
    filled = np.full(missing.shape, np.nan)
    for feature, likelihood in enumerate(problem.cohort.encoding.likelihoods):
        if missing[:, feature].any():
            theta, observed = problem.cohort.encoding.part(feature, problem.model.prior, sums)
            filled[missing[:, feature], feature] = likelihood.mode(likelihood.prior.posterior(theta, observed))
    return filled


def _refilled(problem: Problem, labels: Labels, filled: Array) -> Array:
    """Return the filled values, float64 (N, D), after each was set once to its mode in its subject's cluster."""
    statistics = problem.partition(labels).statistics
    changed = filled.copy()
    for feature, likelihood in enumerate(problem.cohort.encoding.likelihoods):
        rows = np.flatnonzero(~np.isnan(filled[:, feature]))
        for cluster in np.unique(labels[rows]):
            members = rows[labels[rows] == cluster]
            theta, observed = problem.cohort.encoding.part(feature, problem.model.prior, statistics[cluster])
            changed[members, feature] = _one_at_a_time(likelihood, theta, observed, filled[members, feature])
    return changed


def _one_at_a_time(likelihood: Likelihood, theta: Array, observed: Array, values: Array) -> Array:
    """Return the filled values (m,) of one feature in one cluster after each was set to its mode given all others.

    `observed` are the sufficient statistics (S,) of the observed values of the cluster.
    """
    changed = values.copy()
    of_each = likelihood.statistics(values)
    sums = observed + of_each.sum(axis=0)
    modes: dict[float, float] = {}  # by the value that is left out: equal values have equal modes until one changes
    for place, value in enumerate(values.tolist()):
        if value not in modes:
            modes[value] = likelihood.mode(likelihood.prior.posterior(theta, sums - of_each[place]))
        if modes[value] != value:
            changed[place] = modes[value]
            sums = sums - of_each[place] + likelihood.statistics(changed[place : place + 1])[0]
            modes.clear()
    return changed


def completed(problem: Problem, filled: Array) -> Problem:
    """Return the problem of the same subjects with filled standardised values, float64 (N, D); NaN where there is none.

    A filled value that was not observed becomes a level of its feature.
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
        own, theta = filled[rows, feature], problem.cohort.encoding.theta(feature, problem.model.prior)
        values[rows, feature - n_table] = likelihoods[feature].encoded(own)
        added = likelihoods[feature].log_base_measure(own, theta).sum()
        added -= rows.size * np.log(cohort.encoding.scales[feature])
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


class _Levels(NamedTuple):
    """The table rows of a discrete feature in the completed table."""

    codes: Whole
    """(N,) the level of each subject, counted from 0; -1 = still missing."""
    values: Array
    """(L,) the levels, observed and filled."""
    statistics: Array
    """(L, 2) as `CohortArrays.level_statistics`."""
    log_base: Array
    """(L,)"""


def _levels(problem: Problem, feature: int, filled: Array) -> _Levels:
    """Return the levels of a discrete feature with those of its filled values, float64 (N,), and who has which."""
    arrays, likelihood = problem.cohort.arrays, problem.cohort.encoding.likelihoods[feature]
    old = slice(arrays.level_start[feature], arrays.level_start[feature + 1])
    present, is_filled = arrays.level_values[old], ~np.isnan(filled)
    values = np.union1d(present, filled[is_filled])
    codes = arrays.codes[:, feature].astype(np.int64) - arrays.level_start[feature]
    codes[arrays.codes[:, feature] == 0] = -1
    is_observed = codes >= 0
    codes[is_observed] = np.searchsorted(values, present)[codes[is_observed]]
    codes[is_filled] = np.searchsorted(values, filled[is_filled])
    if values.size == present.size:
        return _Levels(codes, present, arrays.level_statistics[old], arrays.level_log_base[old])
    log_base = likelihood.log_base_measure(values, problem.cohort.encoding.theta(feature, problem.model.prior))
    counted = np.zeros((values.size, 2)) if likelihood.counts_levels else likelihood.statistics(values)
    return _Levels(codes, values, counted, log_base)
