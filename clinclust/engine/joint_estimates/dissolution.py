"""Dissolving clusters that consist of subjects with outlying values only.

The members of a cluster move to the other clusters, and the outlying values are found again. The result is kept if the
joint is higher.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.outlying import OutlyingMask, best_elsewhere, best_outlying, without_outlying
from clinclust.engine.search.labels import compact
from clinclust.engine.search.one_start import RestartResult
from clinclust.engine.search.settle import SweepResult, minimum_gain

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import SearchPlan

__all__ = ["Dissolution"]

Labels = NDArray[np.int64]

_ROUNDS = 4
"""Largest number of turns of outlying values and sweeps after the members of a cluster have moved."""


class Dissolution:
    """Dissolves clusters, the smallest first, as long as this raises the joint.

    It remembers where no cluster could be dissolved, because the searches in between often change nothing.

    Parameters
    ----------
    problem : Problem
        Problem of all values.
    plan : SearchPlan
    sweep : callable
        Takes the problem of the values that are kept and labels; moves subjects while this raises the joint.
    largest : float
        Size above which no cluster is dissolved.
    """

    def __init__(
        self,
        problem: Problem,
        plan: SearchPlan,
        sweep: Callable[[Problem, Labels], SweepResult],
        largest: float = np.inf,
    ) -> None:
        self._problem, self._plan, self._sweep, self._largest = problem, plan, sweep, largest
        self._least = minimum_gain(problem)
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
                restart = replace(restart, labels=labels, log_joint=joint, trace=np.append(restart.trace, joint))
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

        A turn whose sweep gains nothing is the last, and so is one whose sweep gains less than what is still missing to
        the joint of the restart: later turns gain a fraction of the first.

        Returns
        -------
        labels : int64 (N,)
        outlying : bool (N, D)
        log_joint : float
        """
        problem, share = self._problem, self._plan.outlying_share
        labels = best_elsewhere(problem, restart.labels, outlying, share, cluster)
        joint = -np.inf
        for _ in range(_ROUNDS):
            outlying, before = best_outlying(problem, labels, outlying, share)
            settled = self._sweep(without_outlying(problem, outlying, share), labels)
            labels = compact(settled.partition.labels)
            joint = settled.trace[-1] if settled.trace else -np.inf
            if joint - before <= max(self._least, restart.log_joint - joint):
                break
        return labels, outlying, joint
