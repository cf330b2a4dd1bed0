"""Missing values filled with modes, which then count as observed (Raykov et al. 2016, appendix F); for reproduction.

Three steps of the paper are repeated in turn: one sweep of the subjects in the completed table, then the update of all
filled values, each to the mode of the predictive of its feature in its subject's cluster without this value. Values are
updated one at a time, so that each update maximises the joint of the completed table over one value,

    ln p(X_obs, X_filled, z),

as each move of a sweep maximises it over one label. This joint therefore never falls (after the first sweep of the
paper's start), no cycle is possible, and the last state is the best one.

The paper begins with values drawn from the prior. Here the search begins with the mode of each feature in the whole
cohort, because a draw from a vague prior can lie far from all observed values.

Filled values are copies of one value, and a cluster takes them for evidence. The search that integrates missing values
out (`clinclust.engine.search.one_start`) is exact and does not do so.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.completed import completed
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.posterior import partition_of
from clinclust.engine.search.one_start import RestartResult
from clinclust.engine.search.settle import settle

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.attempts import Attempts
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.engine.search.starts import Start
    from clinclust.likelihoods import Likelihood

__all__ = ["LEAST_RISE", "cohort_modes", "refilled", "search_filling"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

LEAST_RISE = 1e-6
"""Rise of the joint in nats, by an update of all filled values, below which they count as unchanged.

Filled values of continuous features approach their limits, and do not reach them in a finite number of rounds.
"""


def search_filling(problem: Problem, start: Start, plan: SearchPlan, attempts: Attempts) -> RestartResult:
    """Sweep and fill in turn until nobody moves in a sweep and the filled values stay; clusters are never divided.

    Parameters
    ----------
    problem : Problem
        With its missing values.
    start : Start
    plan : SearchPlan
        `max_sweeps` is the largest number of rounds, each of one sweep and one update of the filled values.
    attempts : Attempts
        Not used: whole clusters are neither divided nor merged.

    Returns
    -------
    RestartResult
        Its log joint and trace, with one value for each round, are those of the completed table.
    """
    began = time.perf_counter()
    labels, filled = start.labels, cohort_modes(problem)
    table = completed(problem, filled)
    trace: list[float] = []
    converged, ignore_size = False, start.ignore_size
    while not converged and len(trace) < plan.max_sweeps and not plan.cancelled.is_set():
        swept = settle(table, labels, start.order, 1, plan.cancelled, ignore_size=ignore_size)
        if not swept.trace:
            break  # cancelled before the sweep
        labels, ignore_size = swept.partition.labels, False
        filled = refilled(problem, labels, filled)
        table = completed(problem, filled)
        trace.append(log_joint(table, partition_of(table, labels)))
        converged = swept.converged and trace[-1] - swept.trace[-1] <= LEAST_RISE
    trace = trace or [log_joint(table, partition_of(table, labels))]
    return RestartResult(
        start=start.name,
        labels=labels,
        log_joint=trace[-1],
        trace=np.array(trace),
        n_sweeps=len(trace),
        converged=converged,
        seconds=time.perf_counter() - began,
    )


def cohort_modes(problem: Problem) -> Array:
    """Return the mode of each feature in the whole cohort where it is missing, float64 (N, D), else NaN.

    Values are standardised, but are not yet in the form that the compiled functions read.
    """
    arrays = problem.cohort.arrays
    missing = np.hstack([arrays.codes == 0, np.isnan(arrays.values)])
    sums = new_partition(arrays, np.zeros(problem.cohort.n_subjects, dtype=np.int64)).statistics[0]
    filled = np.full(missing.shape, np.nan)
    for feature, likelihood in enumerate(problem.cohort.encoding.likelihoods):
        if missing[:, feature].any():
            theta, observed = _of_feature(problem, feature, sums)
            filled[missing[:, feature], feature] = likelihood.mode(likelihood.prior.posterior(theta, observed))
    return filled


def refilled(problem: Problem, labels: Labels, filled: Array) -> Array:
    """Return the filled values, float64 (N, D), after each was set once to its mode in its subject's cluster.

    Parameters
    ----------
    problem : Problem
        With its missing values.
    labels : int64 (N,)
        Clusters 0 .. K - 1.
    filled : float64 (N, D)
        As in `cohort_modes`; NaN where a value is observed.
    """
    statistics = new_partition(problem.cohort.arrays, labels).statistics
    changed = filled.copy()
    for feature, likelihood in enumerate(problem.cohort.encoding.likelihoods):
        rows = np.flatnonzero(~np.isnan(filled[:, feature]))
        for cluster in np.unique(labels[rows]):
            members = rows[labels[rows] == cluster]
            theta, observed = _of_feature(problem, feature, statistics[cluster])
            changed[members, feature] = _one_at_a_time(likelihood, theta, observed, filled[members, feature])
    return changed


def _of_feature(problem: Problem, feature: int, sums: Array) -> tuple[Array, Array]:
    """Return the hyperparameters (P,) of a feature, and its part of the sufficient statistics (S,) of a cluster."""
    arrays = problem.cohort.arrays
    theta = problem.model.prior[arrays.prior_start[feature] : arrays.prior_start[feature + 1]]
    return theta, sums[arrays.statistic_start[feature] : arrays.statistic_start[feature + 1]]


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
