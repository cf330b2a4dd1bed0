"""The best partition found at each of a decreasing sequence of coarsenings, each with fewer clusters.

In a large cohort, the path is followed in a sample to the first coarsening that is borne out, then among all subjects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clinclust.arrays import Labels
from clinclust.engine.joint_estimates.dependence import independent_share
from clinclust.engine.joint_estimates.outlying import OutlyingMask, best_outlying, without_outlying
from clinclust.engine.joint_estimates.outlying_search import (
    SEEN_IN_SAMPLE,
    Dissolution,
    OutlyingResult,
    outlying_together,
    raise_in_turns,
    run_outlying_restarts,
    search_with_outlying,
)
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.plan import ResolutionPlan, RestartResult, SearchPlan, n_threads
from clinclust.engine.search.restarts import N_SAMPLED, carried_over, index_of_best, searched_on_among_all
from clinclust.engine.search.settle import SweepResult, settle_by_scans, worth_a_round
from clinclust.engine.search.starts import Start, search_starts, starts_from
from clinclust.engine.search.threads import Threads
from clinclust.progress import SILENT

_TOLERANCE = 0.01
"""Difference to the estimated share of independent features that does not change the partition."""
_ONWARD = "step before"
"""Name of the start of a restart that continues from the step before."""
_SHARE_OF_FIRST = 0.5
"""Share of a time budget that the first step may take: the others have fewer clusters and starts."""
_SHARE_OF_SAMPLE = 0.5
"""Share of a time budget that the search in the sample may take."""


@dataclass(frozen=True)
class ResolutionStep:
    """One step of the path: the best partition found at one coarsening."""

    coarsening: float
    restarts: list[RestartResult]
    """Restarts at this coarsening. After the first step, the first continues from the step before (start ``"step
    before"``)."""
    best: int
    """Index of the best restart."""
    outlying: OutlyingMask
    """(N, D) outlying values of the best restart."""
    problem: Problem
    """The problem of the values that are kept, at this coarsening."""
    log_joint_uncoarsened: float
    """Log joint of this partition at coarsening 1, in nats."""
    log_likelihood: float
    """Sum of the log marginals and log base measures of this partition at coarsening 1."""

    independent_share: float
    """The coarsening that the dependence within these clusters implies (`independent_share`)."""

    @property
    def borne_out(self) -> bool:
        """Whether the coarsening is strong enough for the dependence within the clusters of this partition."""
        return self.coarsening <= self.independent_share + _TOLERANCE

    @property
    def labels(self) -> Labels:
        """Clusters 0 .. K - 1 of the best restart, int64 (N,)."""
        return self.restarts[self.best].labels

    @property
    def onward(self) -> RestartResult:
        """The best restart as the beginning of a restart of the next step."""
        best = self.restarts[self.best]
        return replace(best, start=_ONWARD, trace=np.array([]), n_sweeps=0)


def resolution_steps(
    problem: Problem, plan: SearchPlan, seed: np.random.SeedSequence, first: OutlyingResult | None = None
) -> list[ResolutionStep]:
    """Search at each coarsening from the partition of the step before and from fresh starts; keep the best partition.

    The path ends at the first step with one cluster and, if a coarsening is to be chosen, at the first that is
    `borne_out`. `first` is the result of the first step, if it has already been searched.
    """
    resolution = plan.resolution or ResolutionPlan()
    (drawn,) = seed.spawn(1)
    coarsened = at_coarsening(problem, resolution.coarsenings[0])
    starts = search_starts(problem.cohort.n_subjects, drawn.spawn(plan.n_restarts))
    found = first or first_step(coarsened, starts, plan)
    begin = step_of(coarsened, found.restarts, found.best, found.outlying, plan.outlying_share)

    def search_at(coarsening: float, before: ResolutionStep) -> ResolutionStep:
        coarsened = at_coarsening(problem, coarsening)
        (drawn,) = seed.spawn(1)
        starts = search_starts(problem.cohort.n_subjects, drawn.spawn(resolution.n_fresh))
        return step_of(coarsened, *_onward_and_fresh(coarsened, before, starts, drawn, plan), plan.outlying_share)

    return followed(begin, resolution, plan, search_at)


def followed(
    begin: ResolutionStep,
    resolution: ResolutionPlan,
    plan: SearchPlan,
    search_at: Callable[[float, ResolutionStep], ResolutionStep],
) -> list[ResolutionStep]:
    """Follow a path from one of its steps to its end, with `search_at`; return this step and those after it."""
    steps, ahead = [begin], [float(value) for value in resolution.coarsenings if value < begin.coarsening]
    with plan.progress.stage("coarsening") as advance:
        while ahead and steps[-1].labels.max() > 0 and not (resolution.choose and steps[-1].borne_out):
            if plan.budget.used_up():
                break
            # The last partition may ask for a coarsening before the next one of the path.
            if resolution.choose and ahead[0] < steps[-1].independent_share and not any(it.borne_out for it in steps):
                ahead.insert(0, steps[-1].independent_share)
            steps.append(search_at(ahead.pop(0), steps[-1]))
            advance()
    return steps


def at_coarsening(problem: Problem, coarsening: float) -> Problem:
    """Return the problem at a coarsening."""
    return replace(problem, model=problem.model._replace(coarsening=coarsening))


def first_step(coarsened: Problem, starts: list[Start], plan: SearchPlan) -> OutlyingResult:
    """Search for the first step of a path. A time budget leaves time for the coarser steps."""
    return search_with_outlying(coarsened, starts, replace(plan, budget=plan.budget.part(_SHARE_OF_FIRST)))


def _onward_and_fresh(
    coarsened: Problem, before: ResolutionStep, starts: list[Start], seed: np.random.SeedSequence, plan: SearchPlan
) -> tuple[list[RestartResult], int, OutlyingMask]:
    """Continue from the step before, then search from fresh starts; return restarts, index of the best, its mask."""
    share = plan.outlying_share
    (start,) = starts_from(before.labels, [seed])
    outlying, joint = best_outlying(coarsened, before.labels, before.outlying, share)
    begin = before.onward.raised_to(joint)
    onward, outlying = raise_in_turns(coarsened, begin, outlying, start, plan, look_back=False)
    fresh_plan = replace(plan, refine=False, finished=None, progress=SILENT)  # one step of the stage "coarsening"
    fresh, masks = run_outlying_restarts(coarsened, starts, outlying, fresh_plan)
    restarts = [onward, *fresh]
    best = index_of_best(restarts)
    if best > 0:
        restarts[best], outlying = raise_in_turns(
            coarsened, restarts[best], masks[best - 1], start, plan, look_back=False
        )
    return restarts, best, outlying


def step_of(
    coarsened: Problem, restarts: list[RestartResult], best: int, outlying: OutlyingMask, share: float
) -> ResolutionStep:
    """Return the step of these restarts, the best of them, and its outlying values."""
    kept = without_outlying(coarsened, outlying, share)
    partition = kept.partition(restarts[best].labels)
    uncoarsened = log_joint(at_coarsening(kept, 1.0), partition)
    return ResolutionStep(
        coarsening=coarsened.model.coarsening,
        restarts=restarts,
        best=best,
        outlying=outlying,
        problem=kept,
        log_joint_uncoarsened=uncoarsened,
        log_likelihood=uncoarsened - log_joint(at_coarsening(kept, 0.0), partition),
        independent_share=independent_share(kept, restarts[best].labels),
    )


def chosen_step(steps: Sequence[ResolutionStep]) -> int:
    """Return the index of the first step that is `borne_out`, or of the last step if none is.

    At coarsening 1, extra clusters may explain dependence, so that it is underestimated; hence the dependence within
    each step's own clusters.
    """
    return next((index for index, step in enumerate(steps) if step.borne_out), len(steps) - 1)


def sampled_steps(problem: Problem, plan: SearchPlan, seed: np.random.SeedSequence) -> list[ResolutionStep]:
    """Search in a sample as the plan says, then among all subjects from its coarsening; return the latter steps."""
    of_rows, of_path, of_all = seed.spawn(3)
    rows = np.sort(np.random.default_rng(of_rows).choice(problem.cohort.n_subjects, N_SAMPLED, replace=False))
    in_sample = replace(
        plan, patience=1, budget=plan.budget.part(_SHARE_OF_SAMPLE), progress=plan.progress.within("a sample")
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
        given = sampled.problem, sampled.restarts[sampled.best], self.rng, self.pool, self.plan
        with self.plan.progress.stage("search among all subjects") as advance:
            # The kept values of many subjects have no name, so that they take memory only as long as they are searched.
            restart = carried_over(without_outlying(problem, outlying, share), *given)
            return self._raised(problem, restart, outlying, advance)

    def onward(self, coarsening: float, before: ResolutionStep) -> ResolutionStep:
        """Continue from the step before at a coarser coarsening."""
        problem, share = at_coarsening(self.problem, coarsening), self.plan.outlying_share
        outlying, _ = best_outlying(problem, before.labels, before.outlying, share)
        restart = self._searched_on(without_outlying(problem, outlying, share), before.onward)
        return self._raised(problem, restart, outlying, lambda: None)

    def _raised(
        self, problem: Problem, restart: RestartResult, outlying: OutlyingMask, advance: Callable[[], object]
    ) -> ResolutionStep:
        """Raise the joint by outlying values, by dissolving small clusters and by the search, in turns."""
        plan, share, least = self.plan, self.plan.outlying_share, worth_a_round(problem)
        largest = SEEN_IN_SAMPLE * problem.cohort.n_subjects / N_SAMPLED
        dissolved = Dissolution(problem, plan, self._sweep, least, largest)
        while share > 0.0:
            plan.refuse_cancelled()
            advance()
            outlying, joint = best_outlying(problem, restart.labels, outlying, share)
            has_risen = joint > restart.log_joint + least
            restart = restart.raised_to(joint)
            if plan.budget.used_up():
                break
            whole, outlying = dissolved(restart, outlying)
            has_risen |= whole.log_joint > restart.log_joint + least
            restart = whole
            if not has_risen:
                break
            restart = self._searched_on(without_outlying(problem, outlying, share), restart)
        return step_of(problem, [restart], 0, outlying, share)

    def _searched_on(self, kept: Problem, restart: RestartResult) -> RestartResult:
        return searched_on_among_all(kept, restart, self.rng, self.pool, self.plan)

    def _sweep(self, kept: Problem, labels: Labels) -> SweepResult:
        return settle_by_scans(kept, labels, self.plan, self.pool)
