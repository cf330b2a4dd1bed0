"""Search for the partition and for the outlying values. Both raise the same joint (`outlying`), in turns.

Clusters of subjects with outlying values, which are not extreme under their wide distribution, are dissolved in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Labels
from clinclust.engine.joint_estimates.outlying import OutlyingMask, best_elsewhere, best_outlying, without_outlying
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import compact
from clinclust.engine.search.one_start import Attempts, search_from
from clinclust.engine.search.plan import RestartResult, SearchPlan
from clinclust.engine.search.restarts import index_of_best, run_restarts
from clinclust.engine.search.settle import SweepResult, minimum_gain, settle
from clinclust.engine.search.starts import Start

ROUNDS = 4
"""Largest number of turns of outlying values and sweeps after the members of a cluster have moved."""
_SWEEPS_OF_A_DISSOLUTION = 20
SEEN_IN_SAMPLE = 30
"""Number of members in the sample of a large cohort from which on a cluster counts as shown by it."""


class Dissolution:
    """Dissolves clusters up to a size, the smallest first, while this raises the joint; remembers where none could."""

    def __init__(
        self,
        problem: Problem,
        plan: SearchPlan,
        sweep: Callable[[Problem, Labels], SweepResult],
        least: float,
        largest: float = np.inf,
    ) -> None:
        self._problem, self._plan, self._sweep, self._least, self._largest = problem, plan, sweep, least, largest
        self._ended: list[tuple[Labels, OutlyingMask]] = []

    def __call__(self, restart: RestartResult, outlying: OutlyingMask) -> tuple[RestartResult, OutlyingMask]:
        """Return the restart and its mask after all dissolutions that raise the joint."""
        if self._has_ended_at(restart.labels, outlying):
            return restart, outlying
        cluster, order = 0, self._by_size(restart.labels)
        while cluster < order.size and restart.labels.max() > 0 and not self._plan.budget.used_up():
            labels, its_outlying, joint = self._without(int(order[cluster]), restart, outlying)
            cluster += 1
            if joint > restart.log_joint + self._least:
                restart = restart.raised_to(joint, labels)
                outlying = its_outlying
                cluster, order = 0, self._by_size(labels)
        self._ended.append((restart.labels, outlying))
        return restart, outlying

    def _has_ended_at(self, labels: Labels, outlying: OutlyingMask) -> bool:
        return any(np.array_equal(labels, at) and np.array_equal(outlying, mask) for at, mask in self._ended)

    def _by_size(self, labels: Labels) -> NDArray[np.intp]:
        """Return the clusters that may be dissolved, the smallest first."""
        sizes = np.bincount(labels)
        order = np.argsort(sizes, kind="stable")
        return order[sizes[order] <= self._largest]

    def _without(
        self, cluster: int, restart: RestartResult, outlying: OutlyingMask
    ) -> tuple[Labels, OutlyingMask, float]:
        """Move the members of a cluster elsewhere, then find outlying values and sweep, in turns.

        A turn is the last if its sweep gains less than is missing to the joint of the restart. Return labels, mask, log
        joint.
        """
        problem, share = self._problem, self._plan.outlying_share
        labels = best_elsewhere(problem, restart.labels, outlying, share, cluster)
        joint = -np.inf
        for _ in range(ROUNDS):
            outlying, before = best_outlying(problem, labels, outlying, share)
            settled = self._sweep(without_outlying(problem, outlying, share), labels)
            labels = compact(settled.partition.labels)
            joint = settled.trace[-1] if settled.trace else -np.inf
            if joint - before <= max(self._least, restart.log_joint - joint):
                break
        return labels, outlying, joint


class OutlyingResult(NamedTuple):
    """Result of a search with outlying values."""

    restarts: list[RestartResult]
    """Restarts as of `run_restarts`, each with the best outlying values of its partition in its log joint."""
    best: int
    """Index of the best restart, the only one continued in turns (`raise_in_turns`)."""
    outlying: OutlyingMask
    """(N, D) outlying values of the best restart."""
    problem: Problem
    """Problem of the values that are kept in the best restart."""


def none_outlying(problem: Problem) -> OutlyingMask:
    """Return the mask that keeps every value, bool (N, D)."""
    return np.zeros((problem.cohort.n_subjects, len(problem.cohort.encoding.features)), dtype=np.bool_)


def outlying_together(problem: Problem, share: float) -> OutlyingMask:
    """Return the values that are outlying in the whole cohort as one cluster: they would mislead a first search."""
    return best_outlying(problem, problem.cohort.together, none_outlying(problem), share)[0]


def search_with_outlying(problem: Problem, starts: list[Start], plan: SearchPlan) -> OutlyingResult:
    """Search from every start for the best partition and, if the plan's share is above 0, for outlying values."""
    if plan.outlying_share == 0.0:
        restarts = run_restarts(problem, starts, plan)
        return OutlyingResult(restarts, index_of_best(restarts), none_outlying(problem), problem)
    outlying = outlying_together(problem, plan.outlying_share)
    restarts, masks = run_outlying_restarts(problem, starts, outlying, plan)
    best = index_of_best(restarts)
    given = problem, restarts[best], masks[best], starts[0], plan
    restarts[best], outlying = raise_in_turns(*given, look_back=plan.look_back)
    return OutlyingResult(restarts, best, outlying, without_outlying(problem, outlying, plan.outlying_share))


def run_outlying_restarts(
    problem: Problem, starts: list[Start], outlying: OutlyingMask, plan: SearchPlan
) -> tuple[list[RestartResult], list[OutlyingMask]]:
    """Search from every start on the values that are kept; return restarts with outlying values, and their masks."""
    share = plan.outlying_share
    if share == 0.0:
        restarts = run_restarts(problem, starts, plan)
        return restarts, [outlying] * len(restarts)
    restarts = run_restarts(without_outlying(problem, outlying, share), starts, plan)
    found = [best_outlying(problem, restart.labels, outlying, share) for restart in restarts]
    restarts = [restart.raised_to(joint) for restart, (_, joint) in zip(restarts, found, strict=True)]
    return restarts, [mask for mask, _ in found]


def raise_in_turns(
    problem: Problem, restart: RestartResult, outlying: OutlyingMask, start: Start, plan: SearchPlan, *, look_back: bool
) -> tuple[RestartResult, OutlyingMask]:
    """Raise the joint by outlying values, by the search and by dissolving clusters, in turns, until none can raise it.

    The seed and the order of visits are those of `start`. `look_back` searches once more with all values kept: those of
    a rare and distant subtype may have been classified as outlying one by one.
    """
    share = plan.outlying_share
    if share == 0.0:
        return _searched_on(problem, restart, start, plan), outlying
    least = minimum_gain(problem)

    def sweep(kept: Problem, labels: Labels) -> SweepResult:
        return settle(kept, labels, start.order, _SWEEPS_OF_A_DISSOLUTION, plan.cancelled, traced=False)

    dissolved = Dissolution(problem, plan, sweep, least)
    while True:
        before = restart.log_joint
        outlying, _ = best_outlying(problem, restart.labels, outlying, share)
        restart = _searched_on(without_outlying(problem, outlying, share), restart, start, plan)
        if plan.budget.used_up():
            return restart, outlying
        restart, outlying = dissolved(restart, outlying)
        if restart.log_joint > before + least:
            continue
        if not look_back:
            return restart, outlying
        look_back = False
        whole = search_from(problem, _from(restart.labels, start), plan, Attempts())
        again, joint = best_outlying(problem, whole.labels, none_outlying(problem), share)
        found = replace(restart, labels=whole.labels, log_joint=joint)
        other, its_outlying = dissolved(found, again)
        if other.log_joint > restart.log_joint + least:
            trace = np.append(restart.trace, other.log_joint)
            restart, outlying = replace(other, trace=trace), its_outlying


def _from(labels: Labels, start: Start) -> Start:
    return Start("given", labels, start.seed, start.order)


def _searched_on(kept: Problem, restart: RestartResult, start: Start, plan: SearchPlan) -> RestartResult:
    """Continue the search from a restart's partition, on the values that are kept."""
    return restart.followed_by(search_from(kept, _from(restart.labels, start), plan, Attempts()))
