"""Search for the partition and for the outlying values. Both raise the same joint (`outlying`), in turns.

Given the outlying values, the whole search raises the joint of the values that are kept. Given the partition,
`best_outlying` raises it. Neither step removes a cluster that consists of subjects with outlying values only, because
these values are not extreme under the wide distribution of that cluster. Clusters are therefore dissolved in turn
(`dissolution`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.dissolution import Dissolution
from clinclust.engine.joint_estimates.outlying import OutlyingMask, best_outlying, without_outlying
from clinclust.engine.search.attempts import Attempts
from clinclust.engine.search.one_start import RestartResult, search_from
from clinclust.engine.search.restarts import index_of_best, run_restarts
from clinclust.engine.search.settle import SweepResult, minimum_gain, settle
from clinclust.engine.search.starts import Start

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import SearchPlan

__all__ = [
    "OutlyingResult",
    "none_outlying",
    "raise_in_turns",
    "run_outlying_restarts",
    "search_with_outlying",
]

Labels = NDArray[np.int64]

_SWEEPS_OF_A_DISSOLUTION = 20


class OutlyingResult(NamedTuple):
    """Result of a search with outlying values."""

    restarts: list[RestartResult]
    """Restarts as `run_restarts` returns them. Each log joint includes the best outlying values of its partition."""
    best: int
    """Index of the best restart. Only for this restart was the search continued in turns (`raise_in_turns`)."""
    outlying: OutlyingMask
    """(N, D) outlying values of the best restart."""
    problem: Problem
    """Problem of the values that are kept. Its log joint at the best partition is that of the best restart."""


def none_outlying(problem: Problem) -> OutlyingMask:
    """Return the mask that keeps every value, bool (N, D)."""
    return np.zeros((problem.cohort.n_subjects, len(problem.cohort.encoding.features)), dtype=np.bool_)


def search_with_outlying(problem: Problem, starts: list[Start], plan: SearchPlan) -> OutlyingResult:
    """Search from every start for the best partition and, if the plan's share is above 0, for outlying values.

    Parameters
    ----------
    problem : Problem
        Problem of all values.
    starts : list of Start
    plan : SearchPlan
    """
    outlying = none_outlying(problem)
    if plan.outlying_share == 0.0:
        restarts = run_restarts(problem, starts, plan)
        return OutlyingResult(restarts, index_of_best(restarts), outlying, problem)
    # First set aside the values that are outlying in the whole cohort as one cluster: they would mislead the search.
    together = np.zeros(problem.cohort.n_subjects, dtype=np.int64)
    outlying, _ = best_outlying(problem, together, outlying, plan.outlying_share)
    restarts, masks = run_outlying_restarts(problem, starts, outlying, plan)
    best = index_of_best(restarts)
    restarts[best], outlying = raise_in_turns(
        problem, restarts[best], masks[best], starts[0], plan, look_back=plan.look_back
    )
    return OutlyingResult(restarts, best, outlying, without_outlying(problem, outlying, plan.outlying_share))


def run_outlying_restarts(
    problem: Problem, starts: list[Start], outlying: OutlyingMask, plan: SearchPlan
) -> tuple[list[RestartResult], list[OutlyingMask]]:
    """Search from every start on the values that `outlying` keeps, then find the outlying values of each partition.

    The log joint of each restart includes its outlying values, so that restarts can be compared.

    Returns
    -------
    restarts : list of RestartResult
    masks : list of bool (N, D)
        Outlying values of each restart.
    """
    share = plan.outlying_share
    if share == 0.0:
        restarts = run_restarts(problem, starts, plan)
        return restarts, [outlying] * len(restarts)
    restarts = run_restarts(without_outlying(problem, outlying, share), starts, plan)
    found = [best_outlying(problem, restart.labels, outlying, share) for restart in restarts]
    restarts = [
        replace(restart, log_joint=joint, trace=np.append(restart.trace, joint))
        for restart, (_, joint) in zip(restarts, found, strict=True)
    ]
    return restarts, [mask for mask, _ in found]


def raise_in_turns(
    problem: Problem,
    restart: RestartResult,
    outlying: OutlyingMask,
    start: Start,
    plan: SearchPlan,
    *,
    look_back: bool,
) -> tuple[RestartResult, OutlyingMask]:
    """Raise the joint by outlying values, by the search and by dissolving clusters, in turns, until none can raise it.

    Parameters
    ----------
    problem : Problem
        Problem of all values.
    restart : RestartResult
        The restart to continue. Its log joint is that of its partition and of `outlying`.
    outlying : bool (N, D)
        Its outlying values.
    start : Start
        Its seed and its order of visits are used.
    plan : SearchPlan
    look_back : bool
        Whether to search once more with all values kept. The values of a rare and distant subtype may have been
        classified as outlying one by one.

    Returns
    -------
    restart : RestartResult
    outlying : bool (N, D)
    """
    share = plan.outlying_share
    if share == 0.0:
        return _searched_on(problem, restart, start, plan), outlying
    least = minimum_gain(problem)

    def sweep(kept: Problem, labels: Labels) -> SweepResult:
        return settle(kept, labels, start.order, _SWEEPS_OF_A_DISSOLUTION, plan.cancelled, traced=False)

    dissolved = Dissolution(problem, plan, sweep)
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
    """Return a start at these labels, with the seed and the order of visits of another start."""
    return Start("given", labels, start.seed, start.order)


def _searched_on(kept: Problem, restart: RestartResult, start: Start, plan: SearchPlan) -> RestartResult:
    """Continue the search from a restart's partition, on the values that are kept."""
    found = search_from(kept, _from(restart.labels, start), plan, Attempts())
    return replace(
        found,
        start=restart.start,
        trace=np.append(restart.trace, found.trace),
        n_sweeps=restart.n_sweeps + found.n_sweeps,
        seconds=restart.seconds + found.seconds,
    )
