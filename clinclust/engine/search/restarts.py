"""Restarts from different starts, then refinement of the best partitions.

Restarts stop when the best partition has been found often enough. The best partitions are then recombined in pairs, and
the leading ones are perturbed as long as this leads to better partitions (`refine`). The results of all searches are
kept, because partitions whose log joints differ by a few nats are about equally good.

Searches run in batches on threads. The searches of a batch depend only on the results of earlier batches, so the number
of threads does not change the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
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
from clinclust.engine.search.threads import SearchCancelled, Threads

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["best_distinct", "index_of_best", "run_restarts"]

Labels = NDArray[np.int64]
Maker = Callable[..., Labels | None]
Begin = Callable[..., RestartResult]
"""`search_from` with fixed problem and attempts; it takes the start and the plan."""

# If several restarts end at the best partition, there is rarely a better one. If all restarts end at different
# partitions, there usually is, and a longer refinement pays.
_PATIENCE_IF_FOUND_OFTEN, _PATIENCE = 4, 12
_ELITE = 6
"""Number of best partitions whose pairs are recombined."""
_PERTURBED = 3
"""Number of best partitions that are perturbed. Half of each batch perturbs the best one; the rest is shared by all."""
_BATCH = 8


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
    with Threads(n_threads(plan.n_jobs)) as pool:
        try:
            found = _restarts(pool, begin, starts, plan, second_half)
            if plan.refine:
                found += _refinements(pool, problem, begin, found, plan)
        except BaseException:
            plan.cancelled.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def _restarts(
    pool: Threads,
    begin: Begin,
    starts: list[Start],
    plan: SearchPlan,
    second_half: Callable[[list[Start], list[RestartResult]], list[Start]] | None,
) -> list[RestartResult]:
    """Search from the starts in order; skip the last ones if the best partition was found often enough."""
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
            _refuse_cancelled(plan)
            if plan.finished is not None:
                plan.finished(found[-1])
    finally:
        left_out.set()
        for future in futures:
            future.cancel()
    return found


def _refuse_cancelled(plan: SearchPlan) -> None:
    """Raise SearchCancelled if the plan is cancelled: searches that stopped early are no result."""
    if plan.cancelled.is_set():
        raise SearchCancelled("the search was cancelled")


def _times_found(found: list[RestartResult]) -> int:
    """Return the number of restarts that ended at the best log joint."""
    best = max((restart.log_joint for restart in found), default=0.0)
    return sum(restart.log_joint > best - 1e-6 for restart in found)


class _Either(Event):
    """An event that also counts as set when another event is set."""

    def __init__(self, other: Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()


def _refinements(
    pool: Threads,
    problem: Problem,
    begin: Begin,
    found: list[RestartResult],
    plan: SearchPlan,
) -> list[RestartResult]:
    """Recombine and perturb the best partitions, and search from the results; return these searches."""
    patience = plan.patience
    if patience is None:
        patience = _PATIENCE_IF_FOUND_OFTEN if _times_found(found) >= plan.often_enough else _PATIENCE
    everything = list(found)
    tried: set[tuple[float, float]] = set()
    numbers = itertools.count()

    def run(name: str, makers: list[tuple[RestartResult, Maker]]) -> bool:
        """Search from the labels that each maker returns; return whether a better partition was found."""
        _refuse_cancelled(plan)
        before = max(restart.log_joint for restart in everything)
        futures = [
            pool.submit(_search_from_made, partial(begin, plan=plan), name, make, origin, _seed(plan, next(numbers)))
            for origin, make in makers
        ]
        everything.extend(restart for future in futures if (restart := future.result()) is not None)
        return max(restart.log_joint for restart in everything) > before + minimum_gain(problem)

    failures = 0
    while failures < patience:
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
    """Return the seed of a refinement. Its spawn key is one level longer than those of the restarts, so it differs."""
    return np.random.SeedSequence(plan.seed, spawn_key=(0, number))


def _recombined(problem: Problem, first: RestartResult, second: RestartResult, rng: np.random.Generator) -> Labels:
    return recombined(_with_features_of(first, problem), first.labels, second.labels)


def _with_features_of(restart: RestartResult, problem: Problem) -> Problem:
    included = _included(restart)
    return problem if included is None else problem.with_features(included)


def _included(restart: RestartResult) -> NDArray[np.bool_] | None:
    """Return the features that a restart selected, or None (all features) if it selected none.

    A search needs at least one feature.
    """
    return None if restart.included is None or not restart.included.any() else restart.included


def _perturbed(problem: Problem, origin: RestartResult, cancelled: Event, rng: np.random.Generator) -> Labels | None:
    return perturbed(_with_features_of(origin, problem), origin.labels, rng, cancelled)


def best_distinct(found: list[RestartResult], at_most: int) -> list[RestartResult]:
    """Return at most `at_most` distinct partitions, best first.

    Partitions whose log joints are equal to six decimals count as the same partition.
    """
    distinct: dict[float, RestartResult] = {}
    for restart in found:
        distinct.setdefault(round(restart.log_joint, 6), restart)
    return sorted(distinct.values(), key=lambda restart: -restart.log_joint)[:at_most]


def _joints(pair: tuple[RestartResult, RestartResult]) -> tuple[float, float]:
    return pair[0].log_joint, pair[1].log_joint


def index_of_best(found: list[RestartResult]) -> int:
    """Return the index of the restart with the highest log joint; the first of several equal ones."""
    return max(range(len(found)), key=lambda index: found[index].log_joint)
