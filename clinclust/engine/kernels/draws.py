"""One sweep of collapsed Gibbs sampling: each subject in turn moves to a cluster that is drawn by its score.

The scores are those of a sweep of MAP-DP (`clinclust.engine.kernels.scoring`); their exponentials, normalised, are the
conditional probabilities of the subject's cluster given all other labels (Neal 2000, J Comput Graph Stat 9, 249-265,
algorithm 3). Subjects in no cluster are assigned to one, in order: this is the sequential allocation of which proposals
of divisions are made (Dahl 2005, sequentially-allocated merge-split sampler).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, kernel
from clinclust.engine.kernels.arrays import CohortArrays
from clinclust.engine.kernels.inner_loops import highest, sum_rows
from clinclust.engine.kernels.model import Model
from clinclust.engine.kernels.moves import move, state_of
from clinclust.engine.kernels.partition import Partition
from clinclust.engine.kernels.scoring import begin_scoring, score_all, score_without_rows

__all__ = ["draw_moves"]

Labels = NDArray[np.int64]

_CERTAIN = 45.0
"""Nats by which the own cluster leads where the others together have less than 2^-53, the step of a uniform draw."""


@kernel
def draw_moves(
    cohort: CohortArrays,
    model: Model,
    partition: Partition,
    order: Labels,
    start: int,
    uniforms: NDArray[np.float64],
    targets: Labels,
    most_clusters: int,
    heat: float,
) -> tuple[int, float]:
    """Visit subjects order[start:] and move each to a cluster drawn with probability proportional to exp(heat * score).

    Parameters
    ----------
    cohort : CohortArrays
    model : Model
    partition : Partition, modified in place
        Sizes and statistics must correspond to the labels. Subjects with label -1 are in no cluster.
    order : int64 (n,)
        The subjects in the order of their visit.
    start : int
        Position in `order` at which the sweep begins.
    uniforms : float64 (n,)
        Uniform draws from [0, 1), one for each position.
    targets : int64 (n,) or (0,)
        If n > 0, each subject moves to this cluster instead, K for a new one.
    most_clusters : int
        Number of clusters from which on no subject opens a new cluster.
    heat : float
        Power to which the probabilities are raised before they are normalised, above 0; 1 for the posterior.

    Returns
    -------
    position : int
        Position in `order` at which the sweep stopped: n, or less if the capacity does not allow a new cluster.
    log_probability : float
        Log of the product of the probabilities of the clusters that the subjects moved to.
    """
    state = state_of(cohort, model, partition)
    n_clusters, scores = state.n_clusters[0], state.scores
    n_together = begin_scoring(state, False)
    is_forced = targets.shape[0] > 0
    log_probability = 0.0
    for position in range(start, order.shape[0]):
        i = order[position]
        own = state.labels[i]
        n_columns = n_clusters + 1 if n_clusters < most_clusters else n_clusters
        rows_of_own = score_all(state, i, n_columns, n_together)
        if n_columns == n_clusters:
            scores[n_clusters] = -math.inf
        score = -math.inf
        if own >= 0:
            score = score_without_rows(state, i, own)
            scores[own] = -math.inf
            if state.sizes[own] == 1.0:  # a new cluster would equal its own cluster
                scores[n_clusters] = -math.inf
        others = highest(scores, n_columns)
        if own >= 0:
            if heat * (score + rows_of_own - state.spread[own] - others) > _CERTAIN and not is_forced:
                continue
            left_out = flat(state.left_out, own * state.n_rows)
            score += sum_rows(left_out, state.codes, i * state.n_table, state.n_table)
            scores[own] = score
        most = max(score, others)
        total = 0.0
        for k in range(n_columns):
            scores[k] = math.exp(heat * (scores[k] - most))
            total += scores[k]
        if is_forced:
            drawn = targets[position]
        else:
            drawn, left = own, uniforms[position] * total
            for k in range(n_columns):
                if scores[k] > 0.0 and left >= 0.0:  # rounding may leave a rest after the last cluster
                    drawn = k
                    left -= scores[k]
        log_probability += math.log(scores[drawn] / total)
        if drawn != own:
            if drawn == n_clusters and n_clusters + 2 > state.capacity:
                return position, log_probability - math.log(scores[drawn] / total)
            move(state, i, drawn)
            n_clusters = state.n_clusters[0]
    return order.shape[0], log_probability
