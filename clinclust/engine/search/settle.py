"""From labels to a fixed point of moves of one subject, and the gains of splits and mergers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from clinclust.arrays import Array, Labels, Whole
from clinclust.engine.kernels.moves import (
    Partition,
    Sums,
    accumulate,
    grow,
    log_marginals,
    number_by_appearance,
    relabel,
)
from clinclust.engine.kernels.sweep import find_best, make_moves
from clinclust.engine.problem.encoding import principal_axis
from clinclust.engine.problem.problem import Problem, joint_of, log_joint

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


def by_decreasing_size(labels: Labels) -> Labels:
    """Renumber clusters 0 .. K - 1 by decreasing size; clusters of equal size in order of their first member."""
    return groups_by_decreasing_size(labels, np.ones_like(labels))


def groups_by_decreasing_size(groups: Labels, sizes: Whole) -> Labels:
    """Renumber groups (J,) of clusters of these sizes (J,) by the decreasing number of their subjects."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    order = np.lexsort((first, -np.bincount(inverse, weights=sizes)))
    return np.asarray(np.argsort(order)[inverse], dtype=np.int64)


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


# Iterated conditional modes: sweep until no subject moves in a full sweep.

SHORT = 20
"""Sweeps of the search for a division, and of clusters that were divided anew or dissolved."""
N_DIVIDED = 8_000
"""Largest number of members of a cluster of a large cohort among whom a division is searched for."""


def added(sums: Sequence[Sums]) -> Sums:
    """Return sums over parts of the subjects, added in their order."""
    sizes, statistics = (np.array(first) for first in sums[0])
    for own in sums[1:]:
        sizes += own[0]
        statistics += own[1]
    return sizes, statistics


class SweepResult(NamedTuple):
    """Result of sweeps or scans from one start."""

    partition: Partition
    trace: list[float]
    """Log joint after each sweep, or only after the last sweep; of scans, before and after each round."""
    converged: bool
    partitions: Any = None
    """The partitions that were scanned (`Partitioned`), of which these are the clusters."""


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
    arrays, trace = problem.cohort.arrays, list[float]()
    n_sweeps, converged = 0, False
    while not converged and n_sweeps < max_sweeps and not cancelled.is_set():
        position = moves = 0
        while position < order.size:
            position, made = make_moves(
                arrays, problem.model, partition, order, position, minimum_gain=least, ignore_size=ignore_size
            )
            moves += made
            if position < order.size:
                partition = grow(arrays, partition)
        # Moves change the last digits of the sums, which are therefore computed anew.
        accumulate(arrays, partition)
        n_sweeps += 1
        converged = moves == 0 and not ignore_size
        ignore_size = False
        if traced or converged or n_sweeps == max_sweeps:
            trace.append(log_joint(problem, partition))
    return SweepResult(partition, trace, converged)


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


# Merges and divisions of whole clusters, which escape local maxima of moves of single subjects, and the merge tree.
#
# Sufficient statistics add up: the change of the log joint by a merge is exact and needs no new fit.

_pairs_of = lru_cache(maxsize=64)(np.triu_indices)  # by the number of clusters, and 1
_NUMBERS_AT_ONCE = 2_000_000
"""Number of statistics of merged clusters that are kept in memory."""


def merge_gains(problem: Problem, partition: Partition) -> Array:
    """Return the change of the log joint by the merge of each pair of clusters, in nats, float64 (K, K).

    It is -inf on and below the diagonal. The change is

        ln Gamma(n_k + n_l) - ln Gamma(n_k) - ln Gamma(n_l) - ln N0
            + coarsening * sum_d power_d [ln m_d(k with l) - ln m_d(k) - ln m_d(l)].
    """
    sizes, statistics = partition.sums
    n_clusters = sizes.size
    gains = np.full((n_clusters, n_clusters), -np.inf)
    if n_clusters < 2:
        return gains
    apart, pairs = _terms(problem, statistics, sizes), _pairs_of(n_clusters, 1)
    at_once = max(1, _NUMBERS_AT_ONCE // max(1, statistics.shape[1]))
    for start in range(0, pairs[0].size, at_once):
        first, second = pairs[0][start : start + at_once], pairs[1][start : start + at_once]
        together = _terms(problem, statistics[first] + statistics[second], sizes[first] + sizes[second])
        gains[first, second] = together - apart[first] - apart[second] - np.log(problem.model.concentration)
    return gains


def merge_all(problem: Problem, labels: Labels) -> Labels:
    """Merge the pair of clusters whose merge raises the log joint most, while it rises; return labels."""
    return compact(merged_into(problem, problem.partition(labels))[labels])


def merged_into(problem: Problem, partition: Partition) -> Labels:
    """Return the cluster that each cluster becomes a part of by `merge_all`, int64 (K,); their sums are added up."""
    into, least = np.arange(int(partition.n_clusters[0])), minimum_gain(problem)
    for target, lost, _, gain in _merges(problem, partition):
        if gain <= least:
            break
        into[into == lost] = target
    return into


def _merges(
    problem: Problem, partition: Partition, first: Sequence[tuple[int, int]] = ()
) -> Iterator[tuple[int, int, list[int], float]]:
    """Yield two clusters, their nodes (`merge_tree`) and the change of the log joint by their merge, then merge them.

    The sums of the second are added to those of the first; no cluster is renumbered.
    """
    n_clusters, log_new = int(partition.n_clusters[0]), np.log(problem.model.concentration)
    gains = merge_gains(problem, partition) + log_new
    statistics, sizes, nodes = partition.statistics, partition.sizes, np.arange(n_clusters)
    for step in range(n_clusters - 1):
        if step < len(first):
            target, lost = sorted(int(np.flatnonzero(nodes == node)[0]) for node in first[step])
        else:
            target, lost = (int(place) for place in np.unravel_index(gains.argmax(), gains.shape))
        yield target, lost, sorted(nodes[[target, lost]].tolist()), float(gains[target, lost] - log_new)
        statistics[target] += statistics[lost]
        sizes[target] += sizes[lost]
        gains[lost], gains[:, lost] = -np.inf, -np.inf
        nodes[target], nodes[lost] = n_clusters + step, -1
        others = np.flatnonzero(nodes >= 0)
        others = others[others != target]
        apart = _terms(problem, statistics[others], sizes[others])
        alone = _terms(problem, statistics[[target]], sizes[[target]])
        together = _terms(problem, statistics[others] + statistics[target], sizes[others] + sizes[target])
        gains[np.minimum(others, target), np.maximum(others, target)] = together - apart - alone


def _terms(problem: Problem, statistics: Array, sizes: Array) -> Array:
    """Return the terms of the log joint of clusters with these statistics (K, S) and sizes (K,), float64 (K,)."""
    model = problem.model
    marginals = log_marginals(problem.cohort.arrays, model.prior, statistics)
    marginals *= model.powers
    likelihoods = model.coarsening * marginals.sum(axis=1)
    return np.asarray(likelihoods + gammaln(sizes))


def resettle(part: Problem, rng: np.random.Generator, cancelled: Event) -> tuple[float, Labels]:
    """Divide a cluster, from several starts with two parts, as if its members (M,) were the whole cohort.

    Return the change of the log joint by the best division found, in nats, and its labels; -inf if none was found.
    """
    none = -np.inf, part.cohort.together
    best, division = max(divisions(part, rng, cancelled), key=itemgetter(0), default=none)
    return best - joint_of(part, part.cohort.together), division


def divisions(part: Problem, rng: np.random.Generator, cancelled: Event) -> Iterator[tuple[float, Labels]]:
    """Yield the log joint and the labels, int64 (M,), of each partition in which sweeps from two parts end."""
    tried: set[bytes] = set()
    partition = part.partition(part.cohort.together)
    along = principal_axis(part.cohort.arrays, rng)
    # Cuts along the first principal axis, then at random. A small subtype lies at one end of the axis: a cut through
    # the middle does not separate it.
    for cut in (0.0, *np.quantile(along, (0.1, 0.9)), None, None):
        if cancelled.is_set():
            return
        halves = rng.random(along.size) < 0.5 if cut is None else along > cut
        order = rng.permutation(halves.size)
        relabel(part.cohort.arrays, partition, compact(halves))
        start = hasten(part, partition).labels.tobytes()
        if partition.n_clusters[0] == 1 or start in tried:  # different cuts often lead to the same division
            continue
        tried.add(start)
        settled = settle(part, partition, order, SHORT, cancelled, traced=False)
        if settled.trace:
            yield settled.trace[-1], settled.partition.labels.copy()


def merge_tree(problem: Problem, labels: Labels, first: Sequence[tuple[int, int]] = ()) -> tuple[Labels, Array]:
    """Merge the clusters 0 .. K - 1 of a partition until one is left, each time at the least loss of the log joint.

    The `first` pairs of nodes are merged first, whatever the cost. Return the two nodes merged at each step, the
    smaller number first, int64 (K - 1, 2), and the decrease of the log joint, in nats, float64 (K - 1,). Nodes 0 .. K -
    1 are the clusters; node K + s is the result of step s.
    """
    steps = [(nodes, -change) for _, _, nodes, change in _merges(problem, problem.partition(labels), first)]
    joins = np.array([nodes for nodes, _ in steps], dtype=np.int64).reshape(-1, 2)
    return joins, np.array([evidence for _, evidence in steps])
