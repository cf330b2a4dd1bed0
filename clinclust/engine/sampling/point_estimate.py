"""The partition with the lowest posterior expected loss, and the ball of partitions around it.

The expectation of a loss over the posterior is estimated by its mean over draws. Two losses are offered:

- the variation of information (Meila 2007, Journal of Multivariate Analysis 98, 873-895), in nats: the information that
  each of two partitions lacks of the other;
- Binder's loss (Binder 1978, Biometrika 65, 31-38), as the share of pairs of subjects that are together in one
  partition and apart in the other.

The minimum is searched as by Dahl, Johnson and Müller (2022, Journal of Computational and Graphical Statistics 31,
1189-1201): from several good partitions, single subjects are moved as long as this lowers the expected loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.agreements import distances, improve, matched
from clinclust.engine.search.labels import by_decreasing_size

__all__ = ["Ball", "Loss", "ball_around", "losses", "membership_of_draws", "point_estimate"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Draws = NDArray[np.int32]
Loss: TypeAlias = Literal["variation-of-information", "binder"]

_MOST_CANDIDATES = 200
_IMPROVED = 5
_MOST_SWEEPS = 100
_FURTHER_CLUSTERS = 5
"""Clusters that a search may open beyond those of its start."""


def losses(draws: Draws, labels: Labels, loss: Loss) -> Array:
    """Return the loss of a partition, int64 (N,), if each of the draws, int32 (S, N), were true, float64 (S,)."""
    found = np.empty(len(draws))
    terms, unit = _terms(labels.size, loss)
    distances(draws, np.ascontiguousarray(labels), terms, found)
    return np.maximum(found, 0.0) / unit


def point_estimate(draws: Draws, loss: Loss) -> Labels:
    """Return the partition with the lowest expected loss, int64 (N,), clusters by decreasing size.

    Parameters
    ----------
    draws : int32 (S, N)
        Clusters 0 .. K_s - 1 of each draw.
    loss : {"variation-of-information", "binder"}
    """
    chosen = np.unique(np.linspace(0, len(draws) - 1, _MOST_CANDIDATES).astype(np.int64))
    candidates = [by_decreasing_size(labels.astype(np.int64)) for labels in np.unique(draws[chosen], axis=0)]
    candidates.append(np.zeros(draws.shape[1], dtype=np.int64))
    expected = [losses(draws, labels, loss).mean() for labels in candidates]
    best = [candidates[place] for place in np.argsort(expected, kind="stable")[:_IMPROVED]]
    improved = [_improved(draws, labels, loss) for labels in best]
    return min(improved, key=lambda labels: losses(draws, labels, loss).mean())


def membership_of_draws(draws: Draws, labels: Labels) -> Array:
    """Return the share of the draws in which each subject is in each cluster of a partition, float64 (N, K).

    A drawn cluster stands for the cluster of the partition with which it shares most subjects.
    """
    counts = np.zeros((labels.size, int(labels.max()) + 1))
    matched(draws, labels, counts)
    return counts / len(draws)


@dataclass(frozen=True)
class Ball:
    """The partitions that hold a share of the posterior around a point estimate (Wade and Ghahramani 2018).

    Attributes
    ----------
    radius : float
        The smallest distance within which this share of the draws lies.
    farthest : int64 (N,)
        The farthest draw inside, the horizontal bound.
    fewest, most : int64 (N,)
        Among the draws inside with the fewest and with the most clusters, the farthest: the upper and the lower
        vertical bound.
    """

    radius: float
    farthest: Labels
    fewest: Labels
    most: Labels


def ball_around(draws: Draws, labels: Labels, loss: Loss, probability: float) -> Ball:
    """Return the credible ball of this probability around a partition, int64 (N,)."""
    found = losses(draws, labels, loss)
    radius = float(np.sort(found)[max(int(np.ceil(probability * found.size)) - 1, 0)])
    inside = np.flatnonzero(found <= radius)
    n_clusters = draws[inside].max(axis=1)

    def farthest(places: NDArray[np.intp]) -> Labels:
        return by_decreasing_size(draws[places[np.argmax(found[places])]].astype(np.int64))

    return Ball(
        radius,
        farthest(inside),
        farthest(inside[n_clusters == n_clusters.min()]),
        farthest(inside[n_clusters == n_clusters.max()]),
    )


def _terms(n_subjects: int, loss: Loss) -> tuple[Array, float]:
    """Return f(0) .. f(N) of a loss, and the number by which their sums are divided."""
    n = np.arange(n_subjects + 1.0)
    if loss == "binder":
        return n**2, float(max(n_subjects * (n_subjects - 1), 1))
    return n * np.log(np.maximum(n, 1.0)), float(n_subjects)


def _improved(draws: Draws, labels: Labels, loss: Loss) -> Labels:
    """Return the local minimum of the expected loss that moves of single subjects reach from a partition."""
    terms, _ = _terms(labels.size, loss)
    order, labels = np.arange(labels.size), labels.copy()
    for _ in range(_MOST_SWEEPS):
        capacity = min(int(labels.max()) + 1 + _FURTHER_CLUSTERS, labels.size)
        if improve(draws, labels, terms, order, capacity) == 0:
            break
        labels = by_decreasing_size(labels)
    return by_decreasing_size(labels)
