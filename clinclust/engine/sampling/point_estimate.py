"""The partition with the lowest posterior expected loss, estimated over draws, and the ball of partitions around it.

Losses are the variation of information (Meila 2007, Journal of Multivariate Analysis 98, 873-895), in nats, with f(n) =
n ln n, and Binder's loss (1978, Biometrika 65, 31-38), as a share of pairs of subjects, with f(n) = n^2:

    sum_k f(n_k) + sum_j f(n_j) - 2 sum_kj f(n_kj)

for two partitions with cluster sizes n_k and n_j, and n_kj subjects in cluster k of the one and j of the other. Single
subjects are moved from several good partitions as long as this lowers the expected loss (Dahl, Johnson and Müller 2022,
Journal of Computational and Graphical Statistics 31, 1189-1201).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.compiled import kernel
from clinclust.engine.search.labels import by_decreasing_size

Draws = NDArray[np.int32]
Loss: TypeAlias = Literal["variation-of-information", "binder"]

_LEAST_GAIN = 1e-9
"""Gain, of f, below which no subject moves: the rounding error."""
_MOST_CANDIDATES = 200
_IMPROVED = 5
_MOST_SWEEPS = 100
_FURTHER_CLUSTERS = 5
"""Clusters that a search may open beyond those of its start."""


@dataclass(frozen=True)
class CredibleBall:
    """The partitions around a point estimate that hold a share of the posterior (Wade and Ghahramani 2018).

    Attributes
    ----------
    probability : float
        The share.
    radius : float
        Smallest distance that includes this share of the draws, in the unit of the loss.
    farthest : int64 (N,)
        The included draw farthest from the point estimate (horizontal bound).
    fewest, most : int64 (N,)
        The farthest included draws with the fewest and the most clusters (vertical bounds).
    """

    probability: float
    radius: float
    farthest: Labels
    fewest: Labels
    most: Labels

    def __repr__(self) -> str:
        of_bounds = f"{self.fewest.max() + 1} to {self.most.max() + 1} clusters"
        return f"CredibleBall(probability={self.probability:g}, radius={self.radius:.3g}, {of_bounds})"


def point_estimate(draws: Draws, loss: Loss) -> Labels:
    """Return the partition with the lowest expected loss, int64 (N,), clusters by decreasing size."""
    chosen = np.unique(np.linspace(0, len(draws) - 1, _MOST_CANDIDATES).astype(np.int64))
    candidates = [by_decreasing_size(labels.astype(np.int64)) for labels in np.unique(draws[chosen], axis=0)]
    candidates.append(np.zeros(draws.shape[1], dtype=np.int64))
    expected = [losses(draws, labels, loss).mean() for labels in candidates]
    best = [candidates[place] for place in np.argsort(expected, kind="stable")[:_IMPROVED]]
    improved = [_improved(draws, labels, loss) for labels in best]
    return min(improved, key=lambda labels: losses(draws, labels, loss).mean())


def _improved(draws: Draws, labels: Labels, loss: Loss) -> Labels:
    """Return the local minimum of the expected loss that moves of single subjects reach from a partition."""
    terms, _ = _terms(labels.size, loss)
    order, labels = np.arange(labels.size), labels.copy()
    for _ in range(_MOST_SWEEPS):
        capacity = min(int(labels.max()) + 1 + _FURTHER_CLUSTERS, labels.size)
        if _improve(draws, labels, terms, order, capacity) == 0:
            break
        labels = by_decreasing_size(labels)
    return by_decreasing_size(labels)


def losses(draws: Draws, labels: Labels, loss: Loss) -> Array:
    """Return the loss of a partition, int64 (N,), if each of the draws, int32 (S, N), were true, float64 (S,)."""
    found = np.empty(len(draws))
    terms, unit = _terms(labels.size, loss)
    _distances(draws, np.ascontiguousarray(labels), terms, found)
    return np.maximum(found, 0.0) / unit


def _terms(n_subjects: int, loss: Loss) -> tuple[Array, float]:
    """Return f(0) .. f(N) of a loss, and the number by which their sums are divided."""
    n = np.arange(n_subjects + 1.0)
    if loss == "binder":
        return n**2, float(max(n_subjects * (n_subjects - 1), 1))
    return n * np.log(np.maximum(n, 1.0)), float(n_subjects)


def membership_of_draws(draws: Draws, labels: Labels) -> Array:
    """Return the share of the draws in which each subject is in each cluster of a partition, float64 (N, K)."""
    counts = np.zeros((labels.size, int(labels.max()) + 1))
    _matched(draws, labels, counts)
    return counts / len(draws)


def ball_around(draws: Draws, labels: Labels, loss: Loss, probability: float) -> CredibleBall:
    """Return the credible ball of this probability around a partition, int64 (N,)."""
    found = losses(draws, labels, loss)
    radius = float(np.sort(found)[max(int(np.ceil(probability * found.size)) - 1, 0)])
    inside = np.flatnonzero(found <= radius)
    n_clusters = draws[inside].max(axis=1)

    def farthest(places: NDArray[np.intp]) -> Labels:
        return by_decreasing_size(draws[places[np.argmax(found[places])]].astype(np.int64))

    return CredibleBall(
        probability,
        radius,
        farthest(inside),
        farthest(inside[n_clusters == n_clusters.min()]),
        farthest(inside[n_clusters == n_clusters.max()]),
    )


@kernel
def _distances(draws: Draws, labels: Labels, terms: Array, found: Array) -> None:
    """Write the distance of each draw to one partition to `found`, float64 (S,); `terms` are f(0) .. f(N)."""
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
def _improve(draws: Draws, labels: Labels, terms: Array, order: Labels, capacity: int) -> int:
    """Visit subjects and move each to the cluster with the lowest mean distance to all draws; return the moves.

    Labels are modified in place; some numbers below `capacity`, the most clusters, may be unused afterwards.
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
def _matched(draws: Draws, labels: Labels, counts: Array) -> None:
    """Add how often each subject was drawn into each cluster of one partition to `counts`, float64 (N, K).

    A drawn cluster is matched with the cluster with which it shares most subjects; of several, the first.
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
    """Add in how many draws each of these subjects (M,) is in one cluster with each other to `counts` (M, N)."""
    for s in range(draws.shape[0]):
        drawn = draws[s]
        for place in range(subjects.size):
            own = drawn[subjects[place]]
            for i in range(drawn.size):
                counts[place, i] += drawn[i] == own
