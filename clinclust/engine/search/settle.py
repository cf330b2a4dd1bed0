"""From labels to a fixed point of moves of one subject, and the gains of splits and mergers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Event
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.kernels.moves import (
    CohortArrays,
    Model,
    Partition,
    accumulate,
    add_up,
    grow,
    log_marginals,
    number_by_appearance,
    relabel,
)
from clinclust.engine.kernels.sweep import UNLIMITED, bring_up_to_date, find_best, make_moves
from clinclust.engine.problem.encoding import principal_axis
from clinclust.engine.problem.problem import Problem, joint_of, log_joint
from clinclust.engine.search.plan import SearchPlan

# Renumbering of clusters, which makes equal partitions comparable, and their agreement.


def compact(labels: NDArray[np.generic]) -> Labels:
    """Renumber clusters 0 .. K - 1 in order of first appearance, so that equal partitions have equal labels."""
    numbered: Labels = labels.astype(np.int64)
    n_clusters = int(numbered.view(np.uint64).max()) + 1  # very large if a label is negative
    if n_clusters > labels.size:
        numbered = np.unique(labels, return_inverse=True)[1]
        n_clusters = int(numbered.max()) + 1
    number_by_appearance(numbered, np.full(n_clusters, -1))
    return numbered


def members_of(labels: Labels, clusters: Iterable[int]) -> Whole:
    """Return the subjects of some clusters, in order; labels are 0 .. K - 1, int64 (N,)."""
    is_member = np.zeros(int(labels.max()) + 1, dtype=np.bool_)
    is_member[list(clusters)] = True
    return np.flatnonzero(is_member[labels])


@lru_cache(maxsize=64)
def pairs_of(n_clusters: int) -> tuple[Whole, Whole]:
    """Return each pair of clusters once, as two arrays: the first and the second of it."""
    return np.triu_indices(n_clusters, k=1)


def by_decreasing_size(labels: Labels) -> Labels:
    """Renumber clusters 0 .. K - 1 by decreasing size; clusters of equal size in order of their first member."""
    return groups_by_decreasing_size(labels, np.ones_like(labels))


def groups_by_decreasing_size(groups: Labels, sizes: Whole) -> Labels:
    """Renumber groups (J,) of clusters of these sizes (J,) by the decreasing number of their subjects."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    totals = np.zeros(first.size, dtype=np.int64)
    np.add.at(totals, inverse, sizes)
    return _rank(np.lexsort((first, -totals)))[inverse]


def _rank(order: NDArray[np.intp]) -> Labels:
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return rank


def adjusted_rand_index(first: Labels, second: Labels) -> float:
    """Return the adjusted Rand index (Hubert and Arabie 1985): 1 = equal partitions, 0 = agreement by chance."""
    shape = (int(first.max()) + 1, int(second.max()) + 1)
    size = np.unique(np.ravel_multi_index((first, second), shape), return_counts=True)[1]

    def pairs(counts: Whole) -> float:
        return float((counts.astype(np.float64) * (counts - 1.0)).sum() / 2.0)

    together, all_pairs = pairs(size), pairs(np.array([first.size]))
    in_first, in_second = pairs(np.bincount(first)), pairs(np.bincount(second))
    expected = in_first * in_second / all_pairs if all_pairs else 0.0
    highest = (in_first + in_second) / 2.0
    return 1.0 if highest == expected else (together - expected) / (highest - expected)


# Iterated conditional modes: sweep until no subject moves in a full sweep; in large cohorts, scan, then move.
#
# A scan finds the best cluster of every subject while the clusters do not change, in chunks on threads. Those whose
# best cluster is not their own are then scored again and moved one by one, so that every move raises the log joint.

N_DIVIDED = 8_000
"""Largest number of members of a cluster of a large cohort among whom a division is searched for."""
CHUNK = 8192
"""Number of subjects in a chunk. Sums are added by chunks, so that their digits do not depend on the threads."""
_HASTY_ROUNDS = 8
_FEW = 1e-3
"""Share of subjects up to which candidates are moved one by one instead of all at once."""
_NEGLIGIBLE = 1e-5
"""Rise of the log joint in a round of scans, in nats for each subject, below which none follows."""


class SweepResult(NamedTuple):
    """Result of sweeps or scans from one start."""

    partition: Partition
    trace: list[float]
    """Log joint after each sweep, or only after the last sweep; of scans, before and after each round."""
    converged: bool
    partitions: Any = None
    """The `Partitions` that were scanned, of which these are the clusters."""


def settle(
    problem: Problem,
    start: Labels | Partition,
    order: Labels,
    max_sweeps: int,
    cancelled: Event,
    *,
    ignore_size: bool = False,
    traced: bool = True,
) -> SweepResult:
    """Sweep from labels 0 .. K - 1 until no subject moves in a full sweep; the subjects are visited in `order` (N,).

    A partition is modified in place. It stops early at the end of a sweep when `cancelled`. With `ignore_size`, the
    first sweep scores cluster 0 as if it held one subject, and may lower the log joint. If not `traced`, the log joint
    is computed only after the last sweep.
    """
    least, partition = minimum_gain(problem), start if isinstance(start, Partition) else problem.partition(start)
    trace: list[float] = []
    n_sweeps, converged = 0, False
    while not converged and n_sweeps < max_sweeps and not cancelled.is_set():
        partition, moves = _moved(problem, partition, order, least, ignore_size=ignore_size)
        accumulate(problem.cohort.arrays, partition)
        n_sweeps += 1
        converged = moves == 0 and not ignore_size
        ignore_size = False
        if traced or converged or n_sweeps == max_sweeps:
            trace.append(log_joint(problem, partition))
    return SweepResult(partition, trace, converged)


def _moved(
    problem: Problem, partition: Partition, subjects: Labels, least: float, *, ignore_size: bool = False
) -> tuple[Partition, int]:
    """Visit subjects and move each to its best cluster; return the partition and the number of moves.

    Moves change the last digits of the sums, which must be computed anew afterwards.
    """
    arrays, position, moves = problem.cohort.arrays, 0, 0
    while position < subjects.size:
        position, made = make_moves(
            arrays, problem.model, partition, subjects, position, minimum_gain=least, ignore_size=ignore_size
        )
        moves += made
        if position < subjects.size:
            partition = grow(arrays, partition)
    return partition, moves


def hasten(problem: Problem, partition: Partition, n_rounds: int = 12) -> Partition:
    """Move all subjects at once to their best clusters, in a few rounds, like K-means; return the partition, changed.

    The log joint may fall. From a random partition, this takes a tenth of the time of a sweep, which recomputes log
    predictives after every single move.
    """
    arrays = problem.cohort.arrays
    best = np.empty_like(partition.labels)
    for _ in range(n_rounds):
        find_best(arrays, problem.model, partition, best, 0.0, int(partition.n_clusters[0]), up_to_date=False)
        moved = bool((best != partition.labels).any())
        relabel(arrays, partition, compact(best))
        if not moved:
            break
    return partition


def minimum_gain(problem: Problem) -> float:
    """Return the smallest rise of the log joint, in nats, that counts as one and not as a rounding error.

    It grows with the number of terms, N D, and with their size: log base measures of large counts cancel log marginals.
    """
    arrays = problem.cohort.arrays
    largest = float(np.abs(arrays.level_log_base).max())
    return 1e-9 + (1e-13 + 1e-15 * largest) * problem.cohort.n_subjects * len(problem.cohort.encoding.features)


class ScanResult(NamedTuple):
    """Result of a scan of n subjects."""

    best: Any
    """(n,) best cluster of each subject; K = a new cluster. Of a scan of shards, the scan of each."""
    n_candidates: int
    """Number of subjects whose best cluster is not their present one."""
    sizes: Array
    """(C,) number of subjects by best cluster."""
    statistics: Array
    """(C, S) sufficient statistics by best cluster."""


Sums = tuple[Array, Array]
"""Sizes (K,) and statistics (K, S) of clusters."""


def added(sums: Sequence[Sums]) -> Sums:
    """Return sums over parts of the subjects, added in their order."""
    sizes, statistics = (np.array(first) for first in sums[0])
    for own in sums[1:]:
        sizes += own[0]
        statistics += own[1]
    return sizes, statistics


def join_scans(scans: Sequence[ScanResult]) -> ScanResult:
    """Return the scan of several parts of the subjects, one after the other."""
    sizes, statistics = added([(part.sizes, part.statistics) for part in scans])
    n_candidates = sum(part.n_candidates for part in scans)
    return ScanResult(np.concatenate([part.best for part in scans]), n_candidates, sizes, statistics)


def scan(chunk: CohortArrays, labels: Labels, model: Model, partition: Partition, minimum_gain: float) -> ScanResult:
    """Find the best cluster of the n subjects of a chunk, which have these labels, while the clusters do not change.

    The partition has up-to-date log predictives, and is only read. A candidate's move raises the log joint by more than
    `minimum_gain`, in nats.
    """
    best = np.empty(labels.size, dtype=np.int64)
    sizes, statistics = np.zeros_like(partition.sizes), np.zeros_like(partition.statistics)
    write_best(chunk, labels, model, partition, minimum_gain, UNLIMITED, best)
    add_up(chunk, best, sizes, statistics)
    return ScanResult(best, int((best != labels).sum()), sizes, statistics)


def write_best(
    chunk: CohortArrays, labels: Labels, model: Model, partition: Partition, least: float, most: int, best: Labels
) -> None:
    """Write the best cluster of each subject to `best`. The partition is not modified: other threads read it too."""
    own = partition._replace(labels=labels, work=partition.work.copy())
    find_best(chunk, model, own, best, least, most, up_to_date=True)


def chunks(arrays: CohortArrays) -> Iterator[tuple[slice, CohortArrays]]:
    """Yield the rows and the arrays of one chunk of subjects after the other."""
    for start in range(0, arrays.codes.shape[0], CHUNK):
        rows = slice(start, start + CHUNK)
        yield rows, arrays._replace(codes=arrays.codes[rows], values=arrays.values[rows])


def assigned(problem: Problem, partition: Partition, pool: Executor) -> Labels:
    """Return the best cluster of every subject, (N,), given the sizes and statistics of clusters of other subjects."""
    arrays = problem.cohort.arrays
    bring_up_to_date(arrays, problem.model, partition)
    best = np.empty(arrays.codes.shape[0], dtype=np.int64)

    def of_chunk(rows: slice, chunk: CohortArrays) -> None:
        nowhere = np.full(chunk.codes.shape[0], -1)
        write_best(chunk, nowhere, problem.model, partition, 0.0, int(partition.n_clusters[0]), best[rows])

    for future in [pool.submit(of_chunk, rows, chunk) for rows, chunk in chunks(arrays)]:
        future.result()
    return best


def worth_a_round(problem: Problem) -> float:
    """Return the rise of the log joint of a large cohort, in nats, below which no round of scans follows."""
    return max(minimum_gain(problem), _NEGLIGIBLE * problem.cohort.n_subjects)


@dataclass(frozen=True)
class Partitions(ABC):
    """Subjects with their clusters, in memory or in many shards elsewhere. No method changes the object."""

    problem: Problem
    """The problem of all subjects; none of them need lie in its arrays."""
    clusters: Partition
    """The clusters, with their sizes and statistics."""

    @abstractmethod
    def scan(self, minimum_gain: float) -> ScanResult:
        """Find the best cluster of every subject while the clusters do not change (`scan`)."""

    @abstractmethod
    def all_moved(self, found: ScanResult) -> Self:
        """Return the partitions with all subjects in their best clusters at once, of which each has some."""

    @abstractmethod
    def candidates_moved(self, found: ScanResult, minimum_gain: float) -> Self:
        """Return the partitions after the candidates have been scored again and moved one by one."""

    @abstractmethod
    def merged(self) -> Self:
        """Return the partitions after all merges of clusters that raise the log joint."""

    @abstractmethod
    def divided(self, rng: np.random.Generator, cancelled: Event, pool: Executor) -> Self | None:
        """Return the partitions after all divisions of clusters that raise the log joint; None without any.

        A division is searched for among some members of a cluster.
        """


@dataclass(frozen=True)
class InMemory(Partitions):
    """Subjects in memory, scanned in chunks on threads; sums are added in the order of the chunks."""

    pool: Executor

    @classmethod
    def of(cls, problem: Problem, labels: Labels, pool: Executor) -> Self:
        """Return the subjects in the clusters of these labels."""
        return cls(problem, problem.partition(compact(labels)), pool)

    def scan(self, minimum_gain: float) -> ScanResult:
        """Find the best cluster of every subject."""
        arrays, model, partition = self.problem.cohort.arrays, self.problem.model, self.clusters
        bring_up_to_date(arrays, model, partition)
        futures = [
            self.pool.submit(scan, chunk, partition.labels[rows], model, partition, minimum_gain)
            for rows, chunk in chunks(arrays)
        ]
        return join_scans([future.result() for future in futures])

    def all_moved(self, found: ScanResult) -> Self:
        """Return the partition with all subjects in their best clusters at once."""
        clusters = self.clusters._replace(labels=found.best, sizes=found.sizes, statistics=found.statistics)
        return replace(self, clusters=clusters)

    def candidates_moved(self, found: ScanResult, minimum_gain: float) -> Self:
        """Move the candidates one by one."""
        candidates = np.flatnonzero(found.best != self.clusters.labels)
        clusters, _ = _moved(self.problem, self.clusters, candidates, minimum_gain)

        def add_up_chunk(rows: slice, chunk: CohortArrays) -> Sums:
            sums = np.zeros_like(clusters.sizes), np.zeros_like(clusters.statistics)
            add_up(chunk, clusters.labels[rows], *sums)
            return sums

        futures = [self.pool.submit(add_up_chunk, *chunk) for chunk in chunks(self.problem.cohort.arrays)]
        clusters.sizes[:], clusters.statistics[:] = added([future.result() for future in futures])
        return replace(self, clusters=clusters)

    def merged(self) -> Self:
        """Return the partition after all merges of clusters that raise the log joint."""
        return self.of(self.problem, merge_all(self.problem, self.clusters.labels), self.pool)

    def divided(self, rng: np.random.Generator, cancelled: Event, pool: Executor) -> Self | None:
        """Return the partition after all divisions of clusters that raise the log joint; None without any.

        Rises add up, because the log joint is a sum over clusters.
        """
        problem, labels, least = self.problem, self.clusters.labels, minimum_gain(self.problem)
        changed, n_clusters = labels, int(self.clusters.n_clusters[0])
        groups = [np.flatnonzero(labels == cluster) for cluster in range(n_clusters)]
        some = [np.sort(rng.permutation(members)[:N_DIVIDED]) for members in groups]
        among = [problem.restricted_to(members, n_clusters - 1) for members in some]
        futures = [
            pool.submit(resettle, part, part.cohort.together, seeded, cancelled)
            for part, seeded in zip(among, rng.spawn(n_clusters), strict=True)
        ]
        divisions = [future.result() for future in futures]
        for members, part, (gain, division) in zip(groups, among, divisions, strict=True):
            if gain <= least:
                continue
            here = problem.restricted_to(members, n_clusters - 1)
            halves = compact(assigned(here, part.partition(division), pool))
            if joint_of(here, halves) - joint_of(here, here.cohort.together) > least:
                changed = changed.copy()
                changed[members] = changed.max() + 1 + halves
        return None if changed is labels else self.of(problem, changed, pool)


def settle_by_scans(problem: Problem, labels: Labels, plan: SearchPlan, pool: Executor) -> SweepResult:
    """Move subjects in memory from labels 0 .. K - 1 (`settled_by_scans`)."""
    return settled_by_scans(InMemory.of(problem, labels, pool), plan)


def settled_by_scans(cohort: Partitions, plan: SearchPlan) -> SweepResult:
    """Move subjects, many at once or one by one, until this raises the joint hardly any more."""
    problem, least = cohort.problem, minimum_gain(cohort.problem)
    trace = [log_joint(problem, cohort.clusters)]
    converged, hasty = False, _HASTY_ROUNDS
    while len(trace) <= plan.max_sweeps and not plan.cancelled.is_set():
        found = cohort.scan(least)
        n_clusters = int(cohort.clusters.n_clusters[0])
        converged = found.n_candidates == 0
        if converged:
            break
        many = found.n_candidates > _FEW * problem.cohort.n_subjects
        if hasty and many and found.sizes[n_clusters] == 0.0 and (found.sizes[:n_clusters] > 0.0).all():
            hasty -= 1
            moved = cohort.all_moved(found)
            joint = log_joint(problem, moved.clusters)
            if joint > trace[-1]:
                cohort = moved
                trace.append(joint)
                continue
        cohort = cohort.candidates_moved(found, least)
        trace.append(log_joint(problem, cohort.clusters))
        converged = trace[-1] - trace[-2] < worth_a_round(problem)
        if converged:
            break
    return SweepResult(cohort.clusters, trace, converged, cohort)


# Merges and divisions of whole clusters, which escape local maxima of moves of single subjects, and the merge tree.
#
# Sufficient statistics add up: the change of the log joint by a merge is exact and needs no new fit.

_SWEEPS_OF_A_SPLIT = 20
_RANDOM_HALVES = 2
_NUMBERS_AT_ONCE = 2_000_000
"""Number of statistics of merged clusters that are kept in memory."""


def merge_gains(problem: Problem, partition: Partition) -> Array:
    """Return the change of the log joint by the merge of each pair of clusters, in nats, float64 (K, K).

    It is -inf on and below the diagonal. The change is

        g(n_k + n_l) - g(n_k) - g(n_l) - ln(N0 + (K - 1) discount)
            + coarsening * sum_d power_d [ln m_d(k with l) - ln m_d(k) - ln m_d(l)],

    with g(n) = ln Gamma(n - discount) - ln Gamma(1 - discount).
    """
    n_clusters = int(partition.n_clusters[0])
    statistics, sizes = partition.statistics[:n_clusters], partition.sizes[:n_clusters]
    gains = np.full((n_clusters, n_clusters), -np.inf)
    if n_clusters < 2:
        return gains
    apart, pairs = _terms(problem, statistics, sizes), pairs_of(n_clusters)
    at_once = max(1, _NUMBERS_AT_ONCE // max(1, statistics.shape[1]))
    for start in range(0, pairs[0].size, at_once):
        first, second = pairs[0][start : start + at_once], pairs[1][start : start + at_once]
        together = _terms(problem, statistics[first] + statistics[second], sizes[first] + sizes[second])
        gains[first, second] = together - apart[first] - apart[second] - _last_seat(problem, n_clusters)
    return gains


def merge_all(problem: Problem, labels: Labels) -> Labels:
    """Merge the pair of clusters whose merge raises the log joint most, while it rises; return labels."""
    return compact(merged_into(problem, problem.partition(labels))[labels])


def merged_into(problem: Problem, partition: Partition) -> Labels:
    """Return the cluster that each cluster becomes a part of by `merge_all`, int64 (K,); their sums are added up."""
    n_clusters, least = int(partition.n_clusters[0]), minimum_gain(problem)
    gains = merge_gains(problem, partition) + _last_seat(problem, n_clusters)
    statistics, sizes = partition.statistics, partition.sizes
    into, is_left = np.arange(n_clusters), np.ones(n_clusters, dtype=np.bool_)
    while n_clusters > 1:
        target, lost = np.unravel_index(gains.argmax(), gains.shape)
        if gains[target, lost] - _last_seat(problem, n_clusters) <= least:
            break
        into[into == lost] = target
        n_clusters -= 1
        statistics[target] += statistics[lost]
        sizes[target] += sizes[lost]
        gains[lost], gains[:, lost] = -np.inf, -np.inf
        is_left[lost] = False
        others = np.flatnonzero(is_left & (into != target))
        if others.size:
            apart = _terms(problem, statistics[others], sizes[others])
            own = _terms(problem, statistics[[target]], sizes[[target]])
            together = _terms(problem, statistics[others] + statistics[target], sizes[others] + sizes[target])
            gains[np.minimum(others, target), np.maximum(others, target)] = together - apart - own
    return into


def _terms(problem: Problem, statistics: Array, sizes: Array) -> Array:
    """Return the terms of the log joint of clusters with these statistics (K, S) and sizes (K,), float64 (K,)."""
    model = problem.model
    marginals = log_marginals(problem.cohort.arrays, model.prior, statistics)
    marginals *= model.powers
    likelihoods = model.coarsening * marginals.sum(axis=1)
    return np.asarray(likelihoods + gammaln(sizes - model.discount) - gammaln(1.0 - model.discount))


def _last_seat(problem: Problem, n_clusters: int) -> float:
    """Return ln(N0 + (K - 1) discount), the term of the log joint by the existence of the last of K clusters."""
    return float(np.log(problem.model.concentration + (n_clusters - 1) * problem.model.discount))


def resettle(part: Problem, division: Labels, rng: np.random.Generator, cancelled: Event) -> tuple[float, Labels]:
    """Divide one or more clusters anew, from several starts with two parts, as if their members were the whole cohort.

    `division`, int64 (M,), are their present clusters 0, 1, ... Return the change of the log joint by the best division
    found, in nats, and its labels; -inf and the present ones if none was found.
    """
    now = joint_of(part, division)
    best = -np.inf
    for joint, labels in divisions(part, rng, cancelled):
        if joint - now > best:
            best, division = joint - now, labels
    return best, division


def divisions(part: Problem, rng: np.random.Generator, cancelled: Event) -> Iterator[tuple[float, Labels]]:
    """Yield the log joint and the labels, int64 (M,), of each partition in which sweeps from two parts end."""
    tried: set[bytes] = set()
    partition = part.partition(part.cohort.together)
    for halves in _seeds(part, rng):
        if cancelled.is_set():
            return
        order = rng.permutation(halves.size)
        relabel(part.cohort.arrays, partition, compact(halves))
        start = hasten(part, partition).labels.tobytes()
        if partition.n_clusters[0] == 1 or start in tried:  # different cuts often lead to the same division
            continue
        tried.add(start)
        settled = settle(part, partition, order, _SWEEPS_OF_A_SPLIT, cancelled, traced=False)
        if settled.trace:
            yield settled.trace[-1], settled.partition.labels.copy()


def _seeds(part: Problem, rng: np.random.Generator) -> Iterator[Mask]:
    """Yield cuts of the members into two parts, bool (M,): along their first principal axis, then at random."""
    along = principal_axis(part.cohort.arrays, rng)
    yield along > 0.0
    # A small subtype lies at one end of the axis. A cut through the middle does not separate it.
    for tail in (0.1, 0.9):
        yield along > np.quantile(along, tail)
    for _ in range(_RANDOM_HALVES):
        yield rng.random(along.size) < 0.5


def merge_tree(problem: Problem, labels: Labels, first: Sequence[tuple[int, int]] = ()) -> tuple[Labels, Array]:
    """Merge the clusters 0 .. K - 1 of a partition until one is left, each time at the least loss of the log joint.

    The `first` pairs of nodes are merged first, whatever the cost. Return the two nodes merged at each step, the
    smaller number first, int64 (K - 1, 2), and the decrease of the log joint, in nats, float64 (K - 1,). Nodes 0 .. K -
    1 are the clusters; node K + s is the result of step s.
    """
    n_clusters = int(labels.max()) + 1
    joins = np.zeros((n_clusters - 1, 2), dtype=np.int64)
    evidence = np.zeros(n_clusters - 1)
    nodes = list(range(n_clusters))
    partition = problem.partition(labels)
    statistics, sizes = partition.statistics, partition.sizes
    for step in range(n_clusters - 1):
        gains = merge_gains(problem, partition)
        if step < len(first):
            target, lost = sorted(nodes.index(side) for side in first[step])
        else:
            target, lost = (int(side) for side in np.unravel_index(gains.argmax(), gains.shape))
        joins[step] = sorted((nodes[target], nodes[lost]))
        evidence[step] = -gains[target, lost]
        # kept < lost, and the indices of the clusters after the lost one decrease by one.
        statistics[target] += statistics[lost]
        sizes[target] += sizes[lost]
        statistics[lost:-1], sizes[lost:-1] = statistics[lost + 1 :].copy(), sizes[lost + 1 :].copy()
        partition.n_clusters[0] -= 1
        nodes[target] = n_clusters + step
        del nodes[lost]
    return joins, evidence
