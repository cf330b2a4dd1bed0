"""One sweep of MAP-DP: every subject in turn goes to the cluster that explains it best.

This is the inner loop of algorithm 3 of Raykov et al. (2016): iterated conditional modes on the collapsed joint. A
move is made only when it raises the joint, by more than rounding could; a sweep without a move is a fixed point.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import inlined, kernel
from clinclust.engine.encoding import CohortArrays
from clinclust.engine.model import Model
from clinclust.engine.partition import Partition, move, refresh, rows_without, score_subject, score_without

__all__ = ["best_cluster", "score_all", "sweep"]


@inlined
def best_cluster(
    cohort: CohortArrays, model: Model, partition: Partition, i: int, minimum_gain: float, ignore_size: bool
) -> int:
    """Return the cluster that explains subject i best, K for a new one; its own unless the joint rises by the minimum.

    A cluster explains a subject better with it than without it, for log normalisers are convex, and by how much in all
    its table rows together, `Partition.spread` bounds. Most subjects stay whatever it is within this bound, and what
    their own cluster's rows are without them need not be summed.
    """
    own = int(partition.labels[i])
    n_clusters = int(partition.n_clusters[0])
    scores = partition.scores
    rows_of_own = score_subject(cohort, partition, i, own)
    score = score_without(cohort, model, partition, i, own)
    alone = partition.sizes[own] == 1.0
    if ignore_size:
        held = partition.sizes[0] - (1.0 if own == 0 else 0.0)
        if held > 0.0:
            shift = math.log(1.0 - model.discount) - math.log(held - model.discount)
            if own == 0:
                score += shift
            else:
                scores[0] += shift
    best = own
    scores[own] = -math.inf
    for k in range(n_clusters + 1):
        # For a subject alone, a new cluster is the one it has.
        if scores[k] > scores[best] and not (alone and k == n_clusters):
            best = k
    if scores[best] < score + rows_of_own - partition.spread[own]:
        return own
    score += rows_without(cohort, partition, i, own)
    return best if scores[best] - score > minimum_gain else own


@kernel
def sweep(
    cohort: CohortArrays,
    model: Model,
    partition: Partition,
    order: NDArray[np.int64],
    start: int,
    minimum_gain: float,
    ignore_size: bool,
) -> tuple[int, int]:
    """Visit subjects order[start:], each moved to its best cluster.

    Parameters
    ----------
    cohort : CohortArrays
    model : Model
    partition : Partition, modified in place
        Sizes and statistics must be those of the labels; the log predictives follow from them here.
    order : int64 (N,)
        The subjects in the order of their visit.
    start : int
    minimum_gain : float
        Smallest rise of the log joint, in nats, that counts as one.
    ignore_size : bool
        Score cluster 0 as if it held one subject (the first sweep of the paper's start, appendix B).

    Returns
    -------
    position : int
        Where in `order` the sweep stopped: N, or earlier when there is no room for another cluster.
    moves : int
    """
    refresh(cohort, model, partition)
    moves = 0
    for position in range(start, order.shape[0]):
        i = order[position]
        best = best_cluster(cohort, model, partition, i, minimum_gain, ignore_size)
        if best != partition.labels[i]:
            n_clusters = partition.n_clusters[0]
            if best == n_clusters and n_clusters + 2 > partition.sizes.shape[0]:
                return position, moves
            move(cohort, model, partition, i, best)
            moves += 1
    return order.shape[0], moves


@kernel
def score_all(
    cohort: CohortArrays,
    model: Model,
    partition: Partition,
    leave_one_out: bool,
    out: NDArray[np.float64],
) -> None:
    """Write every subject's scores against the clusters and the empty one to `out`, float64 (N, K + 1).

    With `leave_one_out` a subject is scored against its own cluster without itself; otherwise all are new.
    """
    refresh(cohort, model, partition)
    for i in range(out.shape[0]):
        own = partition.labels[i] if leave_one_out else -1
        score_subject(cohort, partition, i, own)
        for k in range(out.shape[1]):
            out[i, k] = partition.scores[k]
        if own >= 0:
            out[i, own] = score_without(cohort, model, partition, i, own) + rows_without(cohort, partition, i, own)
            if partition.sizes[own] == 1.0:  # for a subject alone, a new cluster is the one it has
                out[i, partition.n_clusters[0]] = out[i, own]
