"""Renumbering of clusters. It does not change a partition, and makes partitions comparable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["by_decreasing_size", "compact", "groups_by_decreasing_size"]

Labels = NDArray[np.int64]


def compact(labels: NDArray[np.generic]) -> Labels:
    """Renumber clusters 0 .. K - 1 in order of first appearance, so that equal partitions have equal labels."""
    labels = labels.astype(np.int64)
    n_clusters = int(labels.view(np.uint64).max()) + 1  # very large if a label is negative
    if n_clusters > labels.size:
        labels = np.unique(labels, return_inverse=True)[1]
        n_clusters = int(labels.max()) + 1
    first = np.full(n_clusters, labels.size)
    first[labels[::-1]] = np.arange(labels.size - 1, -1, -1)  # the last value written is the first position
    return np.asarray(_rank(np.argsort(first, kind="stable"))[labels], dtype=np.int64)


def by_decreasing_size(labels: Labels) -> Labels:
    """Renumber clusters 0 .. K - 1 by decreasing size; clusters of equal size in order of their first member."""
    _, first, inverse, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    return _rank(np.lexsort((first, -sizes)))[inverse]


def groups_by_decreasing_size(groups: Labels, sizes: NDArray[np.int64]) -> Labels:
    """Renumber groups of clusters 0 .. K - 1 by the decreasing number of their subjects.

    Groups of equal size are in the order of their first cluster.

    Parameters
    ----------
    groups : int64 (J,)
        Group of each cluster.
    sizes : int64 (J,)
        Number of subjects in each cluster.
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    totals = np.zeros(first.size, dtype=np.int64)
    np.add.at(totals, inverse, sizes)
    return _rank(np.lexsort((first, -totals)))[inverse]


def _rank(order: NDArray[np.intp]) -> Labels:
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return rank
