"""Partitions from fine to coarse: the best one found at each of a falling sequence of coarsenings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.beside.coarsening import independent_share
from clinclust.engine.beside.outlying import OutlyingMask, best_outlying, without_outlying
from clinclust.engine.beside.outlying_search import (
    OutlyingResult,
    raise_in_turns,
    run_outlying_restarts,
    search_with_outlying,
)
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.one_start import RestartResult
from clinclust.engine.search.plan import ResolutionPlan, SearchPlan
from clinclust.engine.search.restarts import index_of_best
from clinclust.engine.search.starts import Start, search_starts, starts_from

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["ResolutionStep", "chosen_step", "resolution_steps"]

Labels = NDArray[np.int64]

# The share of independent features is itself an estimate; a hundredth of it moves no subject.
_TOLERANCE = 0.01
_ONWARD = "step before"


@dataclass(frozen=True)
class ResolutionStep:
    """The best partition found at one coarsening."""

    coarsening: float
    restarts: list[RestartResult]
    """The first is ``"step before"``, from the finer partition, except at the first step."""
    best: int
    """Which of the restarts won."""
    outlying: OutlyingMask
    """(N, D) the outlying values."""
    problem: Problem
    """The problem of the values that are kept, at this coarsening."""
    log_joint_uncoarsened: float
    """What the joint would be at coarsening 1."""
    log_likelihood: float
    """The sum of the log marginals, uncoarsened."""

    independent_share: float
    """What of the likelihood independent features would have, by the dependence that this partition leaves."""

    @property
    def borne_out(self) -> bool:
        """Whether this partition leaves no more dependence than the coarsening makes up for."""
        return self.coarsening <= self.independent_share + _TOLERANCE

    @property
    def labels(self) -> Labels:
        """Clusters 0 .. K - 1 of the winner, int64 (N,)."""
        return self.restarts[self.best].labels


def resolution_steps(
    problem: Problem,
    plan: SearchPlan,
    seed: np.random.SeedSequence,
    first: OutlyingResult | None = None,
) -> list[ResolutionStep]:
    """Search at each coarsening from the partition of the step before and from fresh starts; keep the better.

    The path ends at the first step that finds everybody together.

    Parameters
    ----------
    problem : Problem
        Of all values; its own coarsening does not matter.
    plan : SearchPlan
        Its `resolution` says which coarsenings, its `n_restarts` from how many starts the first step searches.
    seed : SeedSequence
    first : OutlyingResult, optional
        What the first step found, if it has been searched.
    """
    resolution = plan.resolution or ResolutionPlan()
    steps: list[ResolutionStep] = []
    ahead = [float(coarsening) for coarsening in resolution.coarsenings]
    while ahead:
        coarsening = ahead.pop(0)
        (drawn,) = seed.spawn(1)
        posed = replace(problem, model=problem.model._replace(coarsening=float(coarsening)))
        n_starts = resolution.n_fresh if steps else plan.n_restarts
        starts = search_starts(problem.cohort.n_subjects, drawn.spawn(n_starts))
        if steps:
            restarts, best, outlying = _beside(posed, steps[-1], starts, drawn, plan)
        else:
            found = first or search_with_outlying(posed, starts, plan)
            restarts, best, outlying = found.restarts, found.best, found.outlying
        steps.append(_step(posed, restarts, best, outlying, plan.outlying_share))
        if int(steps[-1].labels.max()) == 0:
            break
        if (
            resolution.choose
            and not any(step.borne_out for step in steps)
            and ahead
            and ahead[0] < steps[-1].independent_share
        ):
            ahead.insert(0, steps[-1].independent_share)
    return steps


def _beside(
    posed: Problem, before: ResolutionStep, starts: list[Start], seed: np.random.SeedSequence, plan: SearchPlan
) -> tuple[list[RestartResult], int, OutlyingMask]:
    """Search on from the step before, and from fresh starts among the values that are then kept."""
    share = plan.outlying_share
    (start,) = starts_from(before.labels, [seed])
    if share > 0.0:
        outlying, joint = best_outlying(posed, before.labels, before.outlying, share)
    else:
        outlying, joint = before.outlying, log_joint(posed, new_partition(posed.cohort.arrays, before.labels))
    onward = replace(
        before.restarts[before.best], start=_ONWARD, log_joint=joint, trace=np.array([joint]), n_sweeps=0, seconds=0.0
    )
    onward, outlying = raise_in_turns(posed, onward, outlying, start, plan, look_back=False)
    fresh_plan = replace(plan, refine=False, finished=None)  # the first step alone is counted as progress
    fresh, masks = run_outlying_restarts(posed, starts, outlying, fresh_plan)
    restarts = [onward, *fresh]
    best = index_of_best(restarts)
    if best > 0:
        restarts[best], outlying = raise_in_turns(posed, restarts[best], masks[best - 1], start, plan, look_back=False)
    return restarts, best, outlying


def _step(
    posed: Problem, restarts: list[RestartResult], best: int, outlying: OutlyingMask, share: float
) -> ResolutionStep:
    kept = without_outlying(posed, outlying, share) if share > 0.0 else posed
    whole = replace(kept, model=kept.model._replace(coarsening=1.0))
    partition = new_partition(kept.cohort.arrays, restarts[best].labels)
    uncoarsened = log_joint(whole, partition)
    nothing = replace(kept, model=kept.model._replace(coarsening=0.0))
    return ResolutionStep(
        coarsening=posed.model.coarsening,
        restarts=restarts,
        best=best,
        outlying=outlying,
        problem=kept,
        log_joint_uncoarsened=uncoarsened,
        log_likelihood=uncoarsened - log_joint(nothing, partition),
        independent_share=independent_share(kept, restarts[best].labels),
    )


def chosen_step(steps: Sequence[ResolutionStep]) -> int:
    """Return the index of the finest step whose coarsening its own partition bears out, or else of the last step.

    At coarsening 1 dependence between features may be explained by extra clusters, so that less of it is left within
    clusters than there is. The search therefore goes on to the coarsening that the dependence left by each partition
    asks for, until a partition asks for its own.
    """
    for index, step in enumerate(steps):
        if step.borne_out:
            return index
    return len(steps) - 1
