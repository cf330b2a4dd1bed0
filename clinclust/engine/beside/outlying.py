"""Values that are not of their subject's cluster at all, whichever it is: set aside as if a cluster of their own.

Every observed value x_id carries a switch o_id. With probability 1 - share it is drawn from its subject's cluster, with
probability `share` from the prior of its feature, as the first value of a new cluster would be:

    ln p(X_obs, z, o) = ln p(z) + coarsening * [ sum_k sum_d ln m_d(values of feature d in cluster k that are kept)
                        + sum over kept values of ln(1 - share) + sum over values set aside of ln share + ln m_d(x_id) ]

A value set aside leaves the statistics as a missing one does, so that for given switches this is the joint of another
cohort (`set_aside`), which the whole search can raise. One slip of the pen then costs its subject a bounded price
(at most ln m_d(x) + ln share - ln(1 - share) below the others), where it would else open a cluster for itself.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.arrays import CohortArrays
from clinclust.engine.kernels.model import Model
from clinclust.engine.kernels.outlying_scores import bounded_scores, prior_predictives
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.labels import compact
from clinclust.engine.search.settle import minimum_gain

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["Switches", "best_elsewhere", "best_switches", "set_aside"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Switches = NDArray[np.bool_]


def set_aside(problem: Problem, aside: Switches, share: float) -> Problem:
    """Return the problem whose joint is the one above for these switches, bool (N, D), False where missing."""
    arrays, model = problem.cohort.arrays, problem.model._replace(coarsening=1.0)
    n_table = arrays.codes.shape[1]
    kept = arrays._replace(
        codes=np.where(aside[:, :n_table], 0, arrays.codes).astype(np.int32),
        values=np.where(aside[:, n_table:], np.nan, arrays.values),
    )
    first_values = _first_values(arrays, model)
    n_observed = int((arrays.codes > 0).sum() + (~np.isnan(arrays.values)).sum())
    n_aside = int(aside.sum())
    log_base = problem.cohort.log_base
    log_base += n_aside * math.log(share) + (n_observed - n_aside) * math.log1p(-share)
    log_base += float(first_values[aside].sum()) - float(_log_base(problem)[aside].sum())
    return replace(problem, cohort=replace(problem.cohort, arrays=kept, log_base=log_base))


def _first_values(arrays: CohortArrays, model: Model) -> Array:
    """Return ln m_d(x_id), the log prior predictive of each single value, shape (N, D); 0 where missing."""
    n_subjects, n_table = arrays.codes.shape
    nobody = new_partition(arrays, np.zeros(n_subjects, dtype=np.int64))
    out = np.zeros((n_subjects, n_table + arrays.values.shape[1]))
    prior_predictives(arrays, model, nobody, out)
    return out


def _log_base(problem: Problem) -> Array:
    """Return ln h(x_id) on the encoded scale, shape (N, D)."""
    arrays, prior = problem.cohort.arrays, problem.model.prior
    n_table = arrays.codes.shape[1]
    out = np.zeros((arrays.codes.shape[0], n_table + arrays.values.shape[1]))
    out[:, :n_table] = arrays.level_log_base[arrays.codes]
    for feature, likelihood in enumerate(problem.cohort.encoding.likelihoods[n_table:], n_table):
        theta = prior[arrays.prior_start[feature] : arrays.prior_start[feature + 1]]
        out[:, feature] = likelihood.log_base_measure(arrays.values[:, feature - n_table], theta)
    return out


def best_switches(problem: Problem, labels: Labels, aside: Switches, share: float) -> tuple[Switches, float]:
    """Set values aside and take others back until no single switch raises the joint.

    Given the partition the joint is a sum over clusters and features, so that in each of these one switch may move
    without a look at the others; all at once is tried first and kept if the joint rises.

    Parameters
    ----------
    problem : Problem
        Of all values.
    labels : int64 (N,)
        Clusters 0 .. K - 1, which stay.
    aside : bool (N, D)
        Where to begin.
    share : float

    Returns
    -------
    switches : bool (N, D)
    log_joint : float
    """
    least = minimum_gain(problem)
    joint = _joint(problem, labels, aside, share)
    while True:
        _, gains = _bounded(problem, labels, aside, share)
        if not (gains > least).any():
            return aside, joint
        switched = aside ^ (gains > least)
        raised = _joint(problem, labels, switched, share)
        if raised <= joint + least:
            switched = aside ^ _best_of_each(gains, labels, least)
            raised = _joint(problem, labels, switched, share)
            if raised <= joint:  # nothing but rounding
                return aside, joint
        aside, joint = switched, raised


def best_elsewhere(problem: Problem, labels: Labels, aside: Switches, share: float, cluster: int) -> Labels:
    """Return labels with the members of one cluster moved to the others, each with its switches at their best there."""
    scores, _ = _bounded(problem, labels, aside, share)
    scores[:, cluster] = -np.inf
    return compact(np.where(labels == cluster, scores.argmax(axis=1), labels))


def _joint(problem: Problem, labels: Labels, aside: Switches, share: float) -> float:
    kept = set_aside(problem, aside, share)
    return log_joint(kept, new_partition(kept.cohort.arrays, labels))


def _best_of_each(gains: Array, labels: Labels, least: float) -> Switches:
    """Return the one switch of each cluster and feature that gains most, if it gains."""
    chosen = np.zeros(gains.shape, dtype=np.bool_)
    for cluster in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == cluster)
        best = members[gains[members].argmax(axis=0)]
        chosen[best, np.arange(gains.shape[1])] = True
    return chosen & (gains > least)


def _bounded(problem: Problem, labels: Labels, aside: Switches, share: float) -> tuple[Array, Array]:
    """Return each subject's log weights with its switches at their best, (N, K), and what each switch gains, (N, D)."""
    kept = set_aside(problem, aside, share).cohort.arrays
    partition = new_partition(kept, labels)
    scores = np.zeros((labels.size, int(partition.n_clusters[0])))
    gains = np.full(aside.shape, -np.inf)
    log_odds = problem.model.coarsening * (math.log(share) - math.log1p(-share))
    bounded_scores(problem.cohort.arrays, problem.model, partition, aside, log_odds, scores, gains)
    return scores, gains
