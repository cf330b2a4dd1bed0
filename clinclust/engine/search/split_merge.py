"""Merges and divisions of whole clusters, which escape local maxima of moves of single subjects, and the merge tree.

Sufficient statistics add up: the change of the log joint by a merge is exact and needs no new fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Event

import numpy as np
from scipy.special import gammaln

from clinclust.arrays import Array, Labels, Mask
from clinclust.engine.kernels.partition import Partition, log_marginals
from clinclust.engine.problem.numeric_columns import principal_axis
from clinclust.engine.problem.objective import joint_of
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import compact
from clinclust.engine.search.settle import hasten, settle

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
    apart, pairs = _terms(problem, statistics, sizes), np.triu_indices(n_clusters, k=1)
    at_once = max(1, _NUMBERS_AT_ONCE // max(1, statistics.shape[1]))
    for start in range(0, pairs[0].size, at_once):
        first, second = pairs[0][start : start + at_once], pairs[1][start : start + at_once]
        together = _terms(problem, statistics[first] + statistics[second], sizes[first] + sizes[second])
        gains[first, second] = together - apart[first] - apart[second] - _last_seat(problem, n_clusters)
    return gains


def merge_all(problem: Problem, labels: Labels, least: float) -> Labels:
    """Merge the pair of clusters whose merge raises the log joint most, while by more than `least`; return labels."""
    return compact(merged_into(problem, problem.partition(labels), least)[labels])


def merged_into(problem: Problem, partition: Partition, least: float) -> Labels:
    """Return the cluster that each cluster becomes a part of by `merge_all`, int64 (K,); their sums are added up."""
    n_clusters = int(partition.n_clusters[0])
    gains = merge_gains(problem, partition) + _last_seat(problem, n_clusters)
    statistics, sizes = partition.statistics, partition.sizes
    into = np.arange(n_clusters)
    while n_clusters > 1:
        kept, lost = np.unravel_index(gains.argmax(), gains.shape)
        if gains[kept, lost] - _last_seat(problem, n_clusters) <= least:
            break
        into[into == lost] = kept
        n_clusters -= 1
        statistics[kept] += statistics[lost]
        sizes[kept] += sizes[lost]
        gains[lost], gains[:, lost] = -np.inf, -np.inf
        others = np.setdiff1d(into, kept)
        if others.size:
            apart = _terms(problem, statistics[others], sizes[others])
            own = _terms(problem, statistics[[kept]], sizes[[kept]])
            together = _terms(problem, statistics[others] + statistics[kept], sizes[others] + sizes[kept])
            gains[np.minimum(others, kept), np.maximum(others, kept)] = together - apart - own
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
    for halves in _seeds(part, rng):
        if cancelled.is_set():
            return
        order = rng.permutation(halves.size)
        start = hasten(part, compact(halves))
        if start.max() == 0 or start.tobytes() in tried:  # different cuts often lead to the same division
            continue
        tried.add(start.tobytes())
        settled = settle(part, start, order, _SWEEPS_OF_A_SPLIT, cancelled, traced=False)
        if settled.trace:
            yield settled.trace[-1], settled.partition.labels


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
            kept, lost = sorted(nodes.index(side) for side in first[step])
        else:
            kept, lost = (int(side) for side in np.unravel_index(gains.argmax(), gains.shape))
        joins[step] = sorted((nodes[kept], nodes[lost]))
        evidence[step] = -gains[kept, lost]
        # kept < lost, and the indices of the clusters after the lost one decrease by one.
        statistics[kept] += statistics[lost]
        sizes[kept] += sizes[lost]
        statistics[lost:-1], sizes[lost:-1] = statistics[lost + 1 :].copy(), sizes[lost + 1 :].copy()
        partition.n_clusters[0] -= 1
        nodes[kept] = n_clusters + step
        del nodes[lost]
    return joins, evidence
