"""Starting partitions that are computed from the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.kernels.sweep import find_best, make_moves
from clinclust.engine.problem.numeric_columns import principal_axis
from clinclust.engine.search.labels import compact

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["bisected", "seated"]

Labels = NDArray[np.int64]

_MOST_CLUSTERS = 62
_SEATED_ONE_BY_ONE = 2_000
_BISECTIONS = 3


def seated(problem: Problem, order: Labels) -> Labels:
    """Assign subjects one after the other to the best cluster given those assigned before; return labels, int64 (N,).

    The first subject forms a cluster. Every further subject may open a new one, up to 62 clusters. After two thousand
    subjects the clusters do not change any more, and each other subject is assigned to its best cluster.
    """
    arrays, model = problem.cohort.arrays, problem.model
    partition = new_partition(arrays, np.full(order.size, -1), _MOST_CLUSTERS + 2)
    make_moves(arrays, model, partition, order[:_SEATED_ONE_BY_ONE], most_clusters=_MOST_CLUSTERS)
    best = partition.labels.copy()
    if order.size > _SEATED_ONE_BY_ONE:
        find_best(arrays, model, partition, best, most_clusters=int(partition.n_clusters[0]), up_to_date=True)
    return compact(np.where(partition.labels < 0, best, partition.labels))


def bisected(problem: Problem, rng: np.random.Generator) -> Labels:
    """Return labels of eight parts, int64 (N,): three rounds that cut each part at the median of its principal axis."""
    labels = np.zeros(problem.cohort.n_subjects, dtype=np.int64)
    for _ in range(_BISECTIONS):
        halves = np.zeros_like(labels)
        for part in range(int(labels.max()) + 1):
            members = np.flatnonzero(labels == part)
            along = principal_axis(problem.restricted_to(members, 0).cohort.arrays, rng)
            halves[members] = along > np.median(along)
        labels = compact(2 * labels + halves)
    return labels
