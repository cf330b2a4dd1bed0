"""Distances between one partition and many, and moves of single subjects that lower their mean.

Both losses of `clinclust.engine.sampling.point_estimate` have the form

    sum_k f(n_k) + sum_j f(n_j) - 2 sum_kj f(n_kj)

for two partitions with cluster sizes n_k and n_j, and n_kj subjects in cluster k of the one and j of the other. The
variation of information has f(n) = n ln n, Binder's loss f(n) = n^2. `terms` holds f(0) .. f(N).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import kernel

__all__ = ["distances", "improve", "matched", "same_cluster"]

Draws = NDArray[np.int32]
Labels = NDArray[np.int64]
Array = NDArray[np.float64]

_LEAST_GAIN = 1e-9
"""Gain, of f, below which no subject moves: rounding errors of the sums."""


@kernel
def distances(draws: Draws, labels: Labels, terms: Array, found: Array) -> None:
    """Write the distance of each draw to one partition.

    Parameters
    ----------
    draws : int32 (S, N)
        Clusters 0 .. K_s - 1 of each draw.
    labels : int64 (N,)
        Clusters 0 .. K - 1.
    terms : float64 (N + 1,)
    found : float64 (S,), modified in place
    """
    n_subjects, n_clusters = labels.size, labels.max() + 1
    sizes = np.zeros(n_clusters, np.int64)
    for i in range(n_subjects):
        sizes[labels[i]] += 1
    of_labels = 0.0
    for k in range(n_clusters):
        of_labels += terms[sizes[k]]
    joint = np.zeros((draws.max() + 1, n_clusters), np.int64)
    for s in range(draws.shape[0]):
        joint[:] = 0
        for i in range(n_subjects):
            joint[draws[s, i], labels[i]] += 1
        total = of_labels
        for j in range(joint.shape[0]):
            size = 0
            for k in range(n_clusters):
                size += joint[j, k]
                total -= 2.0 * terms[joint[j, k]]
            total += terms[size]
        found[s] = total


@kernel
def improve(draws: Draws, labels: Labels, terms: Array, order: Labels, capacity: int) -> int:
    """Visit subjects and move each to the cluster with the lowest mean distance to all draws; return the moves.

    Parameters
    ----------
    draws : int32 (S, N)
    labels : int64 (N,), modified in place
        Clusters 0 .. K - 1; afterwards some of the numbers up to `capacity` may be unused.
    terms : float64 (N + 1,)
    order : int64 (N,)
        The subjects in the order of their visit.
    capacity : int
        The most clusters, above K.
    """
    n_draws = draws.shape[0]
    rises = terms[1:] - terms[:-1]
    sizes = np.zeros(capacity, np.int64)
    joint = np.zeros((n_draws, draws.max() + 1, capacity), np.int32)
    for i in range(labels.size):
        sizes[labels[i]] += 1
        for s in range(n_draws):
            joint[s, draws[s, i], labels[i]] += 1
    costs = np.empty(capacity)
    moves = 0
    for i in order:
        own = labels[i]
        sizes[own] -= 1
        costs[:] = 0.0
        for s in range(n_draws):
            cells = joint[s, draws[s, i]]
            cells[own] -= 1
            for k in range(capacity):
                costs[k] -= rises[cells[k]]
        empty_seen = False
        best, lowest = own, rises[sizes[own]] + 2.0 / n_draws * costs[own] - _LEAST_GAIN
        for k in range(capacity):
            if sizes[k] == 0:
                if empty_seen:
                    continue  # all empty clusters are the same
                empty_seen = True
            cost = rises[sizes[k]] + 2.0 / n_draws * costs[k]
            if k != own and cost < lowest:
                best, lowest = k, cost
        labels[i] = best
        sizes[best] += 1
        for s in range(n_draws):
            joint[s, draws[s, i], best] += 1
        moves += best != own
    return moves


@kernel
def matched(draws: Draws, labels: Labels, counts: Array) -> None:
    """Count how often each subject was drawn into each cluster of one partition.

    A drawn cluster stands for the cluster with which it shares most subjects; of several, the first.

    Parameters
    ----------
    draws : int32 (S, N)
    labels : int64 (N,)
        Clusters 0 .. K - 1.
    counts : float64 (N, K), modified in place
        The counts are added.
    """
    n_clusters = labels.max() + 1
    joint = np.zeros((draws.max() + 1, n_clusters), np.int64)
    stands_for = np.zeros(draws.max() + 1, np.int64)
    for s in range(draws.shape[0]):
        joint[:] = 0
        for i in range(labels.size):
            joint[draws[s, i], labels[i]] += 1
        for j in range(joint.shape[0]):
            stands_for[j] = 0
            for k in range(n_clusters):
                if joint[j, k] > joint[j, stands_for[j]]:
                    stands_for[j] = k
        for i in range(labels.size):
            counts[i, stands_for[draws[s, i]]] += 1.0


@kernel
def same_cluster(draws: Draws, subjects: Labels, counts: Array) -> None:
    """Count in how many draws two subjects are in the same cluster.

    Parameters
    ----------
    draws : int32 (S, N)
    subjects : int64 (M,)
    counts : float64 (M, N), modified in place
        The counts are added.
    """
    for s in range(draws.shape[0]):
        drawn = draws[s]
        for place in range(subjects.size):
            own = drawn[subjects[place]]
            for i in range(drawn.size):
                counts[place, i] += drawn[i] == own
