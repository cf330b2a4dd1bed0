"""Feature selection: the features that differ between the clusters are found together with the clusters.

An included feature (gamma_d = 1) has one distribution for each cluster; an excluded one has the same for all subjects.

    ln p(X_obs, z, gamma) = ln p(z) + ln p(gamma)
        + coarsening * sum_d power_d [gamma_d sum_k ln m_d(x_kd) + (1 - gamma_d) ln m_d(x_d, all subjects together)]
    ln p(gamma)           = ln B(1 + n, 1 + D - n),   n = sum_d gamma_d

(Scott and Berger 2010, *Bayes and empirical-Bayes multiplicity adjustment in the variable-selection problem*). Steps in
z and in gamma raise the same joint.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import numpy as np
from scipy.special import betaln

from clinclust.arrays import Array, Labels, Mask
from clinclust.engine.kernels.partition import CohortArrays
from clinclust.engine.problem.numeric_columns import encoded_columns
from clinclust.engine.problem.objective import feature_relevance
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.one_start import Attempts, search_from
from clinclust.engine.search.plan import Either, RestartResult, SearchPlan
from clinclust.engine.search.restarts import run_restarts
from clinclust.engine.search.settle import minimum_gain
from clinclust.engine.search.starts import Start
from clinclust.graded import Graded, graded, paired_moments, whole_ranks

# Numbers of features with which random partitions begin, taken in turn: the features that depend most on others. A
# small number excludes irrelevant features; a large number also keeps subtypes that only a few features show.
_N_DEPENDENT = (10, 20, 5, 40)
_FEATURES_AT_ONCE = 512


class SelectingSearch:
    """`search_from` with feature selection. `run_restarts` takes it as its `search`."""

    def __init__(self) -> None:
        # Attempts are kept by the included features: a division that fails on some features may succeed on others.
        self._attempts: dict[bytes, Attempts] = {}

    def __call__(self, problem: Problem, start: Start, plan: SearchPlan, attempts: Attempts) -> RestartResult:
        """Search for the partition and select features, in turns, until neither raises the joint."""
        n_features = len(problem.cohort.encoding.features)
        included = np.ones(n_features, dtype=np.bool_) if start.included is None else start.included
        traces: list[Array] = []
        enough = Either(plan.cancelled, plan.budget)
        while True:
            shared = self._attempts.setdefault(included.tobytes(), Attempts())
            found = search_from(problem.with_features(included), start, plan, shared)
            log_prior = log_inclusion(int(included.sum()), included.size)
            traces.append(found.trace + log_prior)
            gains = problem.model.exponents * _relevance(problem, found.labels)
            better = _best(gains)
            gain = float(gains[better].sum() - gains[included].sum()) - log_prior
            gain += log_inclusion(int(better.sum()), included.size)
            if gain <= minimum_gain(problem) or not found.converged or enough.is_set():
                break
            included = better
            start = start._replace(labels=found.labels, hasten=False, seating=False, bisecting=False, ignore_size=False)
        trace = np.concatenate(traces)
        return replace(
            found,
            log_joint=float(trace[-1]),
            trace=trace,
            n_sweeps=trace.size,
            # With one cluster, no feature differs between clusters.
            included=included if found.labels.max() > 0 else np.zeros_like(included),
        )


def log_inclusion(n_included: int, n_features: int) -> float:
    """Return ln p(gamma) = ln B(1 + n, 1 + D - n) of a gamma that includes n of D features."""
    return float(betaln(1.0 + n_included, 1.0 + n_features - n_included))


def best_inclusion(problem: Problem, labels: Labels) -> Mask:
    """Return the gamma with the highest joint given the partition with these labels (0 .. K - 1), bool (D,).

    For each number of features, those with the largest relevance are best; of equal joints, the smallest number.
    """
    return _best(problem.model.exponents * _relevance(problem, labels))


def _relevance(problem: Problem, labels: Labels) -> Array:
    return feature_relevance(problem, problem.partition(labels))


def _best(gains: Array) -> Mask:
    order = np.argsort(-gains, kind="stable")
    numbers = np.arange(gains.size + 1)
    joint = np.concatenate([[0.0], np.cumsum(gains[order])])
    joint += betaln(1.0 + numbers, 1.0 + gains.size - numbers)
    included = np.zeros(gains.size, dtype=np.bool_)
    # Rounding must not decide between equal joints: with one cluster, all features and no feature have the same joint.
    included[order[: int(np.flatnonzero(joint >= joint.max() - 1e-9)[0])]] = True
    return included


def run_selecting_restarts(problem: Problem, starts: list[Start], plan: SearchPlan) -> list[RestartResult]:
    """Search from every start and select features; otherwise like `run_restarts`.

    So that irrelevant features do not dominate, random partitions begin with the features that depend most on others,
    and in the second half of the starts with those that differ between the clusters of the best restart so far.
    """

    def second_half(starts: list[Start], found: list[RestartResult]) -> list[Start]:
        best = max(found, key=lambda restart: restart.log_joint)
        return _relevant(problem, starts, best.labels)

    return run_restarts(problem, _dependent(problem, starts), plan, search=SelectingSearch(), second_half=second_half)


def _dependent(problem: Problem, starts: list[Start]) -> list[Start]:
    """Return the starts with the features to begin with: of random partitions, those that depend most on others."""
    ranked = np.argsort(-mutual_dependence(problem.cohort.arrays), kind="stable")
    sizes = cycle(_N_DEPENDENT)
    prepared = []
    for start in starts:
        if start.hasten:
            included = np.zeros(ranked.size, dtype=np.bool_)
            included[ranked[: next(sizes)]] = True
            name = f"{start.name}, {included.sum()} features"
            prepared.append(start._replace(name=name, included=included))
        elif start.labels.max() > 0:
            prepared.append(start._replace(included=best_inclusion(problem, start.labels)))
        else:
            prepared.append(start)
    return prepared


def _relevant(problem: Problem, starts: list[Start], labels: Labels) -> list[Start]:
    """Return the starts, where random partitions begin with the features that differ between the given clusters."""
    # Not only those that ln p(gamma) includes: a partition that is not yet the best underestimates relevance.
    relevant = _relevance(problem, labels) > 0.0
    if not relevant.any():
        return starts
    return [
        start._replace(name=f"{start.name.partition(',')[0]}, {relevant.sum()} features", included=relevant)
        if start.hasten
        else start
        for start in starts
    ]


def mutual_dependence(cohort: CohortArrays) -> Array:
    """Return the evidence that each feature depends on others in the whole cohort, float64 (D,), at least 0.

    With r the correlation of ranks over n subjects, n r^2 is about chi-squared with one degree of freedom under
    independence. The evidence is the sum over the other features of max(n r^2 - 2 ln D, 0). The n r^2 of the indicators
    of a nominal feature are summed with weights (1 - p) / (L - 1), with p the frequency of the level: Pearson's chi-
    squared divided by its degrees of freedom.
    """
    n_features = cohort.kinds.size
    bound = 2.0 * np.log(max(n_features, 2))
    scores = np.zeros(n_features)
    columns = graded(encoded_columns(cohort), whole_ranks)
    for first in range(0, n_features, _FEATURES_AT_ONCE):
        last = min(first + _FEATURES_AT_ONCE, n_features)
        scores[first:last] = np.maximum(_between(columns, first, last) - bound, 0.0).sum(axis=1)
    return scores


def _between(columns: Graded, first: int, last: int) -> Array:
    """Return the dependence of features first .. last - 1 on all features, float64 (last - first, D)."""
    table, weights, owners = columns
    mine = (owners >= first) & (owners < last)
    n, covariance, own_variance, other_variance = paired_moments(table[:, mine], table)
    varying = np.minimum(own_variance, other_variance) > 1e-9
    squared = np.where(varying, n * covariance**2 / np.where(varying, own_variance * other_variance, 1.0), 0.0)
    squared *= weights[mine, None] * weights
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    between = np.add.reduceat(squared, starts, axis=1)
    between = np.add.reduceat(between, np.flatnonzero(np.diff(owners[mine], prepend=-1)), axis=0)
    between[np.arange(last - first), np.arange(first, last)] = 0.0
    return np.asarray(between, dtype=np.float64)
