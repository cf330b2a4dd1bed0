"""The farthest-first heuristic: which penalty gives about a wished number of clusters (Kulis and Jordan 2012)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

__all__ = ["penalty_for", "penalty_for_groups", "squared_distances"]

Array = NDArray[np.float64]


def squared_distances(values: Array, centres: Array) -> Array:
    """Return the squared Euclidean distance of each row (N, C) from each centre (K, C), float64 (N, K)."""
    return cdist(values, centres, "sqeuclidean")


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

    As `penalty_for`, with whole data sets: the distance of a data set from T is the sum of the squared distances of its
    subjects, each from its nearest element of T. The paper does not say what is added in each round: here the farthest
    subject of the farthest data set. (With the mean of the data set, or with one element for all its subjects, T covers
    the data sets as wholes and not their clusters: the penalty is ten times as high, and no cluster is worth it.)

    Parameters
    ----------
    values : float64 (N, C)
    groups : int64 (N,)
        Data set of each subject, 0 .. J - 1, none empty.
    n_clusters : int
        From 1.
    """
    nearest = ((values - values.mean(axis=0)) ** 2).sum(axis=1)
    farthest = 0.0
    for _ in range(n_clusters):
        of_sets = np.bincount(groups, weights=nearest)
        added = int(of_sets.argmax())
        farthest = float(of_sets[added])
        members = np.flatnonzero(groups == added)
        nearest = np.minimum(nearest, ((values - values[members[nearest[members].argmax()]]) ** 2).sum(axis=1))
    return farthest
