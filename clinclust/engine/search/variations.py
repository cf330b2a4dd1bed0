"""New starts made from partitions already found, by recombination and perturbation.

Where two good partitions agree, they are most likely right. Where they differ, each may be right for some clusters.
Recombination starts from the common refinement of two partitions and merges its clusters while the log joint rises.
Perturbation divides a few similar clusters at random. The search then often returns to the same partition, and
sometimes finds a better one.
"""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.search.labels import compact
from clinclust.engine.search.settle import hasten, minimum_gain, settle
from clinclust.engine.search.split_merge import merge_all, merge_gains

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["perturbed", "recombined"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_MOST_CLUSTERS = 4
_HASTY_ROUNDS = 8
_SWEEPS = 20


def recombined(problem: Problem, first: Labels, second: Labels) -> Labels:
    """Return labels of the common refinement of two partitions, with clusters merged while the log joint rises.

    All labels are int64 (N,), clusters 0 .. K - 1.
    """
    return merge_all(problem, compact(first * (int(second.max()) + 1) + second), minimum_gain(problem))


def perturbed(problem: Problem, labels: Labels, rng: np.random.Generator, cancelled: Event) -> Labels | None:
    """Return labels in which one to four similar clusters are divided at random and swept among themselves.

    Return None if this leads back to the same partition, which is the most frequent case and needs no further search.
    """
    partition = new_partition(problem.cohort.arrays, labels)
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
