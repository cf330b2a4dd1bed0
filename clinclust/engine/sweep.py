"""One sweep of MAP-DP: every subject in turn goes to the cluster that explains it best.

This is the inner loop of algorithm 3 of Raykov et al. (2016): iterated conditional modes on the collapsed joint. A
move is made only when it raises the joint, by more than rounding could; a sweep without a move is a fixed point.

The score of a subject is a log weight and the log predictives of its observed values: eight clusters at a time, rows of
the table for discrete features, coefficients for continuous ones (`clinclust.engine.lanes`). It is written out in both
kernels that need it, since a function of its own would count references to two dozen arrays at each subject, which
takes longer than the sum.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import kernel, subkernel
from clinclust.engine.encoding import CohortArrays
from clinclust.engine.lanes import LANES, add_log_terms, add_rows, sum_log_terms
from clinclust.engine.model import Model
from clinclust.engine.partition import Partition, add_up, log_weight, move, refresh, value_left_out

__all__ = ["hasten_rounds", "next_mover", "score_all", "score_rows", "sweep"]

_LEAST_LEFT = 1e-3
"""Of 1 - c2 (z - c3)^2, the part of a rate or scatter that is left without z; below, it has lost too many digits."""


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
    order : int64 (n,)
        The subjects in the order of their visit.
    start : int
    minimum_gain : float
        Smallest rise of the log joint, in nats, that counts as one.
    ignore_size : bool
        Score cluster 0 as if it held one subject (the first sweep of the paper's start, appendix B).

    Returns
    -------
    position : int
        Where in `order` the sweep stopped: n, or earlier when there is no room for another cluster.
    moves : int
    """
    refresh(cohort, model, partition)
    moves = 0
    position, target = next_mover(cohort, model, partition, order, start, minimum_gain, ignore_size)
    while position < order.shape[0]:
        n_clusters = partition.n_clusters[0]
        if target == n_clusters and n_clusters + 2 > partition.sizes.shape[0]:
            return position, moves
        move(cohort, model, partition, order[position], target)
        moves += 1
        position, target = next_mover(cohort, model, partition, order, position + 1, minimum_gain, ignore_size)
    return position, moves


@subkernel
def next_mover(
    cohort: CohortArrays,
    model: Model,
    partition: Partition,
    order: NDArray[np.int64],
    start: int,
    minimum_gain: float,
    ignore_size: bool,
) -> tuple[int, int]:
    """Return the first position in `order`, from `start` on, of a subject who moves, and to which cluster.

    K is a new cluster; the position is past the last when nobody moves. A cluster explains a subject better with it
    than without it, for log normalisers are convex, and by how much in all its table rows together, `Partition.spread`
    bounds. Most subjects stay whatever it is within this bound, and what their own cluster's rows are without them
    need not be summed.
    """
    n_clusters = int(partition.n_clusters[0])
    scores, capacity = partition.scores, partition.scores.shape[0]
    n_table, n_values = cohort.codes.shape[1], cohort.values.shape[1]
    width = partition.values.shape[0]
    for position in range(start, order.shape[0]):
        i = order[position]
        own = partition.labels[i]
        rows_of_own = 0.0
        for first in range(0, n_clusters + 1, LANES):
            for k in range(first, first + LANES):
                scores[k] = 0.0
            add_rows(scores, first, partition.table, capacity, cohort.codes, i * n_table, n_table)
            if first <= own < first + LANES:
                rows_of_own = scores[own]
            for k in range(first, first + LANES):
                scores[k] += partition.log_weights[k]
            for column in range(n_values):
                z = cohort.values[i, column]
                if not math.isnan(z):
                    add_log_terms(scores, first, partition.coefficients, column, capacity, z)
        # Its own cluster without it: the weight, the continuous values, and only if need be the table rows.
        score = log_weight(model, partition.sizes[own] - 1.0, n_clusters - 1)
        if n_values > 0:
            for column in range(n_values):
                partition.values[column] = cohort.values[i, column]
            without = sum_log_terms(
                partition.values, partition.left_out_coefficients, 4 * width * own, width, _LEAST_LEFT
            )
            if math.isnan(without):
                without = 0.0
                for column in range(n_values):
                    z = cohort.values[i, column]
                    if not math.isnan(z):
                        without += value_left_out(cohort, model, partition, own, column, z)
            score += without
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
        # For a subject alone, a new cluster is the one it has.
        for k in range(n_clusters if partition.sizes[own] == 1.0 else n_clusters + 1):
            if scores[k] > scores[best]:
                best = k
        if scores[best] < score + rows_of_own - partition.spread[own]:
            continue
        for feature in range(n_table):
            score += partition.left_out[own, cohort.codes[i, feature]]
        if scores[best] - score > minimum_gain:
            return position, best
    return order.shape[0], -1


@kernel
def score_all(
    cohort: CohortArrays,
    model: Model,
    partition: Partition,
    leave_one_out: bool,
    out: NDArray[np.float64],
) -> None:
    """Bring the log predictives up to date and write every subject's scores to `out`: see `score_rows`."""
    refresh(cohort, model, partition)
    score_rows(cohort, model, partition, leave_one_out, out)


@kernel
def score_rows(
    cohort: CohortArrays,
    model: Model,
    partition: Partition,
    leave_one_out: bool,
    out: NDArray[np.float64],
) -> None:
    """Write every subject's scores against the clusters and the empty one to `out`, float64 (N, K + 1).

    A score is log weight + coarsening ln p(x_i | cluster k), k = 0 .. K; K is the empty cluster. With `leave_one_out` a
    subject is scored against its own cluster without itself; otherwise all are new.
    """
    n_clusters = int(partition.n_clusters[0])
    scores, capacity = partition.scores, partition.scores.shape[0]
    n_table, n_values = cohort.codes.shape[1], cohort.values.shape[1]
    width = partition.values.shape[0]
    for i in range(out.shape[0]):
        for first in range(0, n_clusters + 1, LANES):
            for k in range(first, first + LANES):
                scores[k] = partition.log_weights[k]
            add_rows(scores, first, partition.table, capacity, cohort.codes, i * n_table, n_table)
            for column in range(n_values):
                z = cohort.values[i, column]
                if not math.isnan(z):
                    add_log_terms(scores, first, partition.coefficients, column, capacity, z)
        for k in range(n_clusters + 1):
            out[i, k] = scores[k]
        if leave_one_out:
            own = partition.labels[i]
            score = log_weight(model, partition.sizes[own] - 1.0, n_clusters - 1)
            for feature in range(n_table):
                score += partition.left_out[own, cohort.codes[i, feature]]
            if n_values > 0:
                for column in range(n_values):
                    partition.values[column] = cohort.values[i, column]
                without = sum_log_terms(
                    partition.values, partition.left_out_coefficients, 4 * width * own, width, _LEAST_LEFT
                )
                if math.isnan(without):
                    without = 0.0
                    for column in range(n_values):
                        z = cohort.values[i, column]
                        if not math.isnan(z):
                            without += value_left_out(cohort, model, partition, own, column, z)
                score += without
            out[i, own] = score
            if partition.sizes[own] == 1.0:  # for a subject alone, a new cluster is the one it has
                out[i, n_clusters] = score


@kernel
def hasten_rounds(cohort: CohortArrays, model: Model, partition: Partition, n_rounds: int) -> None:
    """Move everybody at once to the best cluster there is, up to `n_rounds` times; clusters left empty are closed.

    Clusters are numbered in the order in which they first appear.
    """
    n_subjects = partition.labels.shape[0]
    for _ in range(n_rounds):
        n_clusters = partition.n_clusters[0]
        scores = np.empty((n_subjects, n_clusters + 1))
        refresh(cohort, model, partition)
        score_rows(cohort, model, partition, True, scores)
        new_name = np.full(n_clusters, -1)
        n_found = 0
        moved = False
        for i in range(n_subjects):
            best = 0
            for k in range(1, n_clusters):
                if scores[i, k] > scores[i, best]:
                    best = k
            if best != partition.labels[i]:
                moved = True
            if new_name[best] < 0:
                new_name[best] = n_found
                n_found += 1
            partition.labels[i] = new_name[best]
        partition.n_clusters[0] = n_found
        partition.sizes[:] = 0.0
        partition.statistics[:] = 0.0
        add_up(cohort, partition.labels, partition.sizes, partition.statistics)
        if not moved:
            break
