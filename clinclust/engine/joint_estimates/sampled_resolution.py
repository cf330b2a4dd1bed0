"""Search of a large cohort with outlying values, or along coarsenings: in a sample first, then among all subjects.

The path of coarsenings is followed in the sample to the first that is borne out there. Where the partition of all
subjects does not bear it out, the path goes on among all subjects, to the first that they bear out. Outlying values are
found among all subjects, in turns with the partition, as in `outlying_search`. Of the clusters only small ones are
dissolved, because the sample showed the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.outlying import OutlyingMask, best_outlying, without_outlying
from clinclust.engine.joint_estimates.outlying_search import Dissolution, outlying_together
from clinclust.engine.joint_estimates.resolution import (
    ResolutionStep,
    at_coarsening,
    chosen_step,
    first_step,
    followed,
    resolution_steps,
    step_of,
)
from clinclust.engine.search.one_start import RestartResult
from clinclust.engine.search.plan import SearchPlan, n_threads
from clinclust.engine.search.sampled import N_SAMPLED, carried_over, searched_on_among_all
from clinclust.engine.search.settle import SweepResult, minimum_gain, settle_by_scans
from clinclust.engine.search.starts import search_starts
from clinclust.engine.search.threads import Threads

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["LARGE_BESIDE", "sampled_steps"]

Labels = NDArray[np.int64]

LARGE_BESIDE = 10_000
"""Number of subjects from which on the search begins in a sample."""

_SHARE_OF_SAMPLE = 0.5
"""Share of a time budget that the search in the sample may take."""
_SEEN_IN_SAMPLE = 30
"""Number of members in the sample from which on a cluster is one that the sample showed."""


def sampled_steps(problem: Problem, plan: SearchPlan, seed: np.random.SeedSequence) -> list[ResolutionStep]:
    """Search in a sample as the plan says, then among all subjects from the coarsening that was found there.

    Without a `resolution`, the coarsening is that of the problem. Return the steps among all subjects: more than one
    only where the coarsening that the sample bore out is not borne out by all subjects.
    """
    of_rows, of_path, of_all = seed.spawn(3)
    rows = np.sort(np.random.default_rng(of_rows).choice(problem.cohort.n_subjects, N_SAMPLED, replace=False))
    in_sample = replace(
        plan,
        patience=1,
        budget=plan.budget.part(_SHARE_OF_SAMPLE),
        progress=plan.progress.within("a sample"),
    )
    step = _in_sample(problem.restricted_to(rows, 0), in_sample, of_path)
    with Threads(n_threads(plan.n_jobs), plan.cancelled) as pool:
        among_all = _AmongAll(problem, plan, np.random.default_rng(of_all), pool)
        begin = among_all.carried_over(step)
        return [begin] if plan.resolution is None else followed(begin, plan.resolution, plan, among_all.onward)


def _in_sample(part: Problem, plan: SearchPlan, seed: np.random.SeedSequence) -> ResolutionStep:
    found = first_step(part, search_starts(part.cohort.n_subjects, plan.seeds), plan)
    if plan.resolution is None:
        return step_of(part, found.restarts, found.best, found.outlying, plan.outlying_share)
    steps = resolution_steps(part, plan, seed, found)
    return steps[chosen_step(steps)]


@dataclass(frozen=True)
class _AmongAll:
    """The search among all subjects."""

    problem: Problem
    plan: SearchPlan
    rng: np.random.Generator
    pool: Threads

    def carried_over(self, sampled: ResolutionStep) -> ResolutionStep:
        """Carry a partition of the sample over to all subjects, at its coarsening, and raise the joint."""
        problem, share = at_coarsening(self.problem, sampled.coarsening), self.plan.outlying_share
        outlying = outlying_together(problem, share)
        kept, found = without_outlying(problem, outlying, share), sampled.restarts[sampled.best]
        with self.plan.progress.stage("search among all subjects") as advance:
            restart = carried_over(kept, sampled.problem, found, self.rng, self.pool, self.plan)
            return self._raised(problem, restart, outlying, advance)

    def onward(self, coarsening: float, before: ResolutionStep) -> ResolutionStep:
        """Continue from the step before at a coarser coarsening."""
        problem, share = at_coarsening(self.problem, coarsening), self.plan.outlying_share
        outlying, _ = best_outlying(problem, before.labels, before.outlying, share)
        kept = without_outlying(problem, outlying, share)
        restart = searched_on_among_all(kept, before.onward, self.rng, self.pool, self.plan)
        return self._raised(problem, restart, outlying, lambda: None)

    def _raised(
        self, problem: Problem, restart: RestartResult, outlying: OutlyingMask, advance: Callable[[], object]
    ) -> ResolutionStep:
        """Raise the joint by outlying values, by dissolving small clusters and by the search, in turns."""
        plan, share, least = self.plan, self.plan.outlying_share, minimum_gain(problem)
        largest = _SEEN_IN_SAMPLE * problem.cohort.n_subjects / N_SAMPLED
        dissolved = Dissolution(problem, plan, self._sweep, largest)
        while share > 0.0:
            plan.refuse_cancelled()
            advance()
            outlying, joint = best_outlying(problem, restart.labels, outlying, share)
            has_risen = joint > restart.log_joint + least
            restart = restart.raised_to(joint)
            if plan.budget.used_up():
                break
            whole, outlying = dissolved(restart, outlying)
            has_risen |= whole.log_joint > restart.log_joint
            restart = whole
            if not has_risen:
                break
            kept = without_outlying(problem, outlying, share)
            restart = searched_on_among_all(kept, restart, self.rng, self.pool, plan)
        return step_of(problem, [restart], 0, outlying, share)

    def _sweep(self, kept: Problem, labels: Labels) -> SweepResult:
        return settle_by_scans(kept, labels, self.plan, self.pool)
