"""Partitions from fine to coarse: the best one found at each of a falling sequence of coarsenings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.beside.coarsening import independent_share
from clinclust.engine.beside.outlying import Switches, best_switches, set_aside
from clinclust.engine.beside.outlying_search import Found, raise_in_turns, restarts_beside, search
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.one_start import Restart
from clinclust.engine.search.starts import Start, search_starts, starts_from

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

Labels = NDArray[np.int64]

__all__ = ["COARSENINGS", "Step", "chosen_step", "resolution_steps"]

COARSENINGS = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05)
"""From the whole likelihood down, in steps of about a fifth and wider."""
# The share of independent features is itself an estimate; a hundredth of it moves no subject.
_TOLERANCE = 0.01
_ONWARD = "step before"


@dataclass(frozen=True)
class Step:
    """The best partition found at one coarsening."""

    coarsening: float
    restarts: list[Restart]
    """The first is ``"step before"``, from the finer partition, except at the first step."""
    best: int
    """Which of the restarts won."""
    aside: Switches
    """(N, D) the values set aside."""
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
    coarsenings: Sequence[float],
    share: float,
    seed: np.random.SeedSequence,
    *,
    n_restarts: int,
    n_fresh: int = 2,
    max_sweeps: int,
    n_jobs: int | None = None,
    first: Found | None = None,
    choose: bool = False,
) -> list[Step]:
    """Search at each coarsening from the partition of the step before and from fresh starts; keep the better.

    The path ends at the first step that finds everybody together.

    Parameters
    ----------
    problem : Problem
        Of all values; its own coarsening does not matter.
    coarsenings : sequence of float
        Falling.
    share : float
        Probability that a value is outlying (`clinclust.engine.beside.outlying`).
    seed : SeedSequence
    n_restarts : int
        Starts of the first step, unless `first` is what it found.
    n_fresh : int
        Fresh starts of every further step.
    max_sweeps, n_jobs
        As in `run_restarts`.
    first : Found, optional
    choose : bool
        Look for the coarsening that its own partition bears out (`chosen_step`), between those given as well.
    """
    steps: list[Step] = []
    ahead = [float(coarsening) for coarsening in coarsenings]
    while ahead:
        coarsening = ahead.pop(0)
        (drawn,) = seed.spawn(1)
        posed = replace(problem, model=problem.model._replace(coarsening=float(coarsening)))
        n_starts = n_fresh if steps else n_restarts
        starts = search_starts(problem.cohort.n_subjects, drawn.spawn(n_starts))
        if steps:
            restarts, best, aside = _beside(posed, steps[-1], starts, share, drawn, max_sweeps, n_jobs)
        else:
            found = first or search(posed, starts, share, max_sweeps=max_sweeps, n_jobs=n_jobs, refine=True)
            restarts, best, aside = found.restarts, found.best, found.aside
        steps.append(_step(posed, restarts, best, aside, share))
        if int(steps[-1].labels.max()) == 0:
            break
        if choose and not any(step.borne_out for step in steps) and ahead and ahead[0] < steps[-1].independent_share:
            ahead.insert(0, steps[-1].independent_share)
    return steps


def _beside(
    posed: Problem,
    before: Step,
    starts: list[Start],
    share: float,
    seed: np.random.SeedSequence,
    max_sweeps: int,
    n_jobs: int | None,
) -> tuple[list[Restart], int, Switches]:
    """Search on from the step before, and from fresh starts among the values that are then kept."""
    (start,) = starts_from(before.labels, [seed])
    if share > 0.0:
        aside, joint = best_switches(posed, before.labels, before.aside, share)
    else:
        aside, joint = before.aside, log_joint(posed, new_partition(posed.cohort.arrays, before.labels))
    onward = replace(
        before.restarts[before.best], start=_ONWARD, log_joint=joint, trace=np.array([joint]), n_sweeps=0, seconds=0.0
    )
    onward, aside = raise_in_turns(posed, onward, aside, share, start, max_sweeps, look_back=False)
    fresh, switches = restarts_beside(posed, starts, aside, share, max_sweeps=max_sweeps, n_jobs=n_jobs)
    restarts = [onward, *fresh]
    best = int(np.argmax([restart.log_joint for restart in restarts]))  # the first of equals
    if best > 0:
        restarts[best], aside = raise_in_turns(
            posed, restarts[best], switches[best - 1], share, start, max_sweeps, look_back=False
        )
    return restarts, best, aside


def _step(posed: Problem, restarts: list[Restart], best: int, aside: Switches, share: float) -> Step:
    kept = set_aside(posed, aside, share) if share > 0.0 else posed
    whole = replace(kept, model=kept.model._replace(coarsening=1.0))
    partition = new_partition(kept.cohort.arrays, restarts[best].labels)
    uncoarsened = log_joint(whole, partition)
    nothing = replace(kept, model=kept.model._replace(coarsening=0.0))
    return Step(
        coarsening=posed.model.coarsening,
        restarts=restarts,
        best=best,
        aside=aside,
        problem=kept,
        log_joint_uncoarsened=uncoarsened,
        log_likelihood=uncoarsened - log_joint(nothing, partition),
        independent_share=independent_share(kept, restarts[best].labels),
    )


def chosen_step(steps: Sequence[Step]) -> int:
    """Return the finest step whose coarsening its own partition bears out, or else the last one.

    The partition at 1 may owe clusters to dependence, and so leave less of it between features than there is. Hence
    the search steps down to the share that each partition leaves, until the next leaves the same.
    """
    for index, step in enumerate(steps):
        if step.borne_out:
            return index
    return len(steps) - 1
