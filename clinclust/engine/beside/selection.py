"""Feature selection: which features differ between the clusters, found together with the clusters.

Inclusion gamma_d is a variable of the model: an included feature has its own distribution in every cluster, one left
out has the same for everybody.

    ln p(X_obs, z, gamma) = ln p(z) + ln p(gamma)
        + coarsening * sum_d [gamma_d sum_k ln m_d(x_kd) + (1 - gamma_d) ln m_d(x_d, all subjects together)]
    ln p(gamma)           = ln B(1 + n, 1 + D - n),   n = sum_d gamma_d

The prior of gamma is that of D draws with one unknown chance, uniform on [0, 1] (Scott and Berger 2010, *Bayes and
empirical-Bayes multiplicity adjustment in the variable-selection problem*): the more features were tried and found
irrelevant, the more a further one must show.

Given z the best gamma is in closed form; given gamma the joint of z is that of a cohort with the included features
only. Each step maximises the same joint over one of them, so that it never falls.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from clinclust.engine.beside.dependence import mutual_dependence
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import feature_relevance
from clinclust.engine.search.attempts import Attempts
from clinclust.engine.search.one_start import RestartResult, search_from
from clinclust.engine.search.restarts import run_restarts
from clinclust.engine.search.settle import minimum_gain

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.engine.search.starts import Start

__all__ = ["SelectingSearch", "best_inclusion", "log_inclusion", "run_selecting_restarts"]

Array = NDArray[np.float64]
Included = NDArray[np.bool_]

# With how many of the features that depend most on others random partitions begin, taken in turn. Few are free of
# irrelevant ones; many lose no subtype that only some features show.
_N_DEPENDENT = (10, 20, 5, 40)


def log_inclusion(n_included: int, n_features: int) -> float:
    """Return ln p(gamma) = ln B(1 + n, 1 + D - n) of any gamma that includes n of D features."""
    return float(betaln(1.0 + n_included, 1.0 + n_features - n_included))


def best_inclusion(problem: Problem, labels: NDArray[np.int64]) -> Included:
    """Return the gamma of highest joint given the partition with these labels (0 .. K - 1), bool (D,).

    ln p(gamma) depends on the number of included features alone, and whatever the number, those of largest relevance
    are the best. Of numbers that are equally good the smallest is taken.
    """
    return _best(problem.model.coarsening * _relevance(problem, labels))


def _relevance(problem: Problem, labels: NDArray[np.int64]) -> Array:
    return feature_relevance(problem, new_partition(problem.cohort.arrays, labels))


def _best(gains: Array) -> Included:
    order = np.argsort(-gains, kind="stable")
    numbers = np.arange(gains.size + 1)
    joint = np.concatenate([[0.0], np.cumsum(gains[order])])
    joint += betaln(1.0 + numbers, 1.0 + gains.size - numbers)
    included = np.zeros(gains.size, dtype=np.bool_)
    # Rounding alone must not tell apart what is equally good: everything and nothing, when there is one cluster.
    included[order[: int(np.flatnonzero(joint >= joint.max() - 1e-9)[0])]] = True
    return included


def run_selecting_restarts(problem: Problem, starts: list[Start], plan: SearchPlan) -> list[RestartResult]:
    """Search from every start and select features, as `run_restarts` does without selection.

    From a random partition and all features, hundreds of irrelevant ones drown the others. So the first half of the
    random partitions begins with the features that depend most on others, and the second half with those that differ
    between the clusters of the best restart so far.
    """

    def second_half(starts: list[Start], found: list[RestartResult]) -> list[Start]:
        best = max(found, key=lambda restart: restart.log_joint)
        return _relevant(problem, starts, best.labels)

    return run_restarts(problem, _dependent(problem, starts), plan, search=SelectingSearch(), second_half=second_half)


def _dependent(problem: Problem, starts: list[Start]) -> list[Start]:
    """Return the starts with the features to begin with.

    Those from a random partition get the features that depend most on others; given partitions those that differ
    between their clusters; and one cluster that holds everybody all features.
    """
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


def _relevant(problem: Problem, starts: list[Start], labels: NDArray[np.int64]) -> list[Start]:
    """Return the starts, those from a random partition with the features that differ between these clusters.

    Every feature of positive relevance, even where ln p(gamma) leaves it out: a partition that is not yet the best
    shows less of a feature than there is.
    """
    relevant = _relevance(problem, labels) > 0.0
    if not relevant.any():
        return starts
    return [
        start._replace(name=f"{start.name.partition(',')[0]}, {relevant.sum()} features", included=relevant)
        if start.hasten
        else start
        for start in starts
    ]


class SelectingSearch:
    """`search_from` in which features are selected as well; for `run_restarts`, in the place of `search_from`."""

    def __init__(self) -> None:
        # Clusters that cannot be divided with profit on some features may well be divided on others.
        self._attempts: dict[bytes, Attempts] = {}

    def __call__(self, problem: Problem, start: Start, plan: SearchPlan, attempts: Attempts) -> RestartResult:
        """Search the partition and select features by turns, until neither raises the joint."""
        began = time.perf_counter()
        n_features = len(problem.cohort.encoding.features)
        included = np.ones(n_features, dtype=np.bool_) if start.included is None else start.included
        traces: list[Array] = []
        while True:
            shared = self._attempts.setdefault(included.tobytes(), Attempts())
            found = search_from(problem.with_features(included), start, plan, shared)
            log_prior = log_inclusion(int(included.sum()), included.size)
            traces.append(found.trace + log_prior)
            gains = problem.model.coarsening * _relevance(problem, found.labels)
            better = _best(gains)
            gain = float(gains[better].sum() - gains[included].sum()) - log_prior
            gain += log_inclusion(int(better.sum()), included.size)
            if gain <= minimum_gain(problem) or not found.converged or plan.cancelled.is_set():
                break
            included = better
            start = start._replace(labels=found.labels, hasten=False, seating=False, bisecting=False, ignore_size=False)
        trace = np.concatenate(traces)
        return replace(
            found,
            log_joint=float(trace[-1]),
            trace=trace,
            n_sweeps=trace.size,
            seconds=time.perf_counter() - began,
            # Between one cluster and itself no feature differs.
            included=included if found.labels.max() > 0 else np.zeros_like(included),
        )
