"""Large cohorts in partitions, in memory or elsewhere: a shard, what it stores and answers, and moves on all shards."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter, itemgetter
from threading import Event, Lock
from typing import IO, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.kernels.moves import (
    CohortArrays,
    Model,
    Partition,
    Sums,
    add_up,
    clusters_without_subjects,
    without_values,
)
from clinclust.engine.kernels.sweep import UNLIMITED, Visit, bring_up_to_date, find_best, sweep
from clinclust.engine.problem.encoding import EncodedCohort
from clinclust.engine.problem.problem import Problem, joint_of_sums, log_joint
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.settle import N_DIVIDED, SweepResult, added, merged_into, minimum_gain, resettle

# Cells: the groups of subjects that the sums a site has sent tell apart.
#
# Sums of groups of subjects can be subtracted from each other: what two rounds differ in may be one subject. Any linear
# combination of all sums that were ever sent is one of the sums of the cells, which are the subjects that were in the
# same group every time. It therefore shows no value of a single subject if each cell has several.


class Cells:
    """The cells of a site, which only become smaller: of each subject in `of_subjects`, int64 (n,).

    `observed`, bool (n, D), says which values are observed; `fewest` is the smallest number of subjects, and of
    observed values of each feature, of a new cell.
    """

    def __init__(self, observed: Mask, fewest: int) -> None:
        self.observed, self.fewest = observed, fewest
        self.of_subjects: Whole = np.zeros(observed.shape[0], dtype=np.int64)

    def permitted(self, labels: Labels) -> Labels:
        """Return labels, (n,), of which no part of a cell is too small: such a part joins the largest of its cell."""
        while True:
            parts, of_subjects = self._parts(labels)
            cells, clusters = parts.T
            sizes = np.bincount(of_subjects)
            small = self._small(of_subjects) & (np.bincount(cells)[cells] > 1)
            if not small.any():
                return labels
            for cell in np.unique(cells[small]).tolist():
                of_cell = np.flatnonzero(cells == cell)
                largest = of_cell[sizes[of_cell].argmax()]
                joining = of_cell if small[largest] else of_cell[small[of_cell]]
                clusters[joining] = clusters[largest]
            labels = clusters[of_subjects]

    def divide(self, labels: Labels) -> None:
        """Divide the cells by the labels of sums that are sent; they must be permitted."""
        self.of_subjects = self._parts(labels)[1]

    def small_clusters(self, labels: Labels) -> Whole:
        """Return the clusters, in ascending order, that are too small whatever the cells."""
        clusters, of_subjects = np.unique(labels, return_inverse=True)
        return clusters[self._small(of_subjects)]

    def _parts(self, labels: Labels) -> tuple[Whole, Whole]:
        """Return the cell and the cluster of each part, (P, 2), and the part of each subject."""
        n_clusters = int(labels.max()) + 1
        parts, of_subjects = np.unique(self.of_subjects * n_clusters + labels, return_inverse=True)
        return np.stack(np.divmod(parts, n_clusters), axis=1), of_subjects

    def _small(self, of_subjects: Whole) -> Mask:
        small = np.bincount(of_subjects) < self.fewest
        for column in self.observed.T:
            n_observed = np.bincount(of_subjects[column], minlength=small.size)
            small |= (n_observed > 0) & (n_observed < self.fewest)
        return small


# Arrays in a temporary file without a name: however the process ends, the rows in it are gone from the disk.
#
# They have no header: NumPy reads its own (`numpy.load`) as Python code, at which Python 3.11 may fail with a
# SystemError if several threads do so.

_ALIGNED = 8


class Stored(NamedTuple):
    """An array in a file."""

    file: IO[bytes]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int  # place of its first byte

    @property
    def end(self) -> int:
        """Place behind its last byte."""
        return self.offset + int(np.prod(self.shape)) * self.dtype.itemsize

    def mapped(self) -> NDArray[Any]:
        """Return the array, of which only what is used is read."""
        if 0 in self.shape:
            return np.empty(self.shape, dtype=self.dtype)
        start = self.offset - self.offset % mmap.ALLOCATIONGRANULARITY
        part = mmap.mmap(self.file.fileno(), self.end - start, access=mmap.ACCESS_READ, offset=start)
        return np.ndarray(self.shape, self.dtype, part, self.offset - start)


class Store:
    """A file, open for reading and writing, to which several threads add arrays."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._lock, self._end = file, Lock(), 0

    def add(self, arrays: Iterable[NDArray[Any]], replaced: Sequence[Stored] = ()) -> list[Stored]:
        """Write arrays to the file, in the place of others that were added together, if there is room."""
        arrays = [np.ascontiguousarray(array) for array in arrays]
        length = sum(array.nbytes + -array.nbytes % _ALIGNED for array in arrays)
        shards = []
        with self._lock:
            at = replaced[0].offset if replaced and length <= replaced[-1].end - replaced[0].offset else self._end
            self._file.seek(at)
            for array in arrays:
                shards.append(Stored(self._file, array.dtype, array.shape, self._file.tell()))
                self._file.write(array.data if array.size else b"")
                self._file.write(bytes(-array.nbytes % _ALIGNED))
            self._file.flush()
            self._end = max(self._end, self._file.tell())
        return shards


# Scans: the best cluster of every subject while the clusters do not change, in chunks of subjects.
#
# Those whose best cluster is not their own are then scored again and moved one by one, so that every move raises the
# log joint.

CHUNK = 8192  # subjects in a chunk: sums are added by chunks, so that their digits do not depend on the threads
_HASTY_ROUNDS = 8
_FEW = 1e-3  # share of subjects up to which candidates are moved one by one instead of all at once
_NEGLIGIBLE = 1e-5  # rise of the log joint in a round of scans, in nats for each subject, below which none follows


class ScanResult(NamedTuple):
    """Result of a scan of n subjects."""

    best: Any  # (n,) best cluster of each subject; K = a new cluster. Of several shards, handles of the scan of each.
    n_candidates: int  # number of subjects whose best cluster is not their present one
    sizes: Array
    statistics: Array  # (C,), (C, S) sums by best cluster


def find_best_among(chunk: CohortArrays, model: Model, clusters: Partition) -> Labels:
    """Return the best of these clusters for each of other subjects, int64 (n,) (`find_best`)."""
    nowhere = clusters._replace(labels=np.full(chunk.codes.shape[0], -1))
    return find_best(chunk, model, nowhere, 0.0, int(clusters.n_clusters[0]), up_to_date=True)


def chunks(arrays: CohortArrays) -> Iterator[tuple[slice, CohortArrays]]:
    """Yield the rows and the arrays of one chunk of subjects after the other."""
    for start in range(0, arrays.codes.shape[0], CHUNK):
        rows = slice(start, start + CHUNK)
        yield rows, arrays._replace(codes=arrays.codes[rows], values=arrays.values[rows])


# A shard: some rows of a large cohort, as they lie on disk or on a worker, and what is asked of them there.
#
# Every function here runs where a shard lies, and returns new labels, which stay there, or sums and a few subjects.

Numbers = NDArray[np.int32]


class Shard(NamedTuple):
    """A shard as it lies."""

    tables: CohortArrays  # of levels, the same everywhere, and one subject whose values are missing where any are
    codes: NDArray[np.integer[Any]] | Stored  # (n, D_table) codes of `CohortArrays` in few bytes
    values: Array | Stored  # (n, D_value) values of `CohortArrays`
    n_subjects: int

    def some(self, rows: Whole) -> Shard:
        """Return a shard of some subjects, in ascending order, in memory."""
        arrays = self.taken(rows, np.empty(0, dtype=np.int64))
        return self._replace(codes=arrays.codes, values=arrays.values, n_subjects=rows.size)

    def taken(self, rows: slice | Whole, aside: Whole) -> CohortArrays:
        """Return some subjects, as a slice or in ascending order, without the values that are set aside (`blocks`)."""
        codes, values = (it.mapped() if isinstance(it, Stored) else it for it in (self.codes, self.values))
        arrays = self.tables._replace(codes=codes[rows].astype(np.int32), values=np.array(values[rows]))
        if aside.size:
            n_features = arrays.kinds.size
            at = aside - rows.start * n_features if isinstance(rows, slice) else places_among(aside, rows, n_features)
            return without_values(arrays, at)
        return arrays

    def blocks(self, aside: Whole) -> Iterator[tuple[slice, CohortArrays]]:
        """Yield rows and arrays of a chunk after the other, without values `aside`, ascending: subject D + feature."""
        for start in range(0, self.n_subjects, CHUNK):
            rows = slice(start, min(start + CHUNK, self.n_subjects))
            ends = np.searchsorted(aside, np.array([rows.start, rows.stop]) * self.tables.kinds.size)
            yield rows, self.taken(rows, aside[ends[0] : ends[1]])


def places_among(aside: Whole, rows: Whole, n_features: int) -> Whole:
    """Return the values (`Shard.blocks`) of some subjects, in ascending order, numbered among these."""
    subjects, features = np.divmod(aside, n_features)
    among = np.isin(subjects, rows)
    return np.asarray(np.searchsorted(rows, subjects[among]) * n_features + features[among])


def up_to_date(tables: CohortArrays, model: Model, sums: Sums) -> Partition:
    """Return clusters with these sums, and their log predictives."""
    clusters = clusters_without_subjects(tables, *sums)
    bring_up_to_date(tables, model, clusters)
    return clusters


def scan(shard: Shard, labels: Numbers, aside: Whole, model: Model, sums: Sums, least: float) -> ScanResult:
    """Find the best cluster of each subject while clusters with these sums stay; candidates gain over `least` nats."""
    clusters = up_to_date(shard.tables, model, sums)
    best, (sizes, statistics) = labels.copy(), (np.zeros_like(clusters.sizes), np.zeros_like(clusters.statistics))
    for rows, block in shard.blocks(aside):
        present = clusters._replace(labels=labels[rows].astype(np.int64))
        of_block = find_best(block, model, present, least, UNLIMITED, up_to_date=True)
        add_up(block, of_block, sizes, statistics)
        best[rows] = of_block
    return ScanResult(best, int((best != labels).sum()), sizes, statistics)


def assign(shard: Shard, aside: Whole, model: Model, sums: Sums) -> Numbers:
    """Return the best cluster of every subject, given the sums of clusters of other subjects."""
    clusters = up_to_date(shard.tables, model, sums)
    labels = np.empty(shard.n_subjects, dtype=np.int32)
    for rows, block in shard.blocks(aside):
        labels[rows] = find_best_among(block, model, clusters)
    return labels


def count(shard: Shard, labels: Numbers | Labels, aside: Whole, n_clusters: int) -> Sums:
    """Return the sums of clusters by the labels of their subjects."""
    sizes, statistics = np.zeros(n_clusters), np.zeros((n_clusters, int(shard.tables.statistic_start[-1])))
    for rows, block in shard.blocks(aside):
        add_up(block, labels[rows].astype(np.int64), sizes, statistics)
    return sizes, statistics


def candidates(
    shard: Shard, labels: Numbers, aside: Whole, found: ScanResult, at_most: int
) -> tuple[CohortArrays, Labels]:
    """Return the first subjects whose best cluster is not their present one, and the latter."""
    rows = np.flatnonzero(found.best != labels)[:at_most]
    return shard.taken(rows, aside), labels[rows].astype(np.int64)


def members(shard: Shard, labels: Numbers, aside: Whole, ranks: Whole, cluster: int) -> CohortArrays:
    """Return some members of a cluster, by their ranks among its members."""
    return shard.taken(np.flatnonzero(labels == cluster)[ranks], aside)


def divide(
    shard: Shard, labels: Numbers, aside: Whole, model: Model, divisions: Mapping[int, Sums]
) -> tuple[Numbers, dict[int, Sums]]:
    """Return the best cluster of each subject in the division of its own, -1 without one, and sums by cluster."""
    halves = np.full(shard.n_subjects, -1, dtype=np.int32)
    clusters = {cluster: up_to_date(shard.tables, model, sums) for cluster, sums in divisions.items()}
    sums = {k: (np.zeros_like(sizes), np.zeros_like(statistics)) for k, (sizes, statistics) in divisions.items()}
    for rows, block in shard.blocks(aside):
        for cluster, division in clusters.items():
            members = np.flatnonzero(labels[rows] == cluster)
            among = block._replace(codes=block.codes[members], values=block.values[members])
            best = find_best_among(among, model, division)
            add_up(among, best, *sums[cluster])
            halves[rows][members] = best
    return halves, sums


# Subjects in shards that lie in memory, in files or on the workers of a cluster. The latter are never gathered.
#
# Functions of a shard run where it lies (`Place`) and send back sums and a few subjects. Sums are added in the order of
# the shards, so that the same shards give the same bits wherever they lie, and whatever else runs.

_MOST_MOVED = 100_000  # candidates that are moved one by one after a scan; the next scan finds the others

Handle = Any  # the result of a function at a `Place`, which stays there; an argument of other functions


class Place:
    """Where shards lie, and functions of them run: on threads of this process, unless a subclass says otherwise."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Run a function, some of whose arguments are handles; its result stays."""
        # A thread waits only for what was submitted before, so that the earliest work always runs.
        return self._pool.submit(lambda: function(*(it.result() if isinstance(it, Future) else it for it in arguments)))

    def results(self, handles: Sequence[Handle]) -> list[Any]:
        """Return results, in the order of their handles."""
        return [handle.result() for handle in handles]


@dataclass(frozen=True)
class WholeCohort(EncodedCohort):
    """The cohort of all partitions: numbers and tables, with none of its subjects."""

    n_subjects: int
    n_observed: Whole


@dataclass(frozen=True)
class Partitioned:
    """Subjects in many partitions with their clusters. No method changes the object."""

    problem: Problem  # that of a `WholeCohort`
    clusters: Partition  # the clusters, with their sizes and statistics
    place: Place
    shards: tuple[Handle, ...]
    labels: tuple[Handle, ...]  # clusters of the subjects of each partition, int32 (n,)
    aside: tuple[Handle, ...]  # outlying values of each partition (`Shard.blocks`)

    def each(self, function: Callable[..., Any], *arguments: Any, lists: Sequence[Sequence[Handle]]) -> list[Handle]:
        """Run a function of each partition, with its handles in these lists before the arguments; return handles."""
        return [self.place.submit(function, *handles, *arguments) for handles in zip(*lists, strict=True)]

    @property
    def n_clusters(self) -> int:
        """Number of clusters, K."""
        return int(self.clusters.n_clusters[0])

    @cached_property
    def log_joint(self) -> float:
        """The log joint, in nats."""
        return log_joint(self.problem, self.clusters)

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
        return self._renumbered(np.flatnonzero(sums[0] > 0.0), sums, labels)

    def assigned(self, sums: Sums) -> Self:
        """Return all subjects in the best of clusters with these sums, of other subjects."""
        model = self.problem.model
        labels = self.each(assign, model, sums, lists=(self.shards, self.aside))
        return self.with_labels(labels, sums[0].size)

    def in_order(self, order: Labels) -> Self:
        """Return the same clusters with other numbers: cluster order[k] becomes k."""
        return self._renumbered(order, self.clusters.sums, self.labels)

    def _renumbered(self, order: Labels, sums: Sums, labels: Sequence[Handle]) -> Self:
        numbers = np.full(sums[0].size, -1, dtype=np.int32)
        numbers[order] = np.arange(order.size)
        renamed = self.each(partial(np.take, numbers), lists=[labels])
        return self.with_sums((sums[0][order], sums[1][order]), renamed)

    def gathered(self) -> tuple[Labels, Mask]:
        """Return the clusters (N,) and the outlying values (N, D) of all subjects of a cohort in memory."""
        of_shards = self.place.results(self.each(lambda _, labels, aside: (labels, aside), lists=self.lists))
        labels = np.concatenate([labels for labels, _ in of_shards]).astype(np.int64)
        outlying = np.zeros((labels.size, self.problem.model.powers.size), dtype=np.bool_)
        for place, (_, aside) in enumerate(of_shards):
            outlying.flat[CHUNK * outlying.shape[1] * place + aside] = True
        return labels, outlying

    def scan(self, minimum_gain: float) -> ScanResult:
        """Find the best cluster of every subject while the clusters do not change."""
        results = self.each(scan, self.problem.model, self.clusters.sums, minimum_gain, lists=self.lists)
        sums = self.place.results(self.each(itemgetter(1, 2, 3), lists=[results]))
        return ScanResult(results, sum(n for n, *_ in sums), *added([of_shard for _, *of_shard in sums]))

    def all_moved(self, found: ScanResult) -> Self:
        """Return the partitions with all subjects in their best clusters at once; none may be empty."""
        sums = found.sizes[: self.n_clusters], found.statistics[: self.n_clusters]
        return self.with_sums(sums, self.each(attrgetter("best"), lists=[found.best]))

    def candidates_moved(self, found: ScanResult, minimum_gain: float) -> Self:
        """Gather the candidates, move them one by one, and send their clusters back."""
        lists = (*self.lists, found.best)
        gathered = self.place.results(self.each(candidates, _MOST_MOVED // len(self.shards) + 1, lists=lists))
        # A move may rename the last cluster. One more subject in each, which is not visited, remembers its name.
        before = [labels for _, labels in gathered]
        arrays = together([*(arrays for arrays, _ in gathered), self.problem.cohort.arrays])
        labels = np.concatenate([*before, np.arange(self.n_clusters)])
        moved = moved_one_by_one(self.problem, self.clusters.sums, arrays, labels, minimum_gain)
        *after, names = np.split(moved.labels.astype(np.int32), np.cumsum([labels.size for labels in before]))

        def after_moves(labels: Numbers, found: ScanResult, moved: Numbers) -> Numbers:
            changed = names[labels]
            changed[np.flatnonzero(found.best != labels)[: moved.size]] = moved
            return changed

        changed = self.each(after_moves, lists=(self.labels, found.best, after))
        return self.with_labels(changed, int(moved.n_clusters[0]))

    def merged(self) -> Self:
        """Return the partitions after all merges of clusters that raise the log joint."""
        clusters = clusters_without_subjects(self.problem.cohort.arrays, *self.clusters.sums)
        into = merged_into(self.problem, clusters)
        targets, numbers = np.unique(into, return_inverse=True)
        labels = self.each(partial(np.take, numbers.astype(np.int32)), lists=[self.labels])
        return self.with_sums((clusters.sizes[targets], clusters.statistics[targets]), labels)

    def divided(self, rng: np.random.Generator, cancelled: Event, pool: Executor) -> Self | None:
        """Return the partitions after all divisions, of some members, that raise the log joint; None without any."""
        n_clusters, least = self.n_clusters, minimum_gain(self.problem)
        tables = self.problem.of_subjects(self.problem.cohort.arrays)

        def find_division(some: list[Handle], seeded: np.random.Generator) -> Sums | None:
            among = tables.of_subjects(together(self.place.results(some)))
            some.clear()  # else they would live until the cluster is divided
            gain, division = resettle(among, seeded, cancelled)
            return among.partition(division).sums if gain > least else None

        # The members of a cluster are gathered just before they are divided, not those of all clusters at once.
        pairs = zip(self._some_of_each(rng), rng.spawn(n_clusters), strict=True)
        futures = [pool.submit(find_division, *pair) for pair in pairs]
        divisions = {cluster: sums for cluster, future in enumerate(futures) if (sums := future.result()) is not None}
        if not divisions or cancelled.is_set():
            return None
        parts = self.each(divide, self.problem.model, divisions, lists=self.lists)
        of_parts = self.place.results(self.each(itemgetter(1), lists=[parts]))
        most = max(sizes.size for sizes, _ in divisions.values())
        renamed = np.repeat(np.arange(n_clusters, dtype=np.int32)[:, None], 1 + most, axis=1)
        n_after = n_clusters
        for cluster in divisions:
            sums = added([part[cluster] for part in of_parts])
            held = np.flatnonzero(sums[0] > 0.0)
            whole = [of_all[[cluster]] for of_all in self.clusters.sums]
            rise = joint_of_sums(tables, *(of_part[held] for of_part in sums)) - joint_of_sums(tables, *whole)
            if held.size > 1 and rise > least:
                renamed[cluster, held[1:]] = np.arange(n_after, n_after + held.size - 1)
                n_after += held.size - 1
        if n_after == n_clusters:
            return None
        labels = self.each(lambda own, division: renamed[own, division[0]], lists=(self.labels, parts))
        return self.with_labels(labels, n_after)

    def _some_of_each(self, rng: np.random.Generator) -> Iterator[list[Handle]]:
        """Yield some members of each cluster, by partition."""
        sizes = np.array(self.place.results(self.each(np.bincount, None, self.n_clusters, lists=[self.labels])))
        ends = np.cumsum(sizes, axis=0)
        chosen = [np.sort(rng.choice(n, min(n, N_DIVIDED), replace=False)) for n in ends[-1].tolist()]
        for cluster, some in enumerate(chosen):
            of_shards = np.split(some, np.searchsorted(some, ends[:-1, cluster]))
            ranks = [part - first for part, first in zip(of_shards, (ends - sizes)[:, cluster], strict=True)]
            yield self.each(members, cluster, lists=(*self.lists, ranks))


def in_memory(problem: Problem, pool: Executor, *, may_lack_any: bool) -> Partitioned:
    """Return a cohort in memory in one cluster, in partitions of a chunk; any value may lack if `may_lack_any`."""
    cohort, arrays, place = problem.cohort, problem.cohort.arrays, Place(pool)
    some_missing = np.isnan(arrays.values).any(axis=0) | may_lack_any
    tables = arrays._replace(codes=np.zeros_like(arrays.codes[:1]), values=np.where(some_missing, np.nan, 0.0)[None])
    shards = [Shard(tables, part.codes, part.values, part.codes.shape[0]) for _, part in chunks(arrays)]
    whole = WholeCohort(cohort.encoding, tables, cohort.log_base, np.arange(1), cohort.n_subjects, cohort.n_observed)
    sums = problem.partition(cohort.together).sums
    nobody = clusters_without_subjects(tables, *sums)
    in_one = tuple(np.zeros(shard.n_subjects, dtype=np.int32) for shard in shards)
    nothing = (np.empty(0, dtype=np.int64),) * len(shards)
    return Partitioned(replace(problem, cohort=whole), nobody, place, tuple(shards), in_one, nothing)


def worth_a_round(problem: Problem) -> float:
    """Return the rise of the log joint of a large cohort, in nats, below which no round of scans follows."""
    return max(minimum_gain(problem), _NEGLIGIBLE * problem.cohort.n_subjects)


def settled_by_scans(cohort: Partitioned, plan: SearchPlan) -> SweepResult:
    """Move subjects, many at once or one by one, until this raises the joint hardly any more."""
    problem, least = cohort.problem, minimum_gain(cohort.problem)
    trace = [cohort.log_joint]
    converged, hasty = False, _HASTY_ROUNDS
    while not converged and len(trace) <= plan.max_sweeps and not plan.cancelled.is_set():
        scan, n_clusters = cohort.scan(least), cohort.n_clusters
        converged = scan.n_candidates == 0
        if converged:
            break
        many = scan.n_candidates > _FEW * problem.cohort.n_subjects
        if hasty and many and scan.sizes[n_clusters] == 0.0 and (scan.sizes[:n_clusters] > 0.0).all():
            hasty -= 1
            moved = cohort.all_moved(scan)
            if moved.log_joint > trace[-1]:
                cohort = moved
                trace.append(cohort.log_joint)
                continue
        cohort = cohort.candidates_moved(scan, least)
        trace.append(cohort.log_joint)
        converged = trace[-1] - trace[-2] < worth_a_round(problem)
    return SweepResult(cohort.clusters, trace, converged, cohort)


def moved_one_by_one(
    problem: Problem, sums: Sums, subjects: CohortArrays, labels: Labels, minimum_gain: float
) -> Partition:
    """Return clusters with these sums after all subjects but the last, that of the tables, moved to their best ones."""
    tables, model, position = problem.cohort.arrays, problem.model, 0
    clusters = clusters_without_subjects(tables, *sums)._replace(labels=labels)
    order = np.arange(subjects.codes.shape[0] - 1)
    while position < order.size:
        position = sweep(subjects, model, clusters, order, Visit(position, minimum_gain))[0]
        if position < order.size:
            wider = clusters_without_subjects(tables, *clusters.sums, 2 * clusters.sizes.size)
            clusters = wider._replace(labels=clusters.labels)
    return clusters


def together(arrays: Sequence[CohortArrays]) -> CohortArrays:
    """Return subjects of several arrays with the same tables, one after the other."""
    codes, values = [it.codes for it in arrays], [it.values for it in arrays]
    return arrays[0]._replace(codes=np.concatenate(codes), values=np.concatenate(values))
