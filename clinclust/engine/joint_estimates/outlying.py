"""Outlying values given the partition: single values that do not come from their subject's cluster.

Every observed value x_id has an indicator o_id. With probability 1 - share it is drawn from its subject's cluster (o_id
= 0), and with probability `share` from the prior predictive of its feature (o_id = 1):

    ln p(X_obs, z, o) = ln p(z) + coarsening * sum_d power_d [ sum_k ln m_d(values in cluster k with o_id = 0)
                        + sum over o_id = 0 of ln(1 - share) + sum over o_id = 1 of ln share + ln m_d(x_id) ]

An outlying value adds nothing to the statistics of its cluster, like a missing value: given the mask, the joint is that
of another cohort (`without_outlying`). The term of one value in a subject's score is at least coarsening * power_d *
[ln m_d(x) + ln share - ln(1 - share)], so that no single value opens a cluster.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.kernels.outlying_scores import bounded_scores, gains_of_indicators, prior_predictives
from clinclust.engine.kernels.partition import CohortArrays, Model, Partition, make_missing, new_partition
from clinclust.engine.problem.encoding import log_base_measures
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import compact
from clinclust.engine.search.settle import minimum_gain

OutlyingMask = Mask
"""bool (N, D): True where a value is outlying, False where it is kept or missing; subjects and features as encoded."""


def without_outlying(problem: Problem, outlying: OutlyingMask, share: float) -> Problem:
    """Return the problem of the values that are kept, with the joint of the module docstring: all if the share is 0."""
    if share == 0.0:
        return problem
    cohort, powers, values = problem.cohort, problem.model.powers, np.flatnonzero(outlying)
    n_outlying = float((powers * np.bincount(values % powers.size, minlength=powers.size)).sum())
    n_observed = float((powers * cohort.n_observed).sum())
    log_base = cohort.log_base
    log_base += n_outlying * math.log(share) + (n_observed - n_outlying) * math.log1p(-share)
    log_base += of_outlying_values(problem, values)
    return replace(problem, cohort=replace(cohort, arrays=_arrays_kept(cohort.arrays, values), log_base=log_base))


def _arrays_kept(arrays: CohortArrays, values: Whole) -> CohortArrays:
    kept = arrays._replace(codes=arrays.codes.copy(), values=arrays.values.copy())
    make_missing(kept, values)
    return kept


def of_outlying_values(problem: Problem, values: Whole) -> float:
    """Return the sum of power_d [ln m_d(x_id) - ln h(x_id)] over the outlying values, i D + d in ascending order."""
    if values.size == 0:
        return 0.0
    powers = problem.model.powers
    subjects, features = np.divmod(values, powers.size)
    rows, places = np.unique(subjects, return_inverse=True)  # few
    some = problem.restricted_to(rows, 0)
    first_values = powers * _first_values(some.cohort.arrays, problem.model.in_full())
    log_base = log_base_measures(some.cohort, problem.model.prior, places, features)
    return float(first_values[places, features].sum()) - float((powers[features] * log_base).sum())


def _first_values(arrays: CohortArrays, model: Model) -> Array:
    """Return ln m_d(x_id), the log prior predictive of each value, float64 (N, D); 0 where missing."""
    n_subjects, n_table = arrays.codes.shape
    empty = new_partition(arrays, np.zeros(n_subjects, dtype=np.int64))
    out = np.zeros((n_subjects, n_table + arrays.values.shape[1]))
    prior_predictives(arrays, model, empty, out)
    return out


def best_outlying(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float) -> tuple[OutlyingMask, float]:
    """Change which values are outlying until no change of a single value raises the joint; return mask and log joint.

    Each round changes all values whose change alone would raise the joint; if it does not rise, the best such value of
    each cluster and feature. At share 0 the mask stays.
    """
    least = minimum_gain(problem)
    partition, joint = _kept(problem, labels, outlying, share)
    while share > 0.0:
        aside = np.flatnonzero(outlying)
        changes = changes_that_raise(problem.cohort.arrays, problem.model, partition, aside, share, least)
        if changes.values.size == 0:
            break
        changed = changes.made(outlying)
        partition, raised = _kept(problem, labels, changed, share)
        if raised <= joint + least:
            changed = changes.only(changes.are_best(outlying.shape[1])).made(outlying)
            partition, raised = _kept(problem, labels, changed, share)
            if raised <= joint:  # the gains were rounding errors
                break
        outlying, joint = changed, raised
    return outlying, joint


def best_elsewhere(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float, cluster: int) -> Labels:
    """Return labels with the members of one cluster moved to their best other clusters, with best outlying values."""
    members = np.flatnonzero(labels == cluster)
    partition = new_partition(_arrays_kept(problem.cohort.arrays, np.flatnonzero(outlying)), labels)
    moved = labels.copy()
    moved[members] = best_others(problem.cohort.arrays, problem.model, partition, members, share)
    return compact(moved)


def best_others(arrays: CohortArrays, model: Model, partition: Partition, subjects: Labels, share: float) -> Labels:
    """Return the best cluster but their own of some subjects, with their best outlying values, int64 (M,)."""
    scores = np.zeros((subjects.size, int(partition.n_clusters[0])))
    bounded_scores(arrays, model, partition, subjects, _log_odds(model, share), scores)
    return np.asarray(scores.argmax(axis=1), dtype=np.int64)


def _kept(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float) -> tuple[Partition, float]:
    kept = without_outlying(problem, outlying, share)
    partition = kept.partition(labels)
    return partition, log_joint(kept, partition)


class Changes(NamedTuple):
    """Values whose indicators, if changed alone, raise the joint."""

    values: Whole
    """subject D + feature, in ascending order."""
    gains: Array
    """By how many nats."""
    clusters: Labels
    """Those of the subjects."""

    def made(self, outlying: OutlyingMask) -> OutlyingMask:
        """Return the mask with these indicators changed."""
        changed = outlying.copy()
        changed.flat[self.values] ^= True
        return changed

    def are_best(self, n_features: int) -> Mask:
        """Return which have the largest gain in their cluster and feature, the first of equal ones, bool (M,)."""
        order = np.argsort(-self.gains, kind="stable")
        places = (self.clusters * n_features + self.values % n_features)[order]
        best = np.zeros(order.size, dtype=np.bool_)
        best[order[np.unique(places, return_index=True)[1]]] = True
        return best

    def only(self, chosen: Mask) -> Changes:
        """Return some of the changes."""
        return Changes(self.values[chosen], self.gains[chosen], self.clusters[chosen])


def changes_that_raise(
    arrays: CohortArrays, model: Model, partition: Partition, aside: Whole, share: float, least: float
) -> Changes:
    """Return the changes of single values that each raise the joint by more than the least gain.

    `aside` are the outlying values, subject D + feature, in ascending order.
    """
    values, gains = gains_of_indicators(arrays, model, partition, aside, _log_odds(model, share), least)
    return Changes(values, gains, partition.labels[values // arrays.kinds.size])


def _log_odds(model: Model, share: float) -> float:
    return model.coarsening * (math.log(share) - math.log1p(-share))
