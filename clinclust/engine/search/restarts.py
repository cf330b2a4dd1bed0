"""Restarts from different starts, then refinement of the best partitions.

Restarts stop when the best partition has been found often enough. The best partitions are then recombined in pairs, and
the leading ones are perturbed as long as this leads to better partitions (`refine`). The results of all searches are
kept, because partitions whose log joints differ by a few nats are about equally good.

Searches run in batches on threads. The searches of a batch depend only on the results of earlier batches, so the number
of threads does not change the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from clinclust.engine.search.one_start import Attempts, RestartResult, continued, search_from
from clinclust.engine.search.plan import Either, SearchPlan, n_threads
from clinclust.engine.search.refine import Refinement, best_distinct
from clinclust.engine.search.starts import Start
from clinclust.engine.search.threads import Threads

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["index_of_best", "run_restarts"]

_SWEEPS_OF_A_HEAT = 8

Begin = Callable[..., RestartResult]
"""`search_from` with fixed problem and attempts; it takes the start and the plan."""


def run_restarts(
    problem: Problem,
    starts: list[Start],
    plan: SearchPlan,
    *,
    search: Callable[..., RestartResult] = search_from,
    second_half: Callable[[list[Start], list[RestartResult]], list[Start]] | None = None,
) -> list[RestartResult]:
    """Search from every start, on threads, and refine the best partitions.

    Parameters
    ----------
    problem : Problem
    starts : list of Start
    plan : SearchPlan
    search : callable
        Function that searches from one start, with the parameters of `search_from`.
    second_half : callable, optional
        Called with the second half of the starts and the results of the first half; returns the starts to use instead.

    Returns
    -------
    list of RestartResult
        The restarts in the order of the starts, then the results of the refinement. The order does not depend on the
        threads.

    Raises
    ------
    SearchCancelled
        If `plan.cancelled` is set before the search has ended.
    """
    begin = partial(search, problem, attempts=Attempts())
    with Threads(n_threads(plan.n_jobs), plan.cancelled) as pool:
        heat = plan if plan.finishers is None else replace(plan, max_sweeps=min(plan.max_sweeps, _SWEEPS_OF_A_HEAT))
        with plan.progress.stage("restarts", len(starts)) as advance:
            found = _restarts(pool, begin, starts, heat, second_half, advance)
            if plan.finishers is not None:
                found = _finished(pool, partial(begin, plan=plan), starts, found, plan.finishers)
                plan.refuse_cancelled()
        if plan.refine and not plan.budget.used_up():
            often = _times_found(found) >= plan.often_enough
            with plan.progress.stage("refinement, in batches") as advance:
                found += Refinement(pool, problem, begin, found, plan, found_often=often).results(advance)
    return found


def _restarts(
    pool: Threads,
    begin: Begin,
    starts: list[Start],
    plan: SearchPlan,
    second_half: Callable[[list[Start], list[RestartResult]], list[Start]] | None,
    advance: Callable[[], object],
) -> list[RestartResult]:
    """Search from the starts in order; skip the last ones if the best was found often enough, or no time is left."""
    found: list[RestartResult] = []
    left_out = Either(plan.cancelled)
    own_plan = replace(plan, cancelled=left_out)
    n_first = len(starts) if second_half is None else (len(starts) + 1) // 2
    futures = [pool.submit(begin, start=start, plan=own_plan) for start in starts[:n_first]]
    try:
        while len(found) < len(starts) and not (plan.refine and _times_found(found) == plan.often_enough):
            if found and plan.budget.used_up():
                break
            if len(found) == n_first and second_half is not None:
                later = second_half(starts[n_first:], found)
                futures += [pool.submit(begin, start=start, plan=own_plan) for start in later]
            found.append(futures[len(found)].result())
            plan.refuse_cancelled()
            advance()
            if plan.finished is not None:
                plan.finished(found[-1])
    finally:
        left_out.set()
        for future in futures:
            future.cancel()
    return found


def _finished(
    pool: Threads,
    begin: Begin,
    starts: list[Start],
    found: list[RestartResult],
    finishers: int,
) -> list[RestartResult]:
    """Search to the end from the best partitions of a heat; return all results in order, the others as not converged.

    The best stays the best: the log joint of those that go on only rises.
    """
    best = best_distinct(found, finishers)
    futures = {
        place: pool.submit(continued, begin, starts[place], restart)
        for place, restart in enumerate(found)
        if not restart.converged and any(restart is chosen for chosen in best)
    }
    return [futures[place].result() if place in futures else restart for place, restart in enumerate(found)]


def _times_found(found: list[RestartResult]) -> int:
    """Return the number of restarts that ended at the best log joint."""
    best = max((restart.log_joint for restart in found), default=0.0)
    return sum(restart.log_joint > best - 1e-6 for restart in found)


def index_of_best(found: list[RestartResult]) -> int:
    """Return the index of the restart with the highest log joint; the first of several equal ones."""
    return max(range(len(found)), key=lambda index: found[index].log_joint)
