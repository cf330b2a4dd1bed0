"""Subjects in shards that lie elsewhere, in files or on the workers of a cluster, and are never gathered.

Functions of a shard run where it lies (`Place`) and send back sums and a few subjects. Sums are added in the order of
the shards, so that the same shards give the same bits wherever they lie, and whatever else runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from threading import Event
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from clinclust.arrays import Array, Labels, Whole
from clinclust.engine.kernels.partition import CohortArrays, Partition, clusters_without_subjects
from clinclust.engine.kernels.sweep import make_moves
from clinclust.engine.problem.encoding import EncodedCohort
from clinclust.engine.problem.objective import joint_of_sums
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.one_start import merge_and_divide
from clinclust.engine.search.plan import Either, SearchPlan
from clinclust.engine.search.restarts import N_DIVIDED
from clinclust.engine.search.settle import Settled, minimum_gain, settled_by_scans
from clinclust.engine.search.shard import (
    Numbers,
    Sums,
    after_division,
    after_moves,
    assign,
    candidates,
    count,
    divide,
    members,
    rename,
    scan_shard,
    sizes_of,
    sums_of,
)
from clinclust.engine.search.split_merge import merged_into, resettle

_MOST_MOVED = 100_000
"""Largest number of candidates that are moved one by one after a scan; the next scan finds the others."""

Handle = Any
"""The result of a function at a `Place`, which stays there; an argument of other functions."""


class Place(Protocol):
    """Where shards lie, and functions of them run."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Run a function, some of whose arguments are handles; its result stays."""

    def results(self, handles: Sequence[Handle]) -> list[Any]:
        """Return results, in the order of their handles."""


class PartitionedScan(NamedTuple):
    """Result of a scan of all partitions."""

    of_shards: list[Handle]
    n_candidates: int
    sizes: Array
    statistics: Array


@dataclass(frozen=True)
class WholeCohort(EncodedCohort):
    """The cohort of all partitions: numbers and tables, with none of its subjects."""

    n_of_all: int = 0
    n_observed_of_all: tuple[int, ...] = ()

    @property
    def n_subjects(self) -> int:
        """Number of subjects, N."""
        return self.n_of_all

    @property
    def n_observed(self) -> Whole:
        """Number of observed values of each feature, int64 (D,)."""
        return np.array(self.n_observed_of_all, dtype=np.int64)


@dataclass(frozen=True)
class Partitioned:
    """Subjects in many partitions with their clusters (`Partitions`)."""

    problem: Problem
    """The problem of a `WholeCohort`."""
    place: Place
    shards: tuple[Handle, ...]
    labels: tuple[Handle, ...]
    """Clusters of the subjects of each partition, int32 (n,)."""
    aside: tuple[Handle, ...]
    """Outlying values of each partition (`Shard.blocks`)."""
    clusters: Partition

    def each(self, function: Callable[..., Any], *arguments: Any, lists: Sequence[Sequence[Handle]]) -> list[Handle]:
        """Run a function of each partition, with its handles in these lists before the arguments; return handles."""
        return [self.place.submit(function, *own, *arguments) for own in zip(*lists, strict=True)]

    @property
    def n_clusters(self) -> int:
        """Number of clusters, K."""
        return int(self.clusters.n_clusters[0])

    @property
    def lists(self) -> tuple[Sequence[Handle], ...]:
        """Partitions, labels and outlying values."""
        return self.shards, self.labels, self.aside

    def with_sums(self, sums: Sums, labels: Sequence[Handle]) -> Self:
        """Return the partitions with other clusters, none of them empty."""
        clusters = clusters_without_subjects(self.problem.cohort.arrays, *sums)
        return replace(self, clusters=clusters, labels=tuple(labels))

    def with_labels(self, labels: Sequence[Handle], n_clusters: int) -> Self:
        """Return the partitions with these labels, after counting; empty clusters are left out."""
        sums = added(self.place.results(self.each(count, n_clusters, lists=(self.shards, labels, self.aside))))
        if sums[0].all():
            return self.with_sums(sums, labels)
        kept = np.flatnonzero(sums[0] > 0.0)
        numbers = numbered(kept, n_clusters)
        return self.with_sums((sums[0][kept], sums[1][kept]), self.each(rename, numbers, lists=[labels]))

    def assigned(self, sums: Sums) -> Self:
        """Return all subjects in the best of clusters with these sums, of other subjects."""
        model = self.problem.model
        labels = self.each(assign, model, sums, lists=(self.shards, self.aside))
        return self.with_labels(labels, sums[0].size)

    def in_order(self, order: Labels) -> Self:
        """Return the same clusters with other numbers: cluster order[k] becomes k."""
        sizes, statistics = sums_of(self.clusters)
        numbers = numbered(order, order.size)
        return self.with_sums((sizes[order], statistics[order]), self.each(rename, numbers, lists=[self.labels]))

    def scan(self, minimum_gain: float) -> PartitionedScan:
        """Find the best cluster of every subject."""
        given = self.problem.model, sums_of(self.clusters), minimum_gain
        found = self.each(scan_shard, *given, lists=self.lists)
        sums = self.place.results(self.each(attrgetter("n_candidates", "sums"), lists=[found]))
        return PartitionedScan(found, sum(n for n, _ in sums), *added([own for _, own in sums]))

    def all_moved(self, found: PartitionedScan) -> Self:
        """Return the partitions with all subjects in their best clusters at once; none may be empty."""
        n_clusters = self.n_clusters
        sums = found.sizes[:n_clusters], found.statistics[:n_clusters]
        return self.with_sums(sums, self.each(attrgetter("best"), lists=[found.of_shards]))

    def candidates_moved(self, found: PartitionedScan, minimum_gain: float) -> Self:
        """Gather the candidates, move them one by one, and send their clusters back."""
        lists = (*self.lists, found.of_shards)
        gathered = self.place.results(self.each(candidates, _MOST_MOVED // len(self.shards) + 1, lists=lists))
        n_clusters = self.n_clusters
        # A move may rename the last cluster. One more subject in each, which is not visited, remembers its name.
        before = [labels for _, labels in gathered]
        arrays = together([*(own for own, _ in gathered), self.problem.cohort.arrays])
        labels = np.concatenate([*before, np.arange(n_clusters)])
        moved = moved_one_by_one(self.problem, sums_of(self.clusters), arrays, labels, minimum_gain)
        *after, names = np.split(moved.labels.astype(np.int32), np.cumsum([labels.size for labels in before]))
        changed = [
            self.place.submit(after_moves, labels, own, new, names)
            for labels, own, new in zip(self.labels, found.of_shards, after, strict=True)
        ]
        return self.with_labels(changed, int(moved.n_clusters[0]))

    def merged(self) -> Self:
        """Return the partitions after all merges of clusters that raise the log joint."""
        clusters = clusters_without_subjects(self.problem.cohort.arrays, *sums_of(self.clusters))
        into = merged_into(self.problem, clusters, minimum_gain(self.problem))
        kept, numbers = np.unique(into, return_inverse=True)
        labels = self.each(rename, numbers.astype(np.int32), lists=[self.labels])
        return self.with_sums((clusters.sizes[kept], clusters.statistics[kept]), labels)

    def divided(self, rng: np.random.Generator, cancelled: Event, pool: Executor) -> Self | None:
        """Return the partitions after all divisions of clusters that raise the log joint; None if there are none.

        A division is searched for among some members of a cluster, who are gathered.
        """
        n_clusters, least = self.n_clusters, minimum_gain(self.problem)
        futures = [
            (among, pool.submit(resettle, among, among.cohort.together, seeded, cancelled))
            for among, seeded in zip(self._some_of_each(rng), rng.spawn(n_clusters), strict=True)
        ]
        found = [(among, future.result()) for among, future in futures]
        divisions = {
            cluster: sums_of(among.partition(division))
            for cluster, (among, (gain, division)) in enumerate(found)
            if gain > least
        }
        if not divisions or cancelled.is_set():
            return None
        model = found[0][0].model
        parts = self.each(divide, model, divisions, lists=self.lists)
        of_parts = self.place.results(self.each(attrgetter("sums"), lists=[parts]))
        sizes, statistics = ([row] for row in sums_of(self.clusters))
        renamed = np.repeat(np.arange(n_clusters, dtype=np.int32)[:, None], 1 + _most(divisions), axis=1)
        n_after = n_clusters
        for cluster in divisions:
            sums = added([own[cluster] for own in of_parts])
            held = np.flatnonzero(sums[0] > 0.0)
            here = found[cluster][0]
            together = sizes[0][[cluster]], statistics[0][[cluster]]
            if held.size < 2 or joint_of_sums(here, *(it[held] for it in sums)) <= least + joint_of_sums(
                here, *together
            ):
                continue
            sizes[0][cluster], statistics[0][cluster] = sums[0][held[0]], sums[1][held[0]]
            sizes.append(sums[0][held[1:]])
            statistics.append(sums[1][held[1:]])
            renamed[cluster, held[1:]] = np.arange(n_after, n_after + held.size - 1)
            n_after += held.size - 1
        if n_after == n_clusters:
            return None
        labels = self.each(after_division, renamed, lists=(self.labels, parts))
        return self.with_sums((np.concatenate(sizes), np.concatenate(statistics)), labels)

    def _some_of_each(self, rng: np.random.Generator) -> list[Problem]:
        """Return the problem of some members of each cluster, while the others are as they are."""
        n_clusters = self.n_clusters
        sizes = np.array(self.place.results(self.each(sizes_of, n_clusters, lists=[self.labels])))
        ends = np.cumsum(sizes, axis=0)
        chosen = [np.sort(rng.choice(n, min(n, N_DIVIDED), replace=False)) for n in ends[-1].tolist()]
        ranks = [
            [some[np.searchsorted(some, end - n) : np.searchsorted(some, end)] - (end - n) for some, end, n in own]
            for own in (zip(chosen, *both, strict=True) for both in zip(ends, sizes, strict=True))
        ]
        gathered = self.place.results(
            [self.place.submit(members, *own) for own in zip(*self.lists, ranks, strict=True)]
        )
        return [problem_of(self.problem, together(own), n_clusters - 1) for own in zip(*gathered, strict=True)]


def moved_one_by_one(
    problem: Problem, sums: Sums, subjects: CohortArrays, labels: Labels, minimum_gain: float
) -> Partition:
    """Return the clusters after subjects of clusters with these sums have moved to their best clusters, one by one.

    The last of the subjects, which is that of the tables, does not move. There may be more labels than subjects.
    """
    tables, model, position = problem.cohort.arrays, problem.model, 0
    clusters = clusters_without_subjects(tables, *sums)._replace(labels=labels)
    order = np.arange(subjects.codes.shape[0] - 1)
    while position < order.size:
        position, _ = make_moves(subjects, model, clusters, order, position, minimum_gain=minimum_gain)
        if position < order.size:
            sizes, statistics = sums_of(clusters)
            n_more = 2 * sizes.size
            more = np.zeros(n_more), np.zeros((n_more, statistics.shape[1]))
            wider = clusters_without_subjects(
                tables, *(np.concatenate(both) for both in zip((sizes, statistics), more, strict=True))
            )
            wider.n_clusters[0] = sizes.size
            clusters = wider._replace(labels=clusters.labels)
    return clusters


def problem_of(problem: Problem, arrays: CohortArrays, n_others: int) -> Problem:
    """Return the problem of some subjects of a cohort, whose arrays these are (`Problem.restricted_to`)."""
    cohort = EncodedCohort(problem.cohort.encoding, arrays, 0.0, np.arange(arrays.codes.shape[0]))
    concentration = problem.model.concentration + n_others * problem.model.discount
    return replace(problem, cohort=cohort, model=problem.model._replace(concentration=concentration))


def added(sums: Sequence[Sums]) -> Sums:
    """Return sums over partitions, added in their order."""
    sizes, statistics = (np.array(first) for first in sums[0])
    for own in sums[1:]:
        sizes += own[0]
        statistics += own[1]
    return sizes, statistics


def numbered(kept: Labels, n_clusters: int) -> Numbers:
    """Return the new number of each of the clusters, int32 (K,), if these are kept; -1 of the others."""
    numbers = np.full(n_clusters, -1, dtype=np.int32)
    numbers[kept] = np.arange(kept.size)
    return numbers


def _most(divisions: Mapping[int, Sums]) -> int:
    return max(sizes.size for sizes, _ in divisions.values())


def together(arrays: Sequence[CohortArrays]) -> CohortArrays:
    """Return subjects of several arrays with the same tables, one after the other."""
    codes, values = [it.codes for it in arrays], [it.values for it in arrays]
    return arrays[0]._replace(codes=np.concatenate(codes), values=np.concatenate(values))


def searched_on(
    cohort: Partitioned, plan: SearchPlan, rng: np.random.Generator, pool: Executor
) -> Settled[Partitioned]:
    """Move subjects, merge and divide clusters, until this raises the log joint hardly any more."""
    enough = Either(plan.cancelled, plan.budget)

    def divided(found: Settled[Partitioned], _gains: Array) -> Partitioned | None:
        return found.partitions.divided(rng, enough, pool)

    settled = partial(settled_by_scans, plan=plan)
    found = settled(cohort)
    trace = list(found.trace)
    found = merge_and_divide(cohort.problem, found, trace, settled, _merged, divided, enough)
    return found._replace(trace=trace)


def _merged(found: Settled[Partitioned]) -> Partitioned:
    return found.partitions.merged()
