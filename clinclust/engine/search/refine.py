"""Refinement: recombine and perturb the best partitions as long as this leads to better ones.

If all restarts ended at different partitions, new starts race: they are searched without divisions of clusters, which
take nine tenths of the time, and only the best of them are searched to the end. Tiny gains then do not count.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.engine.problem.objective import joint_of
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import compact
from clinclust.engine.search.one_start import continued
from clinclust.engine.search.plan import Either, RestartResult, SearchPlan
from clinclust.engine.search.settle import hasten, minimum_gain, settle
from clinclust.engine.search.split_merge import merge_all, merge_gains
from clinclust.engine.search.starts import Start
from clinclust.engine.search.threads import Threads

Maker = Callable[[Problem, np.random.Generator], Labels | None]
"""It returns the labels of a start, or None if a search from them would find nothing new."""
Begin = Callable[..., RestartResult]
"""`search_from` with fixed problem and attempts; it takes the start and the plan."""

_MOST_CLUSTERS = 4
_HASTY_ROUNDS = 8
_SWEEPS = 20
_PATIENCE_IF_FOUND_OFTEN, _PATIENCE = 4, 12
_ELITE = 6
"""Number of best partitions whose pairs are recombined."""
_PERTURBED = 3
"""Number of best partitions that are perturbed. Half of each batch perturbs the best one."""
_BATCH = 8
_FINISHERS = 2
"""Number of partitions of a race that are searched to the end."""
_CLOSE = 30.0
"""Nats below the best partition within which a partition of a race may still lead to a better one."""
_WORTHWHILE = 1e-4
"""Gain, as a share of what the clusters explain, that prolongs a refinement with races."""


class Refinement:
    """The refinement of the partitions that restarts found, with races unless the best was found often enough."""

    def __init__(
        self,
        pool: Threads,
        problem: Problem,
        begin: Begin,
        found: list[RestartResult],
        plan: SearchPlan,
        *,
        found_often: bool,
    ) -> None:
        self._pool, self._problem, self._begin = pool, problem, begin
        # When the time is used up, the searches of the refinement end at once: the partitions found before suffice.
        self._enough = Either(plan.cancelled, plan.budget)
        self._plan = replace(plan, cancelled=self._enough)
        self._refuse_cancelled = plan.refuse_cancelled
        self._races = not found_often
        self._patience = plan.patience or (_PATIENCE_IF_FOUND_OFTEN if found_often else _PATIENCE)
        self._everything = list(found)
        self._n_restarts = len(found)
        self._tried: set[tuple[float, float]] = set()
        self._numbers = itertools.count()

    def results(self, advance: Callable[[], object]) -> list[RestartResult]:
        """Recombine and perturb until this finds nothing better; return the results of these searches."""
        failures = 0
        while failures < self._patience and not self._enough.is_set():
            before = self._best()
            self._recombine()
            if self._best() > before + self._worthwhile():
                failures = 0
            before = self._best()
            self._perturb()
            failures = 0 if self._best() > before + self._worthwhile() else failures + 1
            advance()
        return self._everything[self._n_restarts :]

    def _recombine(self) -> None:
        """Recombine the pairs of the best partitions until there is no new pair, or no worthwhile gain by races."""
        while not self._enough.is_set():
            pairs = [
                pair
                for pair in itertools.combinations(best_distinct(self._everything, _ELITE), 2)
                if _joints(pair) not in self._tried
            ]
            if not pairs:
                return
            self._tried.update(map(_joints, pairs))
            before = self._best()
            makers = [partial(recombined, first=first.labels, second=second.labels) for first, second in pairs]
            self._run("recombined", [first for first, _ in pairs], makers)
            if self._races and self._best() <= before + self._worthwhile():
                return

    def _perturb(self) -> None:
        leading = best_distinct(self._everything, _PERTURBED)
        origins = [leading[turn // 2 % len(leading)] if turn % 2 else leading[0] for turn in range(_BATCH)]
        makers = [partial(perturbed, labels=origin.labels, cancelled=self._enough) for origin in origins]
        self._run("perturbed", origins, makers)

    def _best(self) -> float:
        return max(restart.log_joint for restart in self._everything)

    def _worthwhile(self) -> float:
        """Return the gain, in nats, that prolongs the refinement."""
        least = minimum_gain(self._problem)
        if not self._races:
            return least
        one_cluster = joint_of(self._problem, self._problem.cohort.together)
        return max(least, _WORTHWHILE * (self._best() - one_cluster))

    def _run(self, name: str, origins: Sequence[RestartResult], makers: Sequence[Maker]) -> None:
        """Search from the labels that each maker returns, with the features of its origin."""
        plan = replace(self._plan, divide=False) if self._races else self._plan
        begin = partial(_search_from_made, self._problem, partial(self._begin, plan=plan), name)
        futures = []
        for make, origin in zip(makers, origins, strict=True):
            # The spawn key is one level longer than those of the restarts.
            seed = np.random.SeedSequence(self._plan.seed, spawn_key=(0, next(self._numbers)))
            futures.append(self._pool.submit(begin, make, origin, seed))
        results = [result for future in futures if (result := future.result()) is not None]
        self._refuse_cancelled()
        if self._races:
            results = self._raced(results)
        # A search that the time ended between two sweeps is not at a fixed point.
        ended = self._plan.budget.cut_short
        self._everything.extend(result for _, result in results if result.converged or not ended)

    def _raced(self, results: list[tuple[Start, RestartResult]]) -> list[tuple[Start, RestartResult]]:
        """Search to the end from the best partitions of a race that are new; return all results, in order."""
        known = {round(restart.log_joint, 6) for restart in self._everything}
        least = self._best() - _CLOSE
        places: list[int] = []
        for place in sorted(range(len(results)), key=lambda place: -results[place][1].log_joint):
            joint = round(results[place][1].log_joint, 6)
            if len(places) < _FINISHERS and joint not in known and joint >= least:
                known.add(joint)
                places.append(place)
        begin = partial(self._begin, plan=self._plan)
        futures = [(place, self._pool.submit(continued, begin, *results[place])) for place in places]
        for place, future in futures:
            start, raced = results[place]
            finished = future.result()
            if finished.converged or not raced.converged:
                results[place] = (start, finished)
        self._refuse_cancelled()
        return results


def _search_from_made(
    problem: Problem, begin: Begin, name: str, make: Maker, origin: RestartResult, seed: np.random.SeedSequence
) -> tuple[Start, RestartResult] | None:
    rng, included = np.random.default_rng(seed), origin.searched_features
    labels = make(problem if included is None else problem.with_features(included), rng)
    if labels is None:
        return None
    start = Start(name, labels, seed, rng.permutation(labels.size), included=included)
    return start, begin(start=start)


def recombined(problem: Problem, _rng: np.random.Generator, first: Labels, second: Labels) -> Labels:
    """Return labels of the common refinement of two partitions, with clusters merged while the log joint rises."""
    return merge_all(problem, compact(first * (int(second.max()) + 1) + second), minimum_gain(problem))


def perturbed(problem: Problem, rng: np.random.Generator, labels: Labels, cancelled: Event) -> Labels | None:
    """Return labels with one to four similar clusters divided at random and swept; None, as mostly, if unchanged."""
    partition = problem.partition(labels)
    group = _neighbours(merge_gains(problem, partition), rng)
    members = np.flatnonzero(np.isin(labels, group))
    n_clusters = int(partition.n_clusters[0])
    part = problem.restricted_to(members, n_clusters - len(group))
    # The number of parts is at least 2 and at most two more than before. Fewer rounds of `hasten` give a rougher start.
    n_parts = int(rng.integers(2, len(group) + 3))
    start = hasten(part, compact(rng.integers(n_parts, size=members.size)), int(rng.integers(1, _HASTY_ROUNDS)))
    settled = settle(part, start, rng.permutation(members.size), _SWEEPS, cancelled, traced=False)
    changed = labels.copy()
    changed[members] = n_clusters + settled.partition.labels
    changed = merge_all(problem, compact(changed), minimum_gain(problem))
    return None if np.array_equal(changed, compact(labels)) else changed


def _neighbours(gains: Array, rng: np.random.Generator) -> list[int]:
    """Draw a cluster and up to three others that would merge with one of those drawn before at a low loss."""
    n_clusters = gains.shape[0]
    gains = np.maximum(gains, gains.T)
    group = [int(rng.integers(n_clusters))]
    for _ in range(int(rng.integers(min(_MOST_CLUSTERS, n_clusters)))):
        others = np.setdiff1d(np.arange(n_clusters), group)
        nearest = others[np.argsort(-gains[group][:, others].max(axis=0), kind="stable")]
        group.append(int(nearest[min(int(rng.geometric(0.6)) - 1, nearest.size - 1)]))
    return group


def best_distinct(found: list[RestartResult], at_most: int) -> list[RestartResult]:
    """Return at most `at_most` partitions with distinct log joints, to six decimals, best first."""
    distinct: dict[float, RestartResult] = {}
    for restart in found:
        distinct.setdefault(round(restart.log_joint, 6), restart)
    return sorted(distinct.values(), key=lambda restart: -restart.log_joint)[:at_most]


def _joints(pair: tuple[RestartResult, RestartResult]) -> tuple[float, float]:
    return pair[0].log_joint, pair[1].log_joint
