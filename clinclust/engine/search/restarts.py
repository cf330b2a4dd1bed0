"""Restarts from different starts, in batches on threads, then refinement of the best partitions.

The search of a large cohort begins in a sample. All subjects are then assigned to the clusters of its best partitions,
and moved, and clusters are merged and divided; a division is searched for among some members of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.engine.problem.objective import joint_of
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import adjusted_rand_index, compact
from clinclust.engine.search.one_start import Attempts, continued, merge_and_divide, merged, search_from
from clinclust.engine.search.plan import Either, RestartResult, SearchPlan, n_threads
from clinclust.engine.search.refine import Begin, Refinement, best_distinct
from clinclust.engine.search.settle import SweepResult, assigned, minimum_gain, settle_by_scans
from clinclust.engine.search.split_merge import resettle
from clinclust.engine.search.starts import Start, search_starts
from clinclust.engine.search.threads import Threads

_SWEEPS_OF_A_HEAT = 8
LARGE = 8_000
"""Number of subjects from which on the search begins on a sample."""
N_SAMPLED = 5_000
"""Number of subjects in the sample."""
_CARRIED = 3
"""Largest number of partitions of the sample that are extended to all subjects."""
_CLOSE = 30.0
"""Largest difference in log joint, in nats, to the best partition of the sample for a partition to be extended."""
_ALIKE = 0.95
"""Adjusted Rand index from which on two partitions of the sample are expected to lead to the same final partition."""
_SHARE_OF_SAMPLE = 0.5
"""Share of a time budget that the search in the sample may take."""
N_DIVIDED = 8_000
"""Largest number of members of a cluster among whom a division is searched for."""


def run_restarts(
    problem: Problem,
    starts: list[Start],
    plan: SearchPlan,
    *,
    search: Callable[..., RestartResult] = search_from,
    second_half: Callable[[list[Start], list[RestartResult]], list[Start]] | None = None,
) -> list[RestartResult]:
    """Search from every start, on threads, and refine the best partitions.

    Return the restarts in the order of the starts, then the results of the refinement. `search` searches from one
    start, as `search_from` does. `second_half` takes the second half of the starts and the results of the first, and
    returns the starts to use instead. Raises SearchCancelled.
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
    pool: Threads, begin: Begin, starts: list[Start], found: list[RestartResult], finishers: int
) -> list[RestartResult]:
    """Search to the end from the best partitions of a heat; return all results in order, the others not converged."""
    best = best_distinct(found, finishers)
    futures = {
        place: pool.submit(continued, begin, starts[place], restart)
        for place, restart in enumerate(found)
        if not restart.converged and any(restart is chosen for chosen in best)
    }
    return [futures[place].result() if place in futures else restart for place, restart in enumerate(found)]


def _times_found(found: list[RestartResult]) -> int:
    best = max((restart.log_joint for restart in found), default=0.0)
    return sum(restart.log_joint > best - 1e-6 for restart in found)


def index_of_best(found: list[RestartResult]) -> int:
    """Return the index of the restart with the highest log joint; the first of several equal ones."""
    return max(range(len(found)), key=lambda index: found[index].log_joint)


def run_sampled_restarts(problem: Problem, plan: SearchPlan) -> list[RestartResult]:
    """Search on a sample, `plan.n_restarts` times, then on all subjects; return the latter searches."""
    n_subjects = problem.cohort.n_subjects
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(1,)))
    sampled = np.sort(rng.choice(n_subjects, N_SAMPLED, replace=False))
    part = problem.restricted_to(sampled, 0)
    in_sample = replace(
        plan,
        refine=True,
        divide=True,
        patience=1,
        budget=plan.budget.part(_SHARE_OF_SAMPLE),
        progress=plan.progress.within("a sample"),
    )
    found = run_restarts(part, search_starts(N_SAMPLED, plan.seeds), in_sample)
    with Threads(n_threads(plan.n_jobs), plan.cancelled) as pool:
        carried: list[RestartResult] = []
        chosen = _unlike(found)
        with plan.progress.stage("search among all subjects", len(chosen)) as advance:
            for restart in chosen:
                if not carried or not plan.budget.used_up():
                    carried.append(carried_over(problem, part, restart, rng, pool, plan))
                    advance()
        return carried


def _unlike(found: list[RestartResult]) -> list[RestartResult]:
    """Return the best partitions, best first. Each differs from those before and is nearly as good as the first."""
    chosen: list[RestartResult] = []
    for restart in best_distinct(found, len(found)):
        if len(chosen) == _CARRIED or (chosen and restart.log_joint < chosen[0].log_joint - _CLOSE):
            break
        if all(adjusted_rand_index(restart.labels, other.labels) < _ALIKE for other in chosen):
            chosen.append(restart)
    return chosen


def carried_over(
    problem: Problem, part: Problem, restart: RestartResult, rng: np.random.Generator, pool: Executor, plan: SearchPlan
) -> RestartResult:
    """Search on all subjects, starting from a partition of the sample, whose problem is `part`."""
    labels = assigned(problem, part.partition(restart.labels), pool)
    from_sample = replace(restart, start=f"sample: {restart.start}", labels=labels, trace=np.array([]), n_sweeps=0)
    return searched_on_among_all(problem, from_sample, rng, pool, plan)


def searched_on_among_all(
    problem: Problem, restart: RestartResult, rng: np.random.Generator, pool: Executor, plan: SearchPlan
) -> RestartResult:
    """Continue a search on all subjects of a large cohort from the labels of a restart; its trace goes on."""
    enough = Either(plan.cancelled, plan.budget)
    settled = partial(settle_by_scans, problem, plan=plan, pool=pool)

    def divided(found: SweepResult, _gains: Array) -> Labels | None:
        return _divided(problem, found, rng, enough, pool)

    found = settled(restart.labels)
    trace = list(found.trace)
    found = merge_and_divide(problem, found, trace, settled, partial(merged, problem), divided, enough)
    after = RestartResult.of(restart.start, found.partition.labels, trace, converged=found.converged)
    return restart.followed_by(after)


def _divided(
    problem: Problem, found: SweepResult, rng: np.random.Generator, cancelled: Event, pool: Executor
) -> Labels | None:
    """Return labels with all clusters divided whose division raises the log joint of the cohort; None if none.

    Rises add up, because the log joint is a sum over clusters.
    """
    labels = changed = found.partition.labels
    n_clusters = int(found.partition.n_clusters[0])
    groups = [np.flatnonzero(labels == cluster) for cluster in range(n_clusters)]
    some = [np.sort(rng.permutation(members)[:N_DIVIDED]) for members in groups]
    futures = [
        pool.submit(resettle, problem.restricted_to(members, n_clusters - 1), np.zeros_like(members), seeded, cancelled)
        for members, seeded in zip(some, rng.spawn(n_clusters), strict=True)
    ]
    divisions = [future.result() for future in futures]
    for members, tried, (gain, division) in zip(groups, some, divisions, strict=True):
        if gain <= minimum_gain(problem):
            continue
        here = problem.restricted_to(members, n_clusters - 1)
        among = problem.restricted_to(tried, n_clusters - 1)
        divided = compact(assigned(here, among.partition(division), pool))
        rise = joint_of(here, divided) - joint_of(here, here.cohort.together)
        if rise > minimum_gain(problem):
            changed = changed.copy()
            changed[members] = changed.max() + 1 + divided
    return None if changed is labels else compact(changed)
