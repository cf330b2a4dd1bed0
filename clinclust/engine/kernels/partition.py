"""Cohort, model and partition as the compiled kernels read them.

The table of a partition holds ln p(level | cluster), times coarsening and power, of every level of every discrete
feature (rows) and every cluster (columns), so that the score of a subject is a sum of table rows. `left_out`, with
clusters as rows, holds the same without one subject at that level, for a subject's own cluster. The column after the
last cluster is an empty cluster; columns up to a multiple of eight may be idle.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from clinclust.arrays import Array, Codes, Labels, Whole
from clinclust.compiled import flat, kernel
from clinclust.engine.kernels.inner_loops import LANES, padded
from clinclust.engine.kernels.likelihood_kernels import CHAINED, GAUSSIAN, add_value, counts_levels, log_marginal
from clinclust.engine.kernels.predictives_gamma import FEW


class CohortArrays(NamedTuple):
    """A cohort as the compiled kernels read it. No array changes during a fit.

    N is the number of subjects, R that of the rows of the table of log predictives: one for each level of each discrete
    feature. The D_table discrete features come first, then the D_value continuous ones.
    """

    codes: Codes
    """(N, D_table) table row of each discrete value; 0 = missing."""
    values: Array
    """(N, D_value) continuous values: square roots of exponential, standardised Gaussian values; NaN = missing."""
    kinds: Whole
    """(D,) code of the likelihood of each feature (`Likelihood.kernel`)."""
    level_start: Whole
    """(D_table + 1,) first table row of each discrete feature."""
    level_values: Array
    """(R,) value of the level of each row."""
    level_statistics: Array
    """(R, 2) sufficient statistics of one subject at the level (zeros where the statistics count the levels)."""
    level_log_base: Array
    """(R,) log base measure of the level of each row."""
    statistic_start: Whole
    """(D + 1,) index of the first sufficient statistic of each feature; last, their number."""
    prior_start: Whole
    """(D + 1,) index of the first hyperparameter of each feature; last, their number."""


class Model(NamedTuple):
    """The model as the compiled kernels read it. It does not change during a search."""

    prior: Array
    """(H,) hyperparameters of all features, one after the other, on the encoded scale."""
    powers: Array
    """(D,) the power, in (0, 1], of the likelihood of each feature because of its block; 1 without."""
    concentration: float
    """N0, the weight of a new cluster, in subjects."""
    discount: float = 0.0
    """Discount of the Pitman-Yor process, in [0, 1): the weight in subjects that each cluster gives to a new one."""
    coarsening: float = 1.0
    """The power, in (0, 1], of the whole likelihood in addition (Miller and Dunson 2019)."""

    @property
    def exponents(self) -> Array:
        """The power of each feature's likelihood in all, coarsening times the power of its block, float64 (D,)."""
        return np.asarray(self.coarsening * self.powers)

    def in_full(self) -> Model:
        """Return the model in which every likelihood counts in full: only its densities integrate to 1."""
        return self._replace(coarsening=1.0, powers=np.ones_like(self.powers))


class Partition(NamedTuple):
    """The state of one restart, modified in place. C is the capacity, the number of columns, above K."""

    labels: Labels
    """(N,) cluster of each subject, 0 .. K - 1; -1 = in no cluster."""
    n_clusters: Whole
    """(1,) K."""
    sizes: Array
    """(C,) number of subjects in each cluster."""
    log_weights: Array
    """(2, C) log prior weights. Row 0: ln(size - discount) of each cluster, ln(N0 + K discount) of the empty one, and
    -inf in idle columns. Row 1: the same for each cluster without one subject, where it has more than one."""
    statistics: Array
    """(C, S) sufficient statistics of each cluster."""
    table: Array
    """(R, C) log predictive of each level under each cluster."""
    left_out: Array
    """(C, R) log predictive of each level under each cluster without one subject at that level."""
    spread: Array
    """(C,) upper bound of the decrease of the sum of a subject's table rows when the subject is left out."""
    coefficients: Array
    """(D_value, 4, C) coefficients c0 .. c3 of the log predictives of the continuous features (`fill_coefficients`)."""
    left_out_coefficients: Array
    """(C, 4, W) the same for a cluster without the scored value; W is D_value, rounded up to a multiple of eight."""
    columns: Whole
    """(D_value,) indices of the continuous features; Gaussian features without missing values come first."""
    n_complete: int
    """Number of Gaussian features without missing values."""
    n_apart: int
    """Number of continuous features outside of multivariate Gaussian blocks; they come first."""
    factors: Array
    """(C, F) Cholesky factors of the features of multivariate Gaussian blocks, in the places of their statistics."""
    work: Array
    """Work space (`clinclust.engine.kernels.moves.State`). Every thread needs a work space of its own."""


def new_partition(cohort: CohortArrays, labels: Labels, capacity: int = 0) -> Partition:
    """Return a partition with these labels, 0 .. K - 1 or -1, and at least this capacity, without log predictives."""
    n_clusters = int(labels.max()) + 1
    capacity = padded(max(capacity, n_clusters + 2))
    n_rows, n_values = cohort.level_log_base.size, cohort.values.shape[1]
    width = padded(n_values)
    complete = np.asarray(~np.isnan(cohort.values).any(axis=0))
    complete &= cohort.kinds[cohort.codes.shape[1] :] == GAUSSIAN
    is_chained = cohort.kinds[cohort.codes.shape[1] :] == CHAINED
    n_apart = int((~is_chained).sum())
    n_sums = int(cohort.statistic_start[-1])
    n_chained = n_sums - int(cohort.statistic_start[cohort.codes.shape[1] + n_apart])
    partition = Partition(
        labels=labels.astype(np.int64),
        n_clusters=np.array([n_clusters], dtype=np.int64),
        sizes=np.zeros(capacity),
        log_weights=np.full((2, capacity), -np.inf),
        statistics=np.zeros((capacity, n_sums)),
        table=_aligned((n_rows, capacity)),
        left_out=np.zeros((capacity, n_rows)),
        spread=np.zeros(capacity),
        coefficients=_aligned((n_values, 4, capacity)),
        left_out_coefficients=np.zeros((capacity, 4, width)),
        columns=np.argsort(~complete, kind="stable"),
        n_complete=int(complete.sum()),
        n_apart=n_apart,
        factors=np.zeros((capacity, n_chained)),
        work=_work_space(n_rows, capacity, width, n_chained),
    )
    accumulate(cohort, partition)
    return partition


def _aligned(shape: tuple[int, ...]) -> Array:
    """Return zeros aligned in memory, so that each group of eight lies in one cache line."""
    size = math.prod(shape)
    room = np.zeros(size + LANES)
    first = -room.ctypes.data // room.itemsize % LANES
    return room[first : first + size].reshape(shape)


def _work_space(n_rows: int, capacity: int, width: int, n_chained: int) -> Array:
    work = np.zeros(4 * padded(n_rows) + capacity + width + 16 * (int(FEW) + 1) + 3 * n_chained + 6)
    numbers = work[: 4 * padded(n_rows)].reshape(4, -1)
    numbers[0::2] = 1.0  # ln 1 + 0 = 0 is the log predictive of a missing value
    work[numbers.size + capacity :] = np.nan
    return work


def make_missing(cohort: CohortArrays, values: Whole) -> None:
    """Make some values missing, in place; value i D + d is that of feature d in subject i."""
    n_table = cohort.codes.shape[1]
    subjects, features = np.divmod(values, cohort.kinds.size)
    in_table = features < n_table
    cohort.codes[subjects[in_table], features[in_table]] = 0
    cohort.values[subjects[~in_table], features[~in_table] - n_table] = np.nan


def clusters_without_subjects(cohort: CohortArrays, sizes: Array, statistics: Array) -> Partition:
    """Return a partition with clusters of these sizes (K,) and statistics (K, S), and no subject in any of them."""
    n_clusters = sizes.size
    partition = new_partition(cohort, np.full(cohort.codes.shape[0], -1), n_clusters + 2)
    partition.n_clusters[0] = n_clusters
    partition.sizes[:n_clusters] = sizes
    partition.statistics[:n_clusters] = statistics
    return partition


def grow(cohort: CohortArrays, partition: Partition) -> Partition:
    """Return the same partition with twice the capacity."""
    return new_partition(cohort, partition.labels, 2 * partition.sizes.size)


def add_up(cohort: CohortArrays, labels: Labels, sizes: Array, statistics: Array) -> None:
    """Add the subjects of a cohort, or of a part of it, to sizes (C,) and statistics (C, S), in place, by their labels.

    Subjects with label -1 are skipped. Levels are counted first, because counts are exact and counting is fast.
    """
    counts = np.zeros((sizes.size, cohort.level_log_base.size))
    _add_up(cohort, labels, sizes, statistics, counts)


@kernel
def _add_up(cohort: CohortArrays, labels: Labels, all_sizes: Array, statistics: Array, all_counts: Array) -> None:
    kinds, starts, level_start = (flat(cohort.kinds, 0), flat(cohort.statistic_start, 0), flat(cohort.level_start, 0))
    n_table, n_values, n_rows = cohort.codes.shape[1], cohort.values.shape[1], all_counts.shape[1]
    clusters, sizes = flat(labels, 0), flat(all_sizes, 0)
    for i in range(labels.shape[0]):
        k = clusters[i]
        if k < 0:
            continue
        sizes[k] += 1.0
        codes, counts = flat(cohort.codes, i * n_table), flat(all_counts, k * n_rows)
        for feature in range(n_table):
            counts[codes[feature]] += 1.0
        values, all_sums = flat(cohort.values, i * n_values), flat(statistics, k * statistics.shape[1])
        for column in range(n_values):
            feature = n_table + column
            if not math.isnan(values[column]):
                n_sums = starts[feature + 1] - starts[feature]
                add_value(kinds[feature], flat(all_sums, starts[feature]), n_sums, values, column, 1.0)
    levels = flat(cohort.level_statistics, 0)
    for k in range(all_sizes.shape[0]):
        counts, all_sums = flat(all_counts, k * n_rows), flat(statistics, k * statistics.shape[1])
        for feature in range(n_table if sizes[k] > 0.0 else 0):
            sums, start = flat(all_sums, starts[feature]), level_start[feature]
            for row in range(start, level_start[feature + 1]):
                if counts_levels(kinds[feature]):
                    sums[row - start] += counts[row]
                else:
                    sums[0] += counts[row] * levels[2 * row]
                    sums[1] += counts[row] * levels[2 * row + 1]


def relabel(cohort: CohortArrays, partition: Partition, labels: Labels) -> None:
    """Give a partition other labels, 0 .. K - 1, in place; K must fit its capacity."""
    partition.labels[:] = labels
    partition.n_clusters[0] = labels.max() + 1
    accumulate(cohort, partition)


def accumulate(cohort: CohortArrays, partition: Partition) -> None:
    """Compute the sizes and statistics of a partition from its labels, in place."""
    partition.sizes[:] = 0.0
    partition.statistics[:] = 0.0
    add_up(cohort, partition.labels, partition.sizes, partition.statistics)


def log_marginals(cohort: CohortArrays, prior: Array, statistics: Array) -> Array:
    """Return A(posterior) - A(prior) of every cluster and feature, in nats, float64 (K, D).

    The prior is (H,), the statistics are (K, S). The log base measures are in `EncodedCohort.log_base`.
    """
    marginals = np.zeros((statistics.shape[0], cohort.kinds.size))
    _fill_log_marginals(
        cohort.kinds, cohort.prior_start, cohort.statistic_start, prior, np.ascontiguousarray(statistics), marginals
    )
    return marginals


@kernel
def _fill_log_marginals(
    all_kinds: Whole, prior_start: Whole, statistic_start: Whole, prior: Array, statistics: Array, marginals: Array
) -> None:
    kinds, starts, places = flat(all_kinds, 0), flat(prior_start, 0), flat(statistic_start, 0)
    work = np.empty(3 * statistics.shape[1])
    for k in range(statistics.shape[0]):
        here, out = flat(statistics, k * statistics.shape[1]), flat(marginals, k * marginals.shape[1])
        for feature in range(all_kinds.shape[0]):
            theta, sums = flat(prior, starts[feature]), flat(here, places[feature])
            out[feature] = log_marginal(
                kinds[feature], theta, sums, places[feature + 1] - places[feature], flat(work, 0)
            )
