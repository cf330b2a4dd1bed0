"""A partition of the subjects and everything that follows from it: statistics and log predictives.

The table holds ln p(level | cluster) for every level of every discrete feature (rows) and cluster (columns,
contiguous), so that scoring a subject is a sum of table rows. Its twin `left_out`, with clusters as rows, holds the
same for the cluster without one subject at that level, which is what a subject's own cluster must be scored with. The
column after the last cluster always belongs to an empty cluster: its log predictives are those of the prior, its log
weight is that of a new cluster, and a subject that prefers it opens one.

Log predictives are multiplied by the coarsening when they are filled in, so that scoring need not know of it. Columns
come in eights, the last ones idle (`clinclust.engine.lanes`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import inlined, kernel, subkernel
from clinclust.engine.encoding import CohortArrays
from clinclust.engine.lanes import log_in_place, padded
from clinclust.engine.model import Model
from clinclust.priors import beta, dirichlet, gamma, normal_gamma
from clinclust.priors.rising_factorial import FEW

__all__ = [
    "Partition",
    "accumulate",
    "add_up",
    "brought_up_to_date",
    "grow",
    "log_weight",
    "move",
    "new_partition",
    "refresh",
    "seat",
    "value_left_out",
]

Array = NDArray[np.float64]

_has_few_trials = beta.has_few_trials
_few_trials = beta.few_trials
_other_beta_levels = beta.other_levels
_gamma_levels = gamma.level_predictives
_dirichlet_levels = dirichlet.level_predictives
_lomax = gamma.coefficients
_lomax_left_out = gamma.left_out_coefficients
_lomax_left_out_value = gamma.left_out_value
_student = normal_gamma.coefficients
_student_left_out = normal_gamma.left_out_coefficients
_student_left_out_value = normal_gamma.left_out_value


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
    """(C, R) the same without one subject at that level."""
    spread: Array
    """(C,) the most by which leaving a subject out can lower the sum of its table rows."""
    coefficients: Array
    """(D_value, 4, C) of the continuous features' log predictives."""
    left_out_coefficients: Array
    """(C, 4, W) the same for a cluster without the value in question; W is D_value, rounded up to eights."""
    scores: Array
    """(C,) work space: the log posterior weights of the subject at hand."""
    values: Array
    """(W,) work space: its continuous values."""
    work: Array
    """(2, 2, R) work space for table rows, R rounded up to eights."""
    products: Array
    """(4, FEW + 1) work space."""


def new_partition(cohort: CohortArrays, labels: NDArray[np.int64], capacity: int = 0) -> Partition:
    """Return a partition with these labels (0 .. K - 1), and its sizes and statistics."""
    n_clusters = int(labels.max()) + 1
    capacity = padded(max(capacity, n_clusters + 2))
    n_rows, n_values = cohort.level_log_base.size, cohort.values.shape[1]
    width = padded(n_values)
    partition = Partition(
        labels=labels.astype(np.int64),
        n_clusters=np.array([n_clusters], dtype=np.int64),
        sizes=np.zeros(capacity),
        log_weights=np.zeros(capacity),
        statistics=np.zeros((capacity, int(cohort.statistic_start[-1]))),
        table=np.zeros((n_rows, capacity)),
        left_out=np.zeros((capacity, n_rows)),
        spread=np.zeros(capacity),
        coefficients=np.zeros((n_values, 4, capacity)),
        left_out_coefficients=np.zeros((capacity, 4, width)),
        scores=np.zeros(capacity),
        values=np.full(width, np.nan),
        work=np.ones((2, 2, padded(n_rows))),
        products=np.empty((4, int(FEW) + 1)),
    )
    accumulate(cohort, partition)
    return partition


def grow(cohort: CohortArrays, partition: Partition) -> Partition:
    """Return the same partition with room for twice as many clusters."""
    return new_partition(cohort, partition.labels, 2 * partition.sizes.size)


@inlined
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


@inlined
def log_weight(model: Model, size: float, n_clusters: int) -> float:
    """Return the log prior weight of a cluster of this size, or of a new one beside n_clusters others if it is 0."""
    if size > 0.0:
        return math.log(size - model.discount)
    return math.log(model.concentration + model.discount * n_clusters)


@subkernel
def _refresh_cluster(cohort: CohortArrays, model: Model, partition: Partition, k: int) -> None:
    """Bring the log predictives of cluster k up to date with its statistics."""
    stop = cohort.family_stop
    prior = model.prior
    coarsening = model.coarsening
    n_rows = partition.table.shape[0]
    predictive, left_out = partition.work[0], partition.work[1]
    levels, log_base, statistics = cohort.level_statistics, cohort.level_log_base, partition.statistics
    # One loop for each kind: with several calls in one loop, references to the arrays are counted at every turn.
    for feature in range(stop[0]):
        h = cohort.prior_start[feature]
        s = cohort.statistic_start[feature]
        start = cohort.level_start[feature]
        if _has_few_trials(levels, start):
            _few_trials(
                prior[h], prior[h + 1], statistics[k, s], statistics[k, s + 1],
                start, cohort.level_start[feature + 1], log_base, predictive, left_out, partition.products,
            )  # fmt: skip
    for feature in range(stop[0]):
        h = cohort.prior_start[feature]
        s = cohort.statistic_start[feature]
        start = cohort.level_start[feature]
        if not _has_few_trials(levels, start):
            _other_beta_levels(
                prior[h], prior[h + 1], statistics[k, s], statistics[k, s + 1],
                start, cohort.level_start[feature + 1], levels, log_base, predictive, left_out,
            )  # fmt: skip
    for feature in range(stop[0], stop[1]):
        h = cohort.prior_start[feature]
        s = cohort.statistic_start[feature]
        _gamma_levels(
            prior[h], prior[h + 1], statistics[k, s], statistics[k, s + 1],
            cohort.level_start[feature], cohort.level_start[feature + 1], levels, log_base, predictive, left_out,
        )  # fmt: skip
    for feature in range(stop[1], stop[2]):
        _dirichlet_levels(
            prior, cohort.prior_start[feature], statistics, k, cohort.statistic_start[feature],
            cohort.level_start[feature], cohort.level_start[feature + 1], predictive, left_out,
        )  # fmt: skip
    log_in_place(predictive, n_rows)
    log_in_place(left_out, n_rows)
    spread = 0.0
    for feature in range(stop[2]):
        most = 0.0
        for row in range(cohort.level_start[feature], cohort.level_start[feature + 1]):
            value = coarsening * (predictive[0, row] + predictive[1, row])
            without_one = coarsening * (left_out[0, row] + left_out[1, row])
            partition.table[row, k] = value
            partition.left_out[k, row] = without_one
            if without_one < 0.0 and value - without_one > most:
                most = value - without_one
        spread += most
    partition.spread[k] = spread
    for feature in range(stop[2], stop[4]):
        h = cohort.prior_start[feature]
        s = partition.statistics[k, cohort.statistic_start[feature] : cohort.statistic_start[feature + 1]]
        out = partition.coefficients[feature - stop[2], :, k]
        without = partition.left_out_coefficients[k, :, feature - stop[2]]
        if feature < stop[3]:
            _lomax(prior[h], prior[h + 1], s[0], s[1], out)
            _lomax_left_out(prior[h], prior[h + 1], s[0], s[1], without)
        else:
            _student(prior[h], prior[h + 1], prior[h + 2], prior[h + 3], s[0], s[1], s[2], out)
            _student_left_out(prior[h], prior[h + 1], prior[h + 2], prior[h + 3], s[0], s[1], s[2], without)
        for part in range(2):
            out[part] *= coarsening
            without[part] *= coarsening
    partition.log_weights[k] = log_weight(model, partition.sizes[k], partition.n_clusters[0])


@inlined
def refresh(cohort: CohortArrays, model: Model, partition: Partition) -> None:
    """Compute the log predictives of every cluster, and of the empty one after them, from the statistics."""
    for k in range(partition.n_clusters[0] + 1):
        _refresh_cluster(cohort, model, partition, k)


@kernel
def add_up(cohort: CohortArrays, labels: NDArray[np.int64], sizes: Array, statistics: Array) -> None:
    """Add the subjects of a cohort, or of a part of it, to sizes (C,) and statistics (C, S) by their labels.

    Levels are counted first, since whole numbers are exact and counting is fast.
    """
    stop = cohort.family_stop
    n_table, n_values = cohort.codes.shape[1], cohort.values.shape[1]
    counts = np.zeros((sizes.shape[0], cohort.level_log_base.shape[0]))
    for i in range(labels.shape[0]):
        k = labels[i]
        sizes[k] += 1.0
        for feature in range(n_table):
            counts[k, cohort.codes[i, feature]] += 1.0
        for column in range(n_values):
            z = cohort.values[i, column]
            if not math.isnan(z):
                s = cohort.statistic_start[stop[2] + column]
                statistics[k, s] += 1.0
                if stop[2] + column < stop[3]:
                    statistics[k, s + 1] += z * z
                else:
                    statistics[k, s + 1] += z
                    statistics[k, s + 2] += z * z
    for k in range(sizes.shape[0]):
        if sizes[k] == 0.0:
            continue
        for feature in range(n_table):
            s = cohort.statistic_start[feature]
            start = cohort.level_start[feature]
            for row in range(start, cohort.level_start[feature + 1]):
                count = counts[k, row]
                if feature < stop[1]:
                    statistics[k, s] += count * cohort.level_statistics[row, 0]
                    statistics[k, s + 1] += count * cohort.level_statistics[row, 1]
                else:
                    statistics[k, s + row - start] += count


def accumulate(cohort: CohortArrays, partition: Partition) -> None:
    """Compute the sizes and statistics from the labels alone; those of a partition are modified in place."""
    partition.sizes[:] = 0.0
    partition.statistics[:] = 0.0
    add_up(cohort, partition.labels, partition.sizes, partition.statistics)


@subkernel
def value_left_out(cohort: CohortArrays, model: Model, partition: Partition, k: int, column: int, z: float) -> float:
    """Return the log predictive, coarsened, of a continuous value under its own cluster k without it."""
    stop = cohort.family_stop
    prior = model.prior
    feature = stop[2] + column
    s = cohort.statistic_start[feature]
    h = cohort.prior_start[feature]
    t = partition.statistics[k]
    if feature < stop[3]:
        return model.coarsening * _lomax_left_out_value(prior[h], prior[h + 1], t[s], t[s + 1], z)
    return model.coarsening * _student_left_out_value(
        prior[h], prior[h + 1], prior[h + 2], prior[h + 3], t[s], t[s + 1], t[s + 2], z, partition.work[0, 0]
    )


@kernel
def brought_up_to_date(cohort: CohortArrays, model: Model, partition: Partition) -> None:
    """Compute the log predictives of a partition from its statistics, in place: `refresh`, for Python."""
    refresh(cohort, model, partition)


@kernel
def seat(cohort: CohortArrays, model: Model, partition: Partition, i: int, target: int) -> None:
    """Add subject i, who is in no cluster, to cluster `target`; target = K opens a new one.

    The capacity must allow K + 2 columns.
    """
    partition.labels[i] = target
    _shift_statistics(cohort, partition, i, target, 1.0)
    if target == partition.n_clusters[0]:
        partition.n_clusters[0] += 1
        _refresh_cluster(cohort, model, partition, target + 1)
    _refresh_cluster(cohort, model, partition, target)


@subkernel
def move(cohort: CohortArrays, model: Model, partition: Partition, i: int, target: int) -> None:
    """Move subject i to cluster `target`; target = K opens a new one, and a cluster left empty is closed.

    The capacity must allow K + 2 columns.
    """
    own = partition.labels[i]
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
            for j in range(partition.labels.shape[0]):
                if partition.labels[j] == last:
                    partition.labels[j] = own
            target = partition.labels[i]
            _refresh_cluster(cohort, model, partition, own)
        own = -1
        stale = last
    if stale >= 0:
        partition.sizes[stale] = 0.0
        for s in range(partition.statistics.shape[1]):
            partition.statistics[stale, s] = 0.0
        _refresh_cluster(cohort, model, partition, stale)
    if own >= 0:
        _refresh_cluster(cohort, model, partition, own)
    _refresh_cluster(cohort, model, partition, target)
