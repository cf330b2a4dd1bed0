"""Search for the partition and for the values to set aside (`outlying`) together: one joint, raised in turns.

With the switches as they are, the whole search raises the joint of the values that are kept; with the partition as it
is, `best_switches` does. What neither undoes is a cluster that only outlying values hold together, for its own wide
distribution has made them ordinary: so each cluster in turn, the smallest first, is dissolved into the others, values
are set aside anew, and the outcome is kept if the joint is higher.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.beside.outlying import Switches, best_elsewhere, best_switches, set_aside
from clinclust.engine.search.attempts import Attempts
from clinclust.engine.search.labels import compact
from clinclust.engine.search.one_start import Restart, search_from
from clinclust.engine.search.restarts import run_restarts
from clinclust.engine.search.settle import minimum_gain, settle
from clinclust.engine.search.starts import Start

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["Found", "nothing_aside", "raise_in_turns", "restarts_beside", "search"]

Labels = NDArray[np.int64]

_ROUNDS_OF_A_DISSOLUTION = 4


class Found(NamedTuple):
    """What a search with values set aside found."""

    restarts: list[Restart]
    """As `run_restarts` returns them, each with the joint of its partition and the best switches for it."""
    best: int
    """Which of them the winner is; it alone has been searched on in turns."""
    aside: Switches
    """(N, D) the winner's switches."""
    problem: Problem
    """The problem of the values that are kept, whose joint is the winner's."""


def nothing_aside(problem: Problem) -> Switches:
    """Return switches that keep every value, bool (N, D)."""
    return np.zeros((problem.cohort.n_subjects, len(problem.cohort.encoding.features)), dtype=np.bool_)


def search(
    problem: Problem,
    starts: list[Start],
    share: float,
    *,
    max_sweeps: int,
    n_jobs: int | None = None,
    refine: bool = False,
    finished: Callable[[Restart], object] = lambda restart: None,
) -> Found:
    """Search from every start for the best partition, with values set aside if a share above 0 is outlying.

    Parameters
    ----------
    problem : Problem
        Of all values.
    starts : list of Start
    share : float
        Probability, in [0, 1), that a value is outlying. At 0 nothing is set aside.
    max_sweeps, n_jobs, refine, finished
        As in `run_restarts`.
    """
    aside = nothing_aside(problem)
    if share == 0.0:
        restarts = run_restarts(problem, starts, max_sweeps=max_sweeps, n_jobs=n_jobs, refine=refine, finished=finished)
        return Found(restarts, _best(restarts), aside, problem)
    # What is outlying for the whole cohort is set aside first, so that it does not lead the search astray.
    aside, _ = best_switches(problem, np.zeros(problem.cohort.n_subjects, dtype=np.int64), aside, share)
    restarts, switches = restarts_beside(
        problem, starts, aside, share, max_sweeps=max_sweeps, n_jobs=n_jobs, refine=refine, finished=finished
    )
    best = _best(restarts)
    restarts[best], aside = raise_in_turns(
        problem, restarts[best], switches[best], share, starts[0], max_sweeps, look_back=True
    )
    return Found(restarts, best, aside, set_aside(problem, aside, share))


def restarts_beside(
    problem: Problem,
    starts: list[Start],
    aside: Switches,
    share: float,
    *,
    max_sweeps: int,
    n_jobs: int | None = None,
    refine: bool = False,
    finished: Callable[[Restart], object] = lambda restart: None,
) -> tuple[list[Restart], list[Switches]]:
    """Search from every start among the values that `aside` keeps, then set aside what is best for each partition.

    The joint of a restart is that of its partition and its switches, so that restarts compare.
    """
    kept = set_aside(problem, aside, share) if share > 0.0 else problem
    restarts = run_restarts(kept, starts, max_sweeps=max_sweeps, n_jobs=n_jobs, refine=refine, finished=finished)
    if share == 0.0:
        return restarts, [aside] * len(restarts)
    switched = [best_switches(problem, restart.labels, aside, share) for restart in restarts]
    restarts = [
        replace(restart, log_joint=joint, trace=np.append(restart.trace, joint))
        for restart, (_, joint) in zip(restarts, switched, strict=True)
    ]
    return restarts, [switches for switches, _ in switched]


def raise_in_turns(
    problem: Problem,
    restart: Restart,
    aside: Switches,
    share: float,
    start: Start,
    max_sweeps: int,
    *,
    look_back: bool,
) -> tuple[Restart, Switches]:
    """Raise the joint by switches, by the search and by dissolving clusters, in turns, until none of them can.

    Parameters
    ----------
    problem : Problem
        Of all values.
    restart : Restart
        Where to begin, with the joint of its partition and of `aside`.
    aside : bool (N, D)
    share : float
    start : Start
        For its seed and its order of visits.
    max_sweeps : int
    look_back : bool
        Also search once with all values kept: a rare subtype far from everybody else may have been set aside value
        by value.
    """
    if share == 0.0:
        return _searched_on(problem, restart, start, max_sweeps), aside
    least = minimum_gain(problem)
    while True:
        before = restart.log_joint
        aside, _ = best_switches(problem, restart.labels, aside, share)
        restart = _searched_on(set_aside(problem, aside, share), restart, start, max_sweeps)
        restart, aside = _dissolved(problem, restart, aside, share, start)
        if restart.log_joint > before + least:
            continue
        if not look_back:
            return restart, aside
        look_back = False
        whole = search_from(problem, _from(restart.labels, start), max_sweeps, Event(), Attempts())
        again, joint = best_switches(problem, whole.labels, nothing_aside(problem), share)
        trace = np.append(restart.trace, joint)
        other, switches = _dissolved(
            problem, replace(restart, labels=whole.labels, log_joint=joint), again, share, start
        )
        if other.log_joint > restart.log_joint + least:
            trace = np.append(restart.trace, other.log_joint)
            restart, aside = replace(other, trace=trace), switches


def _best(restarts: list[Restart]) -> int:
    return int(np.argmax([restart.log_joint for restart in restarts]))  # the first of equals


def _from(labels: Labels, start: Start) -> Start:
    """Return a start at these labels, with the seed and the order of visits of another."""
    return Start("given", labels, start.seed, start.order)


def _searched_on(kept: Problem, restart: Restart, start: Start, max_sweeps: int) -> Restart:
    """Search on from a restart's partition, among the values that are kept."""
    found = search_from(kept, _from(restart.labels, start), max_sweeps, Event(), Attempts())
    return replace(
        found,
        start=restart.start,
        trace=np.append(restart.trace, found.trace),
        n_sweeps=restart.n_sweeps + found.n_sweeps,
        seconds=restart.seconds + found.seconds,
    )


def _dissolved(
    problem: Problem, restart: Restart, aside: Switches, share: float, start: Start
) -> tuple[Restart, Switches]:
    """Dissolve clusters for as long as that raises the joint, the smallest first."""
    least = minimum_gain(problem)
    cluster, order = 0, np.argsort(np.bincount(restart.labels), kind="stable")
    while cluster < order.size and order.size > 1:
        labels = best_elsewhere(problem, restart.labels, aside, share, int(order[cluster]))
        labels, switches, joint = _settled(problem, labels, aside, share, start)
        cluster += 1
        if joint > restart.log_joint + least:
            restart = replace(restart, labels=labels, log_joint=joint, trace=np.append(restart.trace, joint))
            aside = switches
            cluster, order = 0, np.argsort(np.bincount(labels), kind="stable")
    return restart, aside


def _settled(
    problem: Problem, labels: Labels, aside: Switches, share: float, start: Start
) -> tuple[Labels, Switches, float]:
    """Switch and settle in turns, a few times, or until the joint no longer rises."""
    joint = -np.inf
    for _ in range(_ROUNDS_OF_A_DISSOLUTION):
        aside, _ = best_switches(problem, labels, aside, share)
        settled = settle(set_aside(problem, aside, share), labels, start.order, 20, Event(), traced=False)
        labels = compact(settled.partition.labels)
        raised = settled.trace[-1] if settled.trace else -np.inf
        done, joint = raised <= joint + minimum_gain(problem), raised
        if done:
            break
    return labels, aside, joint
