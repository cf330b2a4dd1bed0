"""Search of a large cohort with outlying values, or along coarsenings: in a sample first, then among all subjects.

The coarsening is that which the sample bears out. Outlying values are found among all subjects, in turns with the
partition, as in `outlying_search`. Of the clusters only small ones are dissolved, because the sample showed the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.beside.outlying import best_outlying, without_outlying
from clinclust.engine.beside.outlying_search import dissolved, none_outlying
from clinclust.engine.beside.resolution import (
    ResolutionStep,
    at_coarsening,
    chosen_step,
    first_step,
    resolution_steps,
    step_of,
)
from clinclust.engine.search.plan import SearchPlan, n_threads
from clinclust.engine.search.sampled import N_SAMPLED, carried_over, searched_on_among_all
from clinclust.engine.search.scan import settle_by_scans
from clinclust.engine.search.settle import SweepResult, minimum_gain
from clinclust.engine.search.starts import search_starts
from clinclust.engine.search.threads import Threads

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["sampled_step"]

_SHARE_OF_SAMPLE = 0.5
"""Share of a time budget that the search in the sample may take."""
_SEEN_IN_SAMPLE = 30
"""Number of members in the sample from which on a cluster is one that the sample showed."""


def sampled_step(problem: Problem, plan: SearchPlan, seed: np.random.SeedSequence) -> ResolutionStep:
    """Search in a sample as the plan says, then among all subjects at the coarsening that was found there.

    Parameters
    ----------
    problem : Problem
        Problem of all values of all subjects.
    plan : SearchPlan
        Without a `resolution`, the coarsening is that of the problem.
    seed : SeedSequence
    """
    of_rows, of_path, of_all = seed.spawn(3)
    rows = np.sort(np.random.default_rng(of_rows).choice(problem.cohort.n_subjects, N_SAMPLED, replace=False))
    in_sample = replace(plan, budget=plan.budget.part(_SHARE_OF_SAMPLE), progress=plan.progress.within("a sample"))
    step = _in_sample(problem.restricted_to(rows, 0), in_sample, of_path)
    return _among_all(at_coarsening(problem, step.coarsening), step, plan, np.random.default_rng(of_all))


def _in_sample(part: Problem, plan: SearchPlan, seed: np.random.SeedSequence) -> ResolutionStep:
    found = first_step(part, search_starts(part.cohort.n_subjects, plan.seeds), plan)
    if plan.resolution is None:
        return step_of(part, found.restarts, found.best, found.outlying, plan.outlying_share)
    steps = resolution_steps(part, plan, seed, found)
    return steps[chosen_step(steps)]


def _among_all(problem: Problem, sampled: ResolutionStep, plan: SearchPlan, rng: np.random.Generator) -> ResolutionStep:
    """Carry a partition of the sample over to all subjects, and raise the joint in turns."""
    share, least = plan.outlying_share, minimum_gain(problem)
    largest = _SEEN_IN_SAMPLE * problem.cohort.n_subjects / N_SAMPLED
    outlying, kept = none_outlying(problem), problem
    if share > 0.0:
        together = np.zeros(problem.cohort.n_subjects, dtype=np.int64)
        outlying, _ = best_outlying(problem, together, outlying, share)
        kept = without_outlying(problem, outlying, share)
    with (
        Threads(n_threads(plan.n_jobs)) as pool,
        plan.progress.stage("search among all subjects") as advance,
    ):

        def sweep(kept: Problem, labels: NDArray[np.int64]) -> SweepResult:
            return settle_by_scans(kept, labels, plan, pool)

        try:
            restart = carried_over(kept, sampled.problem, sampled.restarts[sampled.best], rng, pool, plan)
            while share > 0.0:
                plan.refuse_cancelled()
                advance()
                outlying, joint = best_outlying(problem, restart.labels, outlying, share)
                has_risen = joint > restart.log_joint + least
                restart = replace(restart, log_joint=joint, trace=np.append(restart.trace, joint))
                if plan.budget.used_up():
                    break
                whole, outlying = dissolved(problem, restart, outlying, plan, sweep, largest)
                has_risen |= whole.log_joint > restart.log_joint
                restart = whole
                if not has_risen:
                    break
                kept = without_outlying(problem, outlying, share)
                restart = searched_on_among_all(kept, restart, rng, pool, plan)
        except BaseException:
            plan.cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return step_of(problem, [restart], 0, outlying, share)
