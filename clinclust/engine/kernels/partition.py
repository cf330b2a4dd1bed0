"""A partition of the subjects and everything that follows from it: statistics and log predictives.

The table holds ln p(level | cluster) for every level of every discrete feature (rows) and cluster (columns,
contiguous), so that scoring a subject is a sum of table rows. Its twin `left_out`, with clusters as rows, holds the
same for the cluster without one subject at that level, which is what a subject's own cluster must be scored with. The
column after the last cluster always belongs to an empty cluster: its log predictives are those of the prior, its log
weight is that of a new cluster, and a subject that prefers it opens one.

Log predictives are multiplied by the coarsening when they are filled in, so that scoring need not know of it. Columns
come in eights, the last ones idle (`clinclust.engine.kernels.lanes`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, kernel
from clinclust.engine.kernels.arrays import CohortArrays
from clinclust.engine.kernels.eights import LANES, padded
from clinclust.engine.kernels.likelihood_kernels import GAUSSIAN, add_value, counts_levels
from clinclust.engine.kernels.predictives.rising_factorial import FEW

__all__ = [
    "Partition",
    "accumulate",
    "add_up",
    "clusters_without_subjects",
    "grow",
    "new_partition",
]

Array = NDArray[np.float64]


class Partition(NamedTuple):
    """The state of one restart; every array is modified in place. C is the capacity, at least K + 1 columns."""

    labels: NDArray[np.int64]
    """(N,) cluster of each subject, 0 .. K - 1; -1 = in none."""
    n_clusters: NDArray[np.int64]
    """(1,) K."""
    sizes: Array
    """(C,) subjects in each cluster."""
    log_weights: Array
    """(2, C) log prior weight of each cluster, ln(size - discount), and of the empty one, ln(N0 + K discount); then
    the same without one subject, where a cluster has more than one. -inf in idle columns."""
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
    columns: NDArray[np.int64]
    """(D_value,) the continuous features, Gaussian ones that no subject lacks first."""
    n_complete: int
    """How many of these there are."""
    work: Array
    """Work space, of which every thread needs its own: see `clinclust.engine.kernels.moves.State`."""


def new_partition(cohort: CohortArrays, labels: NDArray[np.int64], capacity: int = 0) -> Partition:
    """Return a partition with these labels (0 .. K - 1, or -1), and its sizes and statistics."""
    n_clusters = int(labels.max()) + 1
    capacity = padded(max(capacity, n_clusters + 2))
    n_rows, n_values = cohort.level_log_base.size, cohort.values.shape[1]
    width = padded(n_values)
    complete = np.asarray(~np.isnan(cohort.values).any(axis=0))
    complete &= cohort.kinds[cohort.codes.shape[1] :] == GAUSSIAN
    partition = Partition(
        labels=labels.astype(np.int64),
        n_clusters=np.array([n_clusters], dtype=np.int64),
        sizes=np.zeros(capacity),
        log_weights=np.full((2, capacity), -np.inf),
        statistics=np.zeros((capacity, int(cohort.statistic_start[-1]))),
        table=_aligned((n_rows, capacity)),
        left_out=np.zeros((capacity, n_rows)),
        spread=np.zeros(capacity),
        coefficients=_aligned((n_values, 4, capacity)),
        left_out_coefficients=np.zeros((capacity, 4, width)),
        columns=np.argsort(~complete, kind="stable"),
        n_complete=int(complete.sum()),
        work=_work_space(n_rows, capacity, width),
    )
    accumulate(cohort, partition)
    return partition


def _aligned(shape: tuple[int, ...]) -> Array:
    """Return zeros of which every eight lie in one line of the cache."""
    size = math.prod(shape)
    room = np.zeros(size + LANES)
    first = -room.ctypes.data // room.itemsize % LANES
    return room[first : first + size].reshape(shape)


def _work_space(n_rows: int, capacity: int, width: int) -> Array:
    work = np.zeros(4 * padded(n_rows) + capacity + width + 16 * (int(FEW) + 1))
    numbers = work[: 4 * padded(n_rows)].reshape(4, -1)
    numbers[0::2] = 1.0  # ln 1 + 0, which is what missing values have
    work[numbers.size + capacity :] = np.nan
    return work


def clusters_without_subjects(cohort: CohortArrays, sizes: Array, statistics: Array) -> Partition:
    """Return clusters of these sizes, (K,), and statistics, (K, S), and the cohort's subjects in none of them."""
    n_clusters = sizes.size
    partition = new_partition(cohort, np.full(cohort.codes.shape[0], -1), n_clusters + 2)
    partition.n_clusters[0] = n_clusters
    partition.sizes[:n_clusters] = sizes
    partition.statistics[:n_clusters] = statistics
    return partition


def grow(cohort: CohortArrays, partition: Partition) -> Partition:
    """Return the same partition with room for twice as many clusters."""
    return new_partition(cohort, partition.labels, 2 * partition.sizes.size)


def add_up(cohort: CohortArrays, labels: NDArray[np.int64], sizes: Array, statistics: Array) -> None:
    """Add the subjects of a cohort, or of a part of it, to sizes (C,) and statistics (C, S) by their labels.

    Those with label -1 are left out. Levels are counted first, since whole numbers are exact and counting is fast.
    """
    counts = np.zeros((sizes.size, cohort.level_log_base.size))
    _add_up(cohort, labels, sizes, statistics, counts)


@kernel
def _add_up(
    cohort: CohortArrays, labels: NDArray[np.int64], all_sizes: Array, statistics: Array, all_counts: Array
) -> None:
    kinds, starts, level_start = (
        flat(cohort.kinds, 0),
        flat(cohort.statistic_start, 0),
        flat(cohort.level_start, 0),
    )
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
            z, feature = values[column], n_table + column
            if not math.isnan(z):
                add_value(kinds[feature], flat(all_sums, starts[feature]), z, 1.0)
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


def accumulate(cohort: CohortArrays, partition: Partition) -> None:
    """Compute the sizes and statistics from the labels alone; those of a partition are modified in place."""
    partition.sizes[:] = 0.0
    partition.statistics[:] = 0.0
    add_up(cohort, partition.labels, partition.sizes, partition.statistics)
