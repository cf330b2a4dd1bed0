"""Partitions to begin with that the data suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.labels import compact
from clinclust.engine.partition import brought_up_to_date, new_partition, seat
from clinclust.engine.split_merge import principal_axis
from clinclust.engine.sweep import score_rows

if TYPE_CHECKING:
    from clinclust.engine.problem import Problem

__all__ = ["bisected", "seated"]

Labels = NDArray[np.int64]

_MOST_CLUSTERS = 62
_SEATED_ONE_BY_ONE = 2_000
_BISECTIONS = 3


def seated(problem: Problem, order: Labels) -> Labels:
    """Seat subjects one after the other, each where it is most probable given those seated before; int64 (N,).

    The first sits alone, as everybody may, up to 62 clusters. After two thousand subjects the clusters stand still.
    """
    arrays, model = problem.cohort.arrays, problem.model
    partition = new_partition(arrays, np.zeros(order.size, dtype=np.int64), _MOST_CLUSTERS + 2)
    partition.n_clusters[0] = 0
    partition.sizes[:] = 0.0
    partition.statistics[:] = 0.0
    brought_up_to_date(arrays, model, partition)
    for i in order[:_SEATED_ONE_BY_ONE]:
        one = arrays._replace(codes=arrays.codes[i : i + 1], values=arrays.values[i : i + 1])
        scores = np.empty((1, int(partition.n_clusters[0]) + 1))
        score_rows(one, model, partition, False, scores)
        seat(arrays, model, partition, i, int(scores[0, :_MOST_CLUSTERS].argmax()))
    scores = np.empty((order.size, int(partition.n_clusters[0]) + 1))
    score_rows(arrays, model, partition, False, scores)
    later = order[_SEATED_ONE_BY_ONE:]
    partition.labels[later] = scores[later, :-1].argmax(axis=1)
    return compact(partition.labels)


def bisected(problem: Problem, rng: np.random.Generator) -> Labels:
    """Cut everybody in two halves along the first principal axis, and each half again, to eight parts; int64 (N,)."""
    labels = np.zeros(problem.cohort.n_subjects, dtype=np.int64)
    for _ in range(_BISECTIONS):
        halves = np.zeros_like(labels)
        for part in range(int(labels.max()) + 1):
            members = np.flatnonzero(labels == part)
            along = principal_axis(problem.restricted_to(members, 0).cohort.arrays, rng)
            halves[members] = along > np.median(along)
        labels = compact(2 * labels + halves)
    return labels
