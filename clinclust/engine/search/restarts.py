"""Many searches, one answer: restarts from different places, then refinement of what they found.

Restarts stop when the best partition has been found often enough. Then the best partitions are recombined in pairs,
and the leading ones are perturbed for as long as this leads to a better one (`refine`). What every search found is
kept, because different partitions within a few nats of each other are equally good answers.

Searches run on threads, a batch at a time. Which searches a batch holds follows from the results of earlier ones
alone, so the number of threads cannot change what is found.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.search.attempts import Attempts
from clinclust.engine.search.one_start import RestartResult, search_from
from clinclust.engine.search.plan import SearchPlan, n_threads
from clinclust.engine.search.refine import perturbed, recombined
from clinclust.engine.search.settle import minimum_gain
from clinclust.engine.search.starts import Start

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["best_distinct", "index_of_best", "run_restarts"]

Labels = NDArray[np.int64]
Maker = Callable[..., Labels | None]
Begin = Callable[..., RestartResult]
"""`search_from` with the problem and the attempts settled; it lacks the start and the plan."""

# Where several restarts end at the best partition, hardly ever is there a better one; where each ends at another,
# there mostly is, and pays for a longer look.
_PATIENCE_IF_FOUND_OFTEN, _PATIENCE = 4, 12
_ELITE = 6
"""Partitions of which each pair is recombined."""
_PERTURBED = 3
"""Partitions that are perturbed: the best takes half of each batch, and all take turns at the other half."""
_BATCH = 8


def run_restarts(
    problem: Problem,
    starts: list[Start],
    plan: SearchPlan,
    *,
    search: Callable[..., RestartResult] = search_from,
    second_half: Callable[[list[Start], list[RestartResult]], list[Start]] | None = None,
) -> list[RestartResult]:
    """Search from every start, on threads; the results come in a fixed order, whatever the threads did.

    Parameters
    ----------
    problem : Problem
    starts : list of Start
    plan : SearchPlan
        What refinement finds stands after the restarts.
    search : callable
        What searches from one start, with the parameters of `search_from`.
    second_half : callable, optional
        Called with the second half of the starts and what was found from the first; returns where to begin instead.
    """
    begin = partial(search, problem, attempts=Attempts())
    with ThreadPoolExecutor(max_workers=n_threads(plan.n_jobs)) as pool:
        try:
            found = _restarts(pool, begin, starts, plan, second_half)
            if plan.refine:
                found += _refinements(pool, problem, begin, found, plan)
        except BaseException:
            # Ctrl-C reaches this thread only: the others stop at the end of their sweep.
            plan.cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def _restarts(
    pool: ThreadPoolExecutor,
    begin: Begin,
    starts: list[Start],
    plan: SearchPlan,
    second_half: Callable[[list[Start], list[RestartResult]], list[Start]] | None,
) -> list[RestartResult]:
    """Search from the starts in their order; perhaps leave out the last ones."""
    found: list[RestartResult] = []
    left_out = _Either(plan.cancelled)
    own_plan = replace(plan, cancelled=left_out)
    n_first = len(starts) if second_half is None else (len(starts) + 1) // 2
    futures = [pool.submit(begin, start=start, plan=own_plan) for start in starts[:n_first]]
    try:
        while len(found) < len(starts) and not (plan.refine and _times_found(found) == plan.often_enough):
            if len(found) == n_first and second_half is not None:
                later = second_half(starts[n_first:], found)
                futures += [pool.submit(begin, start=start, plan=own_plan) for start in later]
            found.append(futures[len(found)].result())
            if plan.finished is not None:
                plan.finished(found[-1])
    finally:
        left_out.set()
        for future in futures:
            future.cancel()
    return found


def _times_found(found: list[RestartResult]) -> int:
    """Return how many restarts ended at the best log joint."""
    best = max((restart.log_joint for restart in found), default=0.0)
    return sum(restart.log_joint > best - 1e-6 for restart in found)


class _Either(Event):
    """An event that is also set when another one is."""

    def __init__(self, other: Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()


def _refinements(
    pool: ThreadPoolExecutor,
    problem: Problem,
    begin: Begin,
    found: list[RestartResult],
    plan: SearchPlan,
) -> list[RestartResult]:
    """Recombine and perturb the best of what was found; return what came of it."""
    patience = plan.patience
    if patience is None:
        patience = _PATIENCE_IF_FOUND_OFTEN if _times_found(found) >= plan.often_enough else _PATIENCE
    everything = list(found)
    tried: set[tuple[float, float]] = set()
    numbers = itertools.count()

    def run(name: str, makers: list[tuple[RestartResult, Maker]]) -> bool:
        """Search from what each maker makes of a restart; return whether this found a better partition."""
        before = max(restart.log_joint for restart in everything)
        futures = [
            pool.submit(_search_from_made, partial(begin, plan=plan), name, make, origin, _seed(plan, next(numbers)))
            for origin, make in makers
        ]
        everything.extend(restart for future in futures if (restart := future.result()) is not None)
        return max(restart.log_joint for restart in everything) > before + minimum_gain(problem)

    failures = 0
    while failures < patience and not plan.cancelled.is_set():
        while pairs := [
            pair for pair in itertools.combinations(best_distinct(everything, _ELITE), 2) if _joints(pair) not in tried
        ]:
            tried.update(_joints(pair) for pair in pairs)
            if run("recombined", [(pair[0], partial(_recombined, problem, *pair)) for pair in pairs]):
                failures = 0
        leading = best_distinct(everything, _PERTURBED)
        origins = [leading[turn // 2 % len(leading)] if turn % 2 else leading[0] for turn in range(_BATCH)]
        improved = run(
            "perturbed", [(origin, partial(_perturbed, problem, origin, plan.cancelled)) for origin in origins]
        )
        failures = 0 if improved else failures + 1
    return everything[len(found) :]


def _search_from_made(
    begin: Begin, name: str, make: Maker, origin: RestartResult, seed: np.random.SeedSequence
) -> RestartResult | None:
    rng = np.random.default_rng(seed)
    labels = make(rng=rng)
    if labels is None:
        return None
    start = Start(name, labels, seed, rng.permutation(labels.size), included=_included(origin))
    return begin(start=start)


def _seed(plan: SearchPlan, number: int) -> np.random.SeedSequence:
    """Return the seed of a refinement, apart from those of the restarts, which are spawned one level higher."""
    return np.random.SeedSequence(plan.seed, spawn_key=(0, number))


def _recombined(problem: Problem, first: RestartResult, second: RestartResult, rng: np.random.Generator) -> Labels:
    return recombined(_with_features_of(first, problem), first.labels, second.labels)


def _with_features_of(restart: RestartResult, problem: Problem) -> Problem:
    included = _included(restart)
    return problem if included is None else problem.with_features(included)


def _included(restart: RestartResult) -> NDArray[np.bool_] | None:
    """Return the features that a restart selected; all if it selected none, since nothing can be searched on none."""
    return None if restart.included is None or not restart.included.any() else restart.included


def _perturbed(problem: Problem, origin: RestartResult, cancelled: Event, rng: np.random.Generator) -> Labels | None:
    return perturbed(_with_features_of(origin, problem), origin.labels, rng, cancelled)


def best_distinct(found: list[RestartResult], at_most: int) -> list[RestartResult]:
    """Return the best partitions that differ; equal joints to six decimals count as one partition."""
    distinct: dict[float, RestartResult] = {}
    for restart in found:
        distinct.setdefault(round(restart.log_joint, 6), restart)
    return sorted(distinct.values(), key=lambda restart: -restart.log_joint)[:at_most]


def _joints(pair: tuple[RestartResult, RestartResult]) -> tuple[float, float]:
    return pair[0].log_joint, pair[1].log_joint


def index_of_best(found: list[RestartResult]) -> int:
    """Return which restart has the highest joint, the first of equals."""
    return max(range(len(found)), key=lambda index: found[index].log_joint)
