"""Search for the partition of a large cohort: first on a sample of the subjects, then on all subjects.

Clusters with more than a few hundred subjects can be found in a sample at a fraction of the cost. All subjects are then
assigned to the clusters of the best partitions of the sample, and moved until no move raises the log joint (`scan`).
Clusters are merged and divided if this raises the log joint of the whole cohort. A division is searched for among some
members of a cluster, so that a cluster too small for the first sample can still be found inside a larger one.
"""

from __future__ import annotations

import time
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.labels import adjusted_rand_index, compact
from clinclust.engine.search.one_start import RestartResult, merge_and_divide
from clinclust.engine.search.plan import Either, SearchPlan, n_threads
from clinclust.engine.search.refine import best_distinct
from clinclust.engine.search.restarts import run_restarts
from clinclust.engine.search.settle import SweepResult, assigned, minimum_gain, settle_by_scans
from clinclust.engine.search.split_merge import resettle
from clinclust.engine.search.starts import search_starts
from clinclust.engine.search.threads import Threads

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["LARGE", "N_SAMPLED", "carried_over", "run_sampled_restarts", "searched_on_among_all"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

LARGE = 30_000
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


def run_sampled_restarts(problem: Problem, plan: SearchPlan) -> list[RestartResult]:
    """Search on a sample from `search_starts`, then on all subjects.

    `plan.n_restarts` is the number of restarts on the sample. Only the searches on all subjects are returned.
    """
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
    problem: Problem,
    part: Problem,
    restart: RestartResult,
    rng: np.random.Generator,
    pool: Executor,
    plan: SearchPlan,
) -> RestartResult:
    """Search on all subjects, starting from a partition of the sample, whose problem is `part`."""
    labels = assigned(problem, new_partition(part.cohort.arrays, restart.labels), pool)
    from_sample = replace(restart, start=f"sample: {restart.start}", labels=labels, trace=np.array([]), n_sweeps=0)
    return searched_on_among_all(problem, from_sample, rng, pool, plan)


def searched_on_among_all(
    problem: Problem, restart: RestartResult, rng: np.random.Generator, pool: Executor, plan: SearchPlan
) -> RestartResult:
    """Continue a search on all subjects of a large cohort from the labels of a restart; its trace goes on."""
    began, enough = time.perf_counter(), Either(plan.cancelled, plan.budget)
    settled = partial(settle_by_scans, problem, plan=plan, pool=pool)

    def divided(found: SweepResult, _gains: Array) -> Labels | None:
        return _divided(problem, found, rng, enough, pool)

    found = settled(restart.labels)
    trace = list(found.trace)
    found = merge_and_divide(problem, found, trace, settled, divided, enough)
    after = RestartResult.of(restart.start, found.partition.labels, trace, converged=found.converged, began=began)
    return restart.followed_by(after)


def _divided(
    problem: Problem, found: SweepResult, rng: np.random.Generator, cancelled: Event, pool: Executor
) -> Labels | None:
    """Return labels with the first cluster divided whose division raises the log joint of the cohort; None if none."""
    labels = found.partition.labels
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
        divided = compact(assigned(here, new_partition(among.cohort.arrays, division), pool))
        together = np.zeros_like(divided)
        rise = _joint(here, divided) - _joint(here, together)
        if rise > minimum_gain(problem):
            changed = labels.copy()
            changed[members] = n_clusters + divided
            return compact(changed)
    return None


def _joint(problem: Problem, labels: Labels) -> float:
    return log_joint(problem, new_partition(problem.cohort.arrays, labels))
