"""A partition of the subjects and everything that follows from it: statistics and log predictives.

The table holds ln p(level | cluster) for every level of every discrete feature (rows) and cluster (columns,
contiguous), so that scoring a subject is a sum of table rows. Its twin `left_out` holds the same for the cluster
without one subject at that level, which is what a subject's own cluster must be scored with. The column after the
last cluster always belongs to an empty cluster: its log predictives are those of the prior, its log weight is that of
a new cluster, and a subject that prefers it opens one.

Log predictives are multiplied by the coarsening when they are filled in, so that scoring need not know of it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import kernel, subkernel
from clinclust.engine.encoding import CohortArrays
from clinclust.engine.model import Model
from clinclust.priors import beta, dirichlet, gamma, normal_gamma

__all__ = ["Partition", "accumulate", "grow", "move", "new_partition", "refresh", "score_subject"]

Array = NDArray[np.float64]

_beta_levels = beta.level_predictives
_gamma_levels = gamma.level_predictives
_dirichlet_levels = dirichlet.level_predictives
_lomax = gamma.coefficients
_lomax_left_out = gamma.left_out_value
_student = normal_gamma.coefficients
_student_left_out = normal_gamma.left_out_value


class Partition(NamedTuple):
    """The state of one restart; every array is modified in place. C is the capacity, at least K + 1 columns."""

    labels: NDArray[np.int64]
    """(N,) cluster of each subject, 0 .. K - 1."""
    n_clusters: NDArray[np.int64]
    """(1,) K."""
    sizes: Array
    """(C,) subjects in each cluster."""
    log_weights: Array
    """(C,) log prior weight of each cluster, ln(size - discount), and of the empty one, ln(N0 + K discount)."""
    statistics: Array
    """(C, S) sufficient statistics."""
    table: Array
    """(R, C) log predictive of each level."""
    left_out: Array
    """(R, C) the same without one subject at that level."""
    coefficients: Array
    """(D_value, 5, C) of the continuous features' log predictives."""
    scores: Array
    """(C,) work space: the log posterior weights of the subject at hand."""
    work: Array
    """(5,) work space."""


def new_partition(cohort: CohortArrays, labels: NDArray[np.int64], capacity: int = 0) -> Partition:
    """Return a partition with these labels (0 .. K - 1), and its sizes and statistics."""
    n_clusters = int(labels.max()) + 1
    capacity = max(capacity, n_clusters + 2, 8)
    n_rows = cohort.level_log_base.size
    partition = Partition(
        labels=labels.astype(np.int64),
        n_clusters=np.array([n_clusters], dtype=np.int64),
        sizes=np.zeros(capacity),
        log_weights=np.zeros(capacity),
        statistics=np.zeros((capacity, int(cohort.statistic_start[-1]))),
        table=np.zeros((n_rows, capacity)),
        left_out=np.zeros((n_rows, capacity)),
        coefficients=np.zeros((cohort.values.shape[1], 5, capacity)),
        scores=np.zeros(capacity),
        work=np.zeros(5),
    )
    accumulate(cohort, partition)
    return partition


def grow(cohort: CohortArrays, partition: Partition) -> Partition:
    """Return the same partition with room for twice as many clusters."""
    return new_partition(cohort, partition.labels, 2 * partition.sizes.size)


@subkernel
def _shift_statistics(cohort: CohortArrays, partition: Partition, i: int, k: int, sign: float) -> None:
    """Add (sign 1) or remove (sign -1) subject i in the sizes and statistics of cluster k."""
    statistics = partition.statistics
    partition.sizes[k] += sign
    stop = cohort.family_stop
    for feature in range(stop[2]):
        code = cohort.codes[i, feature]
        if code != 0:
            s = cohort.statistic_start[feature]
            if feature < stop[1]:
                statistics[k, s] += sign * cohort.level_statistics[code, 0]
                statistics[k, s + 1] += sign * cohort.level_statistics[code, 1]
            else:
                statistics[k, s + code - cohort.level_start[feature]] += sign
    for feature in range(stop[2], stop[4]):
        z = cohort.values[i, feature - stop[2]]
        if not math.isnan(z):
            s = cohort.statistic_start[feature]
            statistics[k, s] += sign
            if feature < stop[3]:
                statistics[k, s + 1] += sign * z * z
            else:
                statistics[k, s + 1] += sign * z
                statistics[k, s + 2] += sign * z * z


@subkernel
def _log_weight(model: Model, size: float, n_clusters: int) -> float:
    """Return the log prior weight of a cluster of this size, or of a new one beside n_clusters others if it is 0."""
    if size > 0.0:
        return math.log(size - model.discount)
    return math.log(model.concentration + model.discount * n_clusters)


@subkernel
def _refresh_cluster(cohort: CohortArrays, model: Model, partition: Partition, k: int, i: int) -> None:
    """Bring the log predictives of cluster k up to date with its statistics.

    All of them when i is N; after subject i came or went, only the features observed in i.
    """
    stop = cohort.family_stop
    prior = model.prior
    coarsening = model.coarsening
    one_subject = i < partition.labels.shape[0]
    for feature in range(stop[4]):
        h = cohort.prior_start[feature]
        s = partition.statistics[k, cohort.statistic_start[feature] : cohort.statistic_start[feature + 1]]
        if feature < stop[2]:
            if one_subject and cohort.codes[i, feature] == 0:
                continue
            start = cohort.level_start[feature]
            end = cohort.level_start[feature + 1]
            predictive = partition.table[start:end, k]
            left_out = partition.left_out[start:end, k]
            levels = cohort.level_statistics[start:end]
            log_base = cohort.level_log_base[start:end]
            if feature < stop[0]:
                _beta_levels(prior[h], prior[h + 1], s[0], s[1], levels, log_base, predictive, left_out)
            elif feature < stop[1]:
                _gamma_levels(prior[h], prior[h + 1], s[0], s[1], levels, log_base, predictive, left_out)
            else:
                _dirichlet_levels(prior[h : cohort.prior_start[feature + 1]], s, predictive, left_out)
            for level in range(end - start):
                predictive[level] *= coarsening
                left_out[level] *= coarsening
        else:
            if one_subject and math.isnan(cohort.values[i, feature - stop[2]]):
                continue
            out = partition.coefficients[feature - stop[2], :, k]
            if feature < stop[3]:
                _lomax(prior[h], prior[h + 1], s[0], s[1], out)
            else:
                _student(prior[h], prior[h + 1], prior[h + 2], prior[h + 3], s[0], s[1], s[2], out)
            out[0] *= coarsening
            out[1] *= coarsening
    partition.log_weights[k] = _log_weight(model, partition.sizes[k], partition.n_clusters[0])


@subkernel
def refresh(cohort: CohortArrays, model: Model, partition: Partition) -> None:
    """Compute the log predictives of every cluster, and of the empty one after them, from the statistics."""
    for k in range(partition.n_clusters[0] + 1):
        _refresh_cluster(cohort, model, partition, k, partition.labels.shape[0])


@kernel
def accumulate(cohort: CohortArrays, partition: Partition) -> None:
    """Compute the sizes and statistics from the labels alone; those of a partition are modified in place."""
    partition.sizes[:] = 0.0
    partition.statistics[:] = 0.0
    for i in range(partition.labels.shape[0]):
        _shift_statistics(cohort, partition, i, partition.labels[i], 1.0)


@subkernel
def score_subject(cohort: CohortArrays, model: Model, partition: Partition, i: int, own: int) -> None:
    """Write log weight + coarsening ln p(x_i | cluster k) for k = 0 .. K (K is the empty cluster) to partition.scores.

    For the subject's own cluster (-1: none, the subject is new) the size and the predictive leave the subject out.
    """
    n_scores = partition.n_clusters[0] + 1
    scores = partition.scores
    stop = cohort.family_stop
    prior = model.prior
    own_score = 0.0
    for k in range(n_scores):
        scores[k] = partition.log_weights[k]
    for feature in range(stop[2]):
        code = cohort.codes[i, feature]
        for k in range(n_scores):
            scores[k] += partition.table[code, k]
    for feature in range(stop[2], stop[4]):
        z = cohort.values[i, feature - stop[2]]
        if math.isnan(z):
            continue
        c = partition.coefficients[feature - stop[2]]
        for k in range(n_scores):
            scores[k] += c[0, k] - c[1, k] * math.log1p(c[2, k] * (z - c[3, k]) ** 2)
        if own >= 0:
            s = cohort.statistic_start[feature]
            h = cohort.prior_start[feature]
            t = partition.statistics[own]
            if feature < stop[3]:
                own_score += _lomax_left_out(prior[h], prior[h + 1], t[s], t[s + 1], z)
            else:
                own_score += _student_left_out(
                    prior[h], prior[h + 1], prior[h + 2], prior[h + 3], t[s], t[s + 1], t[s + 2], c[4, own], z,
                    partition.work,
                )  # fmt: skip
    if own >= 0:
        own_score *= model.coarsening
        for feature in range(stop[2]):
            own_score += partition.left_out[cohort.codes[i, feature], own]
        others = partition.sizes[own] - 1.0
        scores[own] = own_score + _log_weight(model, others, partition.n_clusters[0] - 1)
        if others == 0.0:  # for a subject alone, a new cluster is the one it has
            scores[partition.n_clusters[0]] = scores[own]


@subkernel
def move(cohort: CohortArrays, model: Model, partition: Partition, i: int, target: int) -> None:
    """Move subject i to cluster `target`; target = K opens a new one, and a cluster left empty is closed.

    The capacity must allow K + 2 columns.
    """
    own = partition.labels[i]
    n_subjects = partition.labels.shape[0]
    partition.labels[i] = target
    _shift_statistics(cohort, partition, i, own, -1.0)
    _shift_statistics(cohort, partition, i, target, 1.0)
    stale = target + 1  # the column of the empty cluster, if it has to be made
    if target == partition.n_clusters[0]:
        partition.n_clusters[0] += 1
    elif partition.sizes[own] > 0.0:
        stale = -1
    else:
        # The last cluster takes the place of the one left empty, and its column becomes the empty one.
        last = partition.n_clusters[0] - 1
        partition.n_clusters[0] = last
        if own != last:
            partition.sizes[own] = partition.sizes[last]
            for s in range(partition.statistics.shape[1]):
                partition.statistics[own, s] = partition.statistics[last, s]
            for j in range(n_subjects):
                if partition.labels[j] == last:
                    partition.labels[j] = own
            target = partition.labels[i]
            _refresh_cluster(cohort, model, partition, own, n_subjects)
        own = -1
        stale = last
    if stale >= 0:
        partition.sizes[stale] = 0.0
        for s in range(partition.statistics.shape[1]):
            partition.statistics[stale, s] = 0.0
        _refresh_cluster(cohort, model, partition, stale, n_subjects)
    if own >= 0:
        _refresh_cluster(cohort, model, partition, own, i)
    _refresh_cluster(cohort, model, partition, target, i)
