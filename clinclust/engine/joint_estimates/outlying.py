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
from clinclust.engine.kernels.partition import CohortArrays, Model, Partition, new_partition
from clinclust.engine.problem.encoding import log_base_measures
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import compact
from clinclust.engine.search.settle import chunks, minimum_gain

OutlyingMask = Mask
"""bool (N, D): True where a value is outlying, False where it is kept or missing; subjects and features as encoded."""


def without_outlying(problem: Problem, outlying: OutlyingMask, share: float) -> Problem:
    """Return the problem of the values that are kept, with the joint of the module docstring: all if the share is 0."""
    if share == 0.0:
        return problem
    arrays, powers = problem.cohort.arrays, problem.model.powers
    n_observed = float((powers * problem.cohort.n_observed).sum())
    n_outlying = float((powers * outlying.sum(axis=0)).sum())
    log_base = problem.cohort.log_base
    log_base += n_outlying * math.log(share) + (n_observed - n_outlying) * math.log1p(-share)
    log_base += of_outlying_values(problem, outlying)
    return replace(problem, cohort=replace(problem.cohort, arrays=_arrays_kept(arrays, outlying), log_base=log_base))


def _arrays_kept(arrays: CohortArrays, outlying: OutlyingMask) -> CohortArrays:
    n_table = arrays.codes.shape[1]
    return arrays._replace(
        codes=np.where(outlying[:, :n_table], np.int32(0), arrays.codes),
        values=np.where(outlying[:, n_table:], np.nan, arrays.values),
    )


def of_outlying_values(problem: Problem, outlying: OutlyingMask) -> float:
    """Return the sum of power_d [ln m_d(x_id) - ln h(x_id)] over the outlying values."""
    rows = np.flatnonzero(outlying.any(axis=1))  # few
    if rows.size == 0:
        return 0.0
    powers, mask, some = problem.model.powers, outlying[rows], problem.restricted_to(rows, 0)
    first_values = powers * _first_values(some.cohort.arrays, problem.model.in_full())
    subjects, features = np.nonzero(mask)
    log_base = log_base_measures(some.cohort, problem.model.prior, subjects, features)
    return float(first_values[mask].sum()) - float((powers[features] * log_base).sum())


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
        changes = _changes(problem, partition, outlying, share, least)
        if changes.gains.size == 0:
            break
        changed = changes.made(outlying)
        partition, raised = _kept(problem, labels, changed, share)
        if raised <= joint + least:
            changed = changes.best_of_each(labels).made(outlying)
            partition, raised = _kept(problem, labels, changed, share)
            if raised <= joint:  # the gains were rounding errors
                break
        outlying, joint = changed, raised
    return outlying, joint


def best_elsewhere(problem: Problem, labels: Labels, outlying: OutlyingMask, share: float, cluster: int) -> Labels:
    """Return labels with the members of one cluster moved to their best other clusters, with best outlying values."""
    members = np.flatnonzero(labels == cluster)
    partition = new_partition(_arrays_kept(problem.cohort.arrays, outlying), labels)
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


class _Changes(NamedTuple):
    """Values whose indicators, if changed alone, raise the joint."""

    subjects: Whole
    features: Whole
    gains: Array
    """By how many nats."""

    def made(self, outlying: OutlyingMask) -> OutlyingMask:
        """Return the mask with these indicators changed."""
        changed = outlying.copy()
        changed[self.subjects, self.features] ^= True
        return changed

    def best_of_each(self, labels: Labels) -> _Changes:
        """Return the change with the largest gain in each cluster and feature, the first of equal ones."""
        order = np.argsort(-self.gains, kind="stable")
        places = np.column_stack([labels[self.subjects], self.features])[order]
        best = order[np.unique(places, axis=0, return_index=True)[1]]
        return _Changes(self.subjects[best], self.features[best], self.gains[best])


def _changes(problem: Problem, partition: Partition, outlying: OutlyingMask, share: float, least: float) -> _Changes:
    """Return the changes of single values that each raise the joint by more than the least gain."""
    found = []
    for rows, chunk in chunks(problem.cohort.arrays):
        own = partition._replace(labels=partition.labels[rows])
        gains = gains_of_changes(chunk, problem.model, own, outlying[rows], share)
        subjects, features = np.nonzero(gains > least)
        found.append((subjects + rows.start, features, gains[subjects, features]))
    return _Changes(*map(np.concatenate, zip(*found, strict=True)))


def gains_of_changes(
    arrays: CohortArrays, model: Model, partition: Partition, outlying: OutlyingMask, share: float
) -> Array:
    """Return the change of the joint by each change of a single value, float64 (N, D); minus infinity where missing."""
    gains = np.full(outlying.shape, -np.inf)
    gains_of_indicators(arrays, model, partition, outlying, _log_odds(model, share), gains)
    return gains


def _log_odds(model: Model, share: float) -> float:
    return model.coarsening * (math.log(share) - math.log1p(-share))
