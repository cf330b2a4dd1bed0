"""New starts from partitions already found: recombined and perturbed ones.

Where two searches agree they are most likely right; where they differ, each may be right in some clusters. Recombining
two partitions keeps what they share and decides the rest by exact mergers. Perturbing a partition divides a few
neighbouring clusters at random; the search then often returns to the same partition, and sometimes finds a better one.
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
    """Return the common refinement of two partitions, its clusters merged while the log joint rises."""
    return merge_all(problem, compact(first * (int(second.max()) + 1) + second), minimum_gain(problem))


def perturbed(problem: Problem, labels: Labels, rng: np.random.Generator, cancelled: Event) -> Labels | None:
    """Return labels with one to four neighbouring clusters divided at random and settled among themselves.

    None if their members settled as they were before, which is most often the case and spares a search.
    """
    partition = new_partition(problem.cohort.arrays, labels)
    group = _neighbours(merge_gains(problem, partition), rng)
    members = np.flatnonzero(np.isin(labels, group))
    n_clusters = int(partition.n_clusters[0])
    part = problem.restricted_to(members, n_clusters - len(group))
    # As many parts as before, one fewer, or a few more; the fewer rounds of haste, the rougher the start.
    n_parts = int(rng.integers(2, len(group) + 3))
    start = hasten(part, compact(rng.integers(n_parts, size=members.size)), int(rng.integers(1, _HASTY_ROUNDS)))
    settled = settle(part, start, rng.permutation(members.size), _SWEEPS, cancelled, traced=False)
    changed = labels.copy()
    changed[members] = n_clusters + settled.partition.labels
    changed = merge_all(problem, compact(changed), minimum_gain(problem))
    return None if np.array_equal(changed, compact(labels)) else changed


def _neighbours(gains: Array, rng: np.random.Generator) -> list[int]:
    """Draw a cluster and up to three of those that it, or they, would merge with at the least loss."""
    n_clusters = gains.shape[0]
    gains = np.maximum(gains, gains.T)
    group = [int(rng.integers(n_clusters))]
    for _ in range(int(rng.integers(min(_MOST_CLUSTERS, n_clusters)))):
        others = np.setdiff1d(np.arange(n_clusters), group)
        nearest = others[np.argsort(-gains[group][:, others].max(axis=0), kind="stable")]
        group.append(int(nearest[min(int(rng.geometric(0.6)) - 1, nearest.size - 1)]))
    return group
