"""The farthest-first heuristic: which penalty gives about a wished number of clusters (Kulis and Jordan 2012)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["penalty_for", "penalty_for_groups", "squared_distances"]

Array = NDArray[np.float64]


def squared_distances(values: Array, centres: Array) -> Array:
    """Return the squared Euclidean distance of each row (N, C) from each centre (K, C), float64 (N, K)."""
    return np.column_stack([((values - centre) ** 2).sum(axis=1) for centre in centres])


def penalty_for(values: Array, n_clusters: int) -> float:
    """Return the penalty of DP-means for about this number of clusters.

    A set T begins with the mean of all subjects. `n_clusters` times, the subject with the largest squared distance from
    T (from its nearest element) is added to T. The distance of the last one is the penalty (Kulis and Jordan 2012,
    section 6.1).

    Parameters
    ----------
    values : float64 (N, C)
    n_clusters : int
        From 1.
    """
    nearest = ((values - values.mean(axis=0)) ** 2).sum(axis=1)
    farthest = 0.0
    for _ in range(n_clusters):
        added = int(nearest.argmax())
        farthest = float(nearest[added])
        nearest = np.minimum(nearest, ((values - values[added]) ** 2).sum(axis=1))
    return farthest


def penalty_for_groups(values: Array, groups: NDArray[np.int64], n_clusters: int) -> float:
    """Return the global penalty of the hard HDP for about this number of global clusters.

    As `penalty_for`, with whole data sets instead of subjects: the distance of a data set from an element of T is the
    sum of the squared distances of its subjects, and the mean of the farthest data set is added to T.

    Parameters
    ----------
    values : float64 (N, C)
    groups : int64 (N,)
        Data set of each subject, 0 .. J - 1, none empty.
    n_clusters : int
        From 1.
    """
    sizes = np.bincount(groups)
    means = np.stack([np.bincount(groups, weights=column) / sizes for column in values.T], axis=1)

    def distances(element: Array) -> Array:
        squared = ((values - element) ** 2).sum(axis=1)
        return np.bincount(groups, weights=squared).astype(np.float64)

    nearest = distances(values.mean(axis=0))
    farthest = 0.0
    for _ in range(n_clusters):
        added = int(nearest.argmax())
        farthest = float(nearest[added])
        nearest = np.minimum(nearest, distances(means[added]))
    return farthest
