"""The merge tree of a partition: the order in which clusters merge, and the cost of each merge.

Sufficient statistics add up, so the change of the log joint by a merge is exact and needs no new fit. From the K
clusters of a partition, the pair with the lowest cost is merged, and so on, until one cluster remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.search.split_merge import merge_gains

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["merge_tree"]


def merge_tree(
    problem: Problem, labels: NDArray[np.int64], first: Sequence[tuple[int, int]] = ()
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Merge the clusters of a partition step by step, each time the pair whose merge lowers the log joint least.

    Parameters
    ----------
    problem : Problem
    labels : int64 (N,)
        Clusters 0 .. K - 1.
    first : sequence of two int
        The nodes that are merged at the first steps, whatever the cost.

    Returns
    -------
    joins : int64 (K - 1, 2)
        The two nodes merged at each step, the smaller number first. Nodes 0 .. K - 1 are the clusters; node K + s is
        the result of step s.
    evidence : float64 (K - 1,)
        Decrease of the log joint at each step, in nats.
    """
    n_clusters = int(labels.max()) + 1
    joins = np.zeros((n_clusters - 1, 2), dtype=np.int64)
    evidence = np.zeros(n_clusters - 1)
    nodes = list(range(n_clusters))
    partition = new_partition(problem.cohort.arrays, labels)
    statistics, sizes = partition.statistics, partition.sizes
    for step in range(n_clusters - 1):
        gains = merge_gains(problem, partition)
        if step < len(first):
            kept, lost = sorted(nodes.index(side) for side in first[step])
        else:
            kept, lost = (int(side) for side in np.unravel_index(gains.argmax(), gains.shape))
        joins[step] = sorted((nodes[kept], nodes[lost]))
        evidence[step] = -gains[kept, lost]
        # kept < lost, and the indices of the clusters after the lost one decrease by one.
        statistics[kept] += statistics[lost]
        sizes[kept] += sizes[lost]
        statistics[lost:-1], sizes[lost:-1] = statistics[lost + 1 :].copy(), sizes[lost + 1 :].copy()
        partition.n_clusters[0] -= 1
        nodes[kept] = n_clusters + step
        del nodes[lost]
    return joins, evidence
