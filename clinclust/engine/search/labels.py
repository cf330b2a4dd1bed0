"""Names of clusters: renaming them leaves a partition the same, and makes it easier to compare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["by_decreasing_size", "compact"]

Labels = NDArray[np.int64]


def compact(labels: NDArray[np.generic]) -> Labels:
    """Rename clusters 0 .. K - 1 in the order in which they first appear, so that equal partitions look equal."""
    labels = labels.astype(np.int64)
    n_clusters = int(labels.view(np.uint64).max()) + 1  # huge if one is negative
    if n_clusters > labels.size:
        labels = np.unique(labels, return_inverse=True)[1]
        n_clusters = int(labels.max()) + 1
    first = np.full(n_clusters, labels.size)
    first[labels[::-1]] = np.arange(labels.size - 1, -1, -1)  # of several, the last to be written is the first
    return np.asarray(_rank(np.argsort(first, kind="stable"))[labels], dtype=np.int64)


def by_decreasing_size(labels: Labels) -> Labels:
    """Rename clusters 0 .. K - 1 by decreasing size; of two as large, the one whose first member comes first."""
    _, first, inverse, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    return _rank(np.lexsort((first, -sizes)))[inverse]


def _rank(order: NDArray[np.intp]) -> Labels:
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return rank
