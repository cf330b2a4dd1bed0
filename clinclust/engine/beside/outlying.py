"""Outlying values given the partition: single values that do not come from their subject's cluster.

Every observed value x_id has an indicator o_id. With probability 1 - share the value is drawn from its subject's
cluster (o_id = 0). With probability `share` it is drawn from the prior predictive of its feature (o_id = 1), like the
first value of a new cluster:

    ln p(X_obs, z, o) = ln p(z) + coarsening * sum_d power_d [ sum_k ln m_d(values in cluster k with o_id = 0)
                        + sum over o_id = 0 of ln(1 - share) + sum over o_id = 1 of ln share + ln m_d(x_id) ]

An outlying value adds nothing to the statistics of its cluster, like a missing value. For a given mask of outlying
values the joint is therefore the joint of another cohort (`without_outlying`), and the whole search can raise it. The
term of one value in a subject's score is at least coarsening * power_d * [ln m_d(x) + ln share - ln(1 - share)].
Without this lower bound, one extreme value could open a new cluster.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.outlying_scores import bounded_scores
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.labels import compact
from clinclust.engine.search.settle import minimum_gain

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["OutlyingMask", "best_elsewhere", "best_outlying", "without_outlying"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
OutlyingMask = NDArray[np.bool_]
"""bool (N, D): True where a value is outlying, False where it is kept or missing; subjects and features as encoded."""


def without_outlying(problem: Problem, outlying: OutlyingMask, share: float) -> Problem:
    """Return the problem of the values that are kept.

    Its log joint is the joint of the module docstring for this mask. The terms of the outlying values, and the terms of
    the indicators, are part of its log base measure.
    """
    arrays, powers = problem.cohort.arrays, problem.model.powers
    n_table = arrays.codes.shape[1]
    kept = arrays._replace(
        codes=np.where(outlying[:, :n_table], 0, arrays.codes).astype(np.int32),
        values=np.where(outlying[:, n_table:], np.nan, arrays.values),
    )
    of_all = problem.single_values
    n_outlying = float((powers * outlying.sum(axis=0)).sum())
    log_base = problem.cohort.log_base + float(of_all.terms[outlying].sum())
    log_base += n_outlying * math.log(share) + (of_all.n_observed - n_outlying) * math.log1p(-share)
    return replace(problem, cohort=replace(problem.cohort, arrays=kept, log_base=log_base))


def best_outlying(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float) -> tuple[OutlyingMask, float]:
    """Change which values are outlying until no change of a single value raises the joint.

    Given the partition, the joint is a sum over clusters and features. One value of each cluster and feature can
    therefore change independently of the other clusters and features. Each round first changes all values whose change
    alone would raise the joint. If the joint does not rise, the round instead changes the best such value of each
    cluster and feature.

    Parameters
    ----------
    problem : Problem
        Problem of all values.
    labels : int64 (N,)
        Clusters 0 .. K - 1. They do not change.
    outlying : bool (N, D)
        The mask to begin with.
    share : float
        Prior probability that a value is outlying, in (0, 1).

    Returns
    -------
    outlying : bool (N, D)
    log_joint : float
    """
    least = minimum_gain(problem)
    joint = _joint(problem, labels, outlying, share)
    while True:
        _, gains = _bounded(problem, labels, outlying, share)
        if not (gains > least).any():
            return outlying, joint
        changed = outlying ^ (gains > least)
        raised = _joint(problem, labels, changed, share)
        if raised <= joint + least:
            changed = outlying ^ _best_of_each(gains, labels, least)
            raised = _joint(problem, labels, changed, share)
            if raised <= joint:  # the gains were rounding errors
                return outlying, joint
        outlying, joint = changed, raised


def best_elsewhere(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float, cluster: int) -> Labels:
    """Return labels in which each member of one cluster is moved to the best of the other clusters, int64 (N,).

    Under each of these clusters, a member is scored with the outlying values that give the highest score.
    """
    scores, _ = _bounded(problem, labels, outlying, share)
    scores[:, cluster] = -np.inf
    return compact(np.where(labels == cluster, scores.argmax(axis=1), labels))


def _joint(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float) -> float:
    kept = without_outlying(problem, outlying, share)
    return log_joint(kept, new_partition(kept.cohort.arrays, labels))


def _best_of_each(gains: Array, labels: Labels, least: float) -> OutlyingMask:
    """Return a mask of the value with the largest gain, above `least`, in each cluster and feature; bool (N, D)."""
    chosen = np.zeros(gains.shape, dtype=np.bool_)
    for cluster in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == cluster)
        best = members[gains[members].argmax(axis=0)]
        chosen[best, np.arange(gains.shape[1])] = True
    return chosen & (gains > least)


def _bounded(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float) -> tuple[Array, Array]:
    """Return the scores (N, K) and the gains (N, D) of `bounded_scores`."""
    kept = without_outlying(problem, outlying, share).cohort.arrays
    partition = new_partition(kept, labels)
    scores = np.zeros((labels.size, int(partition.n_clusters[0])))
    gains = np.full(outlying.shape, -np.inf)
    log_odds = problem.model.coarsening * (math.log(share) - math.log1p(-share))
    bounded_scores(problem.cohort.arrays, problem.model, partition, outlying, log_odds, scores, gains)
    return scores, gains
