"""Divisions and mergers of whole clusters, proposed and accepted so that the posterior stays as it is.

Moves of single subjects seldom get from one partition to another through the less probable ones between them. Two
subjects are drawn. If they are in one cluster, its members are allocated in random order to the one or the other by
their conditional probabilities; if not, their clusters are merged. With q the probability of the allocation, and p the
posterior, a division is accepted with probability

    min(1, p(divided) / (p(merged) q)),

and a merger with min(1, p(merged) q / p(divided)), where q is that of the allocation that would restore the clusters
(Jain and Neal 2004, J Comput Graph Stat 13, 158-182; sequential allocation: Dahl 2005, technical report, University of
Wisconsin). The pair and the order have the same probability in both directions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from clinclust.engine.kernels.draws import draw_moves
from clinclust.engine.kernels.log_marginals import log_marginals
from clinclust.engine.kernels.partition import Partition, new_partition

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["divide_or_merge"]

Labels = NDArray[np.int64]

_NOBODY = np.empty(0, dtype=np.int64)


def divide_or_merge(problem: Problem, partition: Partition, rng: np.random.Generator) -> Labels | None:
    """Propose a division or a merger once; return the new labels, int64 (N,), or None if it is not accepted."""
    labels = partition.labels
    if labels.size < 2:
        return None
    pair = rng.choice(labels.size, 2, replace=False)
    first, second = labels[pair].tolist()
    members = np.flatnonzero((labels == first) | (labels == second))
    order = rng.permutation(members[(members != pair[0]) & (members != pair[1])])
    is_division = first == second
    targets = _NOBODY if is_division else (labels[order] == second).astype(np.int64)
    halves, log_allocation = _allocated(problem, pair, order, targets, rng)
    log_ratio = _log_ratio(problem, halves, int(partition.n_clusters[0]) + is_division) - log_allocation
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


def _allocated(
    problem: Problem, pair: Labels, order: Labels, targets: Labels, rng: np.random.Generator
) -> tuple[Partition, float]:
    """Return two clusters that grew from a pair by allocation in this order, and the log probability of it."""
    labels = np.full(problem.cohort.n_subjects, -1)
    labels[pair] = 0, 1
    arrays = problem.cohort.arrays
    halves = new_partition(arrays, labels)
    uniforms = rng.random(order.size)
    _, log_probability = draw_moves(arrays, problem.model, halves, order, 0, uniforms, targets, 2, 1.0)
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
