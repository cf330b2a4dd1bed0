"""Divisions and mergers of whole clusters, proposed and accepted so that the posterior stays as it is.

Two subjects are drawn. The other members of their clusters are allocated in random order to the one or the other by
their conditional probabilities, or, every second time, all to the second, and then visited a few times by Gibbs
sampling between both: the launch state. If the pair was in one cluster, one more visit proposes a division; if not, a
merger is proposed. With q the probability of this last visit, or of that which would restore the clusters, and p the
posterior, a division is accepted with the first probability and a merger with the second:

    min(1, p(divided) / (p(merged) q)),   min(1, p(merged) q / p(divided))

(Jain and Neal 2004, J Comput Graph Stat 13, 158-182; sequential allocation: Dahl 2005). Every second time, the pair is
drawn among all subjects, the first one more often far from the others (`far_first`). Otherwise it is drawn by way of
its clusters, all as probable, so that small ones are divided and merged as often; the ratio is then multiplied by that
of the probabilities of the pair in both states.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from clinclust.arrays import Array, Labels
from clinclust.engine.kernels.partition import Partition, log_marginals
from clinclust.engine.kernels.sweep import draw_moves, write_scores
from clinclust.engine.problem.problem import Problem

_VISITS = 3
"""Visits of all members on the way to the launch state."""
_NOBODY = np.empty(0, dtype=np.int64)


def far_first(problem: Problem) -> Array:
    """Return the probability of each subject to be drawn first, float64 (N,), in any state of a chain.

    Half of it is the same for all, half is as one over the rank of the density of the subject given all others.
    """
    arrays, n_subjects = problem.cohort.arrays, problem.cohort.n_subjects
    together = problem.partition(problem.cohort.together)
    scores = np.empty((n_subjects, 2))
    write_scores(arrays, problem.model, together, scores)
    ranks = np.empty(n_subjects)
    ranks[np.argsort(scores[:, 0], kind="stable")] = np.arange(1.0, n_subjects + 1.0)
    return np.asarray(0.5 / n_subjects + 0.5 / ranks / (1.0 / ranks).sum())


def divide_or_merge(
    problem: Problem, partition: Partition, drawn_first: Array, rng: np.random.Generator
) -> Labels | None:
    """Propose a division or a merger once; return the new labels, int64 (N,), or None if it is not accepted."""
    labels = partition.labels
    if labels.size < 2:
        return None
    by_cluster = rng.random() < 0.5
    pair = _pair_by_cluster(partition, rng) if by_cluster else _pair_of_all(drawn_first, rng)
    if pair is None:
        return None
    first, second = labels[pair].tolist()
    members = np.flatnonzero((labels == first) | (labels == second))
    order = rng.permutation(members[(members != pair[0]) & (members != pair[1])])
    is_division = first == second
    targets = _NOBODY if is_division else (labels[order] == second).astype(np.int64)
    halves, log_allocation = _allocated(problem, pair, order, targets, rng)
    n_divided = int(partition.n_clusters[0]) + is_division
    log_ratio = _log_ratio(problem, halves, n_divided) - log_allocation
    if by_cluster:
        others = np.delete(partition.sizes[: partition.n_clusters[0]], [first, second])
        log_ratio += _log_ratio_of_pair(others, halves.sizes[:2])
    if np.log(rng.random()) >= (log_ratio if is_division else -log_ratio):
        return None
    proposed = labels.copy()
    if is_division:
        proposed[halves.labels == 1] = partition.n_clusters[0]
    else:
        kept, left = min(first, second), max(first, second)
        proposed[proposed == left] = kept
        proposed[proposed > left] -= 1
    return proposed


def _pair_of_all(drawn_first: Array, rng: np.random.Generator) -> Labels:
    """Return two subjects, int64 (2,); the second is any other one."""
    one = int(rng.choice(drawn_first.size, p=drawn_first))
    return np.array([one, (one + rng.integers(1, drawn_first.size)) % drawn_first.size])


def _pair_by_cluster(partition: Partition, rng: np.random.Generator) -> Labels | None:
    """Return two subjects of one cluster or of two, int64 (2,); None if no such clusters exist."""
    sizes = partition.sizes[: partition.n_clusters[0]]
    if rng.random() < 0.5:
        divisible = np.flatnonzero(sizes >= 2.0)
        if not divisible.size:
            return None
        members = np.flatnonzero(partition.labels == rng.choice(divisible))
        return np.asarray(rng.choice(members, 2, replace=False))
    if sizes.size < 2:
        return None
    clusters = rng.choice(sizes.size, 2, replace=False)
    return np.array([rng.choice(np.flatnonzero(partition.labels == cluster)) for cluster in clusters])


def _log_ratio_of_pair(others: Array, halves: Array) -> float:
    """Return the log of the probability of a pair by cluster in the divided state over that in the merged one.

    With K clusters after the division, of n_1 and n_2 subjects, it is 1 / (2 K (K - 1) n_1 n_2) then, and 1 / (2 L (n_1
    + n_2) (n_1 + n_2 - 1)) before, where L clusters have several subjects. `others` are the K - 2 other sizes.
    """
    n_divided, n_divisible, n_merged = others.size + 2, 1 + int((others >= 2.0).sum()), float(halves.sum())
    divided = np.log(n_divided * (n_divided - 1.0)) + np.log(halves).sum()
    return float(np.log(n_divisible * n_merged * (n_merged - 1.0)) - divided)


def _allocated(
    problem: Problem, pair: Labels, order: Labels, targets: Labels, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Return two clusters that grew from a pair, and the log probability of the last visit of all others."""
    labels = np.full(problem.cohort.n_subjects, -1)
    if rng.random() < 0.5:
        labels[order] = 1
    labels[pair] = 0, 1
    arrays = problem.cohort.arrays
    halves = problem.partition(labels)
    log_probability = 0.0
    for visit in range(_VISITS + 1):
        targets_now = targets if visit == _VISITS else _NOBODY
        uniforms = rng.random(order.size)
        _, log_probability = draw_moves(arrays, problem.model, halves, order, 0, uniforms, targets_now, 2)
    return halves, log_probability


def _log_ratio(problem: Problem, halves: Partition, n_clusters: int) -> float:
    """Return ln p(divided) - ln p(merged), in nats; there are `n_clusters` clusters after the division."""
    model = problem.model
    sizes, statistics = halves.sizes[:2], halves.statistics[:2]
    whole = statistics.sum(axis=0, keepdims=True)
    marginals = log_marginals(problem.cohort.arrays, model.prior, np.vstack([statistics, whole]))
    log_likelihood = float((marginals @ model.powers) @ (1.0, 1.0, -1.0))
    log_prior = (
        np.log(model.concentration + (n_clusters - 1) * model.discount)
        + (gammaln(sizes - model.discount) - gammaln(1.0 - model.discount)).sum()
        - (gammaln(sizes.sum() - model.discount) - gammaln(1.0 - model.discount))
    )
    return float(log_prior + model.coarsening * log_likelihood)
