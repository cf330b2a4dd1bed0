"""Renumbering of clusters, which makes equal partitions comparable, and their agreement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Labels, Whole


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


def groups_by_decreasing_size(groups: Labels, sizes: Whole) -> Labels:
    """Renumber groups (J,) of clusters of these sizes (J,) by the decreasing number of their subjects."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    totals = np.zeros(first.size, dtype=np.int64)
    np.add.at(totals, inverse, sizes)
    return _rank(np.lexsort((first, -totals)))[inverse]


def _rank(order: NDArray[np.intp]) -> Labels:
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return rank


def adjusted_rand_index(first: Labels, second: Labels) -> float:
    """Return the adjusted Rand index (Hubert and Arabie 1985): 1 = equal partitions, 0 = agreement by chance."""
    shape = (int(first.max()) + 1, int(second.max()) + 1)
    cells, size = np.unique(np.ravel_multi_index((first, second), shape), return_counts=True)
    del cells

    def pairs(counts: Whole) -> float:
        return float((counts.astype(np.float64) * (counts - 1.0)).sum() / 2.0)

    together, all_pairs = pairs(size), pairs(np.array([first.size]))
    in_first, in_second = pairs(np.bincount(first)), pairs(np.bincount(second))
    expected = in_first * in_second / all_pairs if all_pairs else 0.0
    highest = (in_first + in_second) / 2.0
    return 1.0 if highest == expected else (together - expected) / (highest - expected)
