"""The partition as arrays, and moves of subjects between its clusters."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from clinclust.arrays import Array, Codes, Labels, Whole
from clinclust.engine.kernels import predictives
from clinclust.engine.kernels.compiled import LANES, flat, flattened, inlined, kernel, padded, subkernel
from clinclust.engine.kernels.lanes import log_in_place
from clinclust.engine.kernels.predictives import ADDS_UP, CHAINED, COUNTS, FEW, GAUSSIAN, place_in_block

# Cohort, model and partition as the compiled kernels read them.
#
# The table of a partition holds ln p(level | cluster), times coarsening and power, of every level of every discrete
# feature (rows) and every cluster (columns), so that the score of a subject is a sum of table rows. `left_out`, with
# clusters as rows, holds the same without one subject at that level, for a subject's own cluster. The column after the
# last cluster is an empty cluster; columns up to a multiple of eight may be idle.


Sums = tuple[Array, Array]  # sizes (K,) and statistics (K, S) of clusters


class CohortArrays(NamedTuple):
    """A cohort as the compiled kernels read it. No array changes during a fit.

    N is the number of subjects, R that of the rows of the table of log predictives: one for each level of each discrete
    feature. The D_table discrete features come first, then the D_value continuous ones.
    """

    codes: Codes  # (N, D_table) table row of each discrete value; 0 = missing
    values: Array  # (N, D_value) square roots of exponential, standardised Gaussian values; NaN = missing
    kinds: Whole  # (D,) code of the likelihood of each feature (`Likelihood.kernel`)
    level_start: Whole  # (D_table + 1,) first table row of each discrete feature
    level_values: Array  # (R,) value of the level of each row
    level_statistics: Array  # (R, 2) sufficient statistics of one subject at the level; 0 where they count the levels
    level_log_base: Array  # (R,) log base measure of the level of each row
    statistic_start: Whole  # (D + 1,) index of the first sufficient statistic of each feature; last, their number
    prior_start: Whole  # (D + 1,) index of the first hyperparameter of each feature; last, their number


class Model(NamedTuple):
    """The model as the compiled kernels read it. It does not change during a search."""

    prior: Array  # (H,) hyperparameters of all features, one after the other, on the encoded scale
    powers: Array  # (D,) the power, in (0, 1], of the likelihood of each feature because of its block; 1 without
    concentration: float  # N0, the weight of a new cluster, in subjects
    coarsening: float = 1.0  # the power, in (0, 1], of the whole likelihood in addition (Miller and Dunson 2019)

    @property
    def exponents(self) -> Array:
        """The power of each feature's likelihood in all, coarsening times the power of its block, float64 (D,)."""
        return np.asarray(self.coarsening * self.powers)

    def in_full(self) -> Model:
        """Return the model in which every likelihood counts in full: only its densities integrate to 1."""
        return self._replace(coarsening=1.0, powers=np.ones_like(self.powers))


class Partition(NamedTuple):
    """The state of one restart, modified in place. C is the capacity, the number of columns, above K."""

    labels: Labels  # (N,) cluster of each subject, 0 .. K - 1; -1 = in no cluster
    n_clusters: Whole  # (1,) K
    sizes: Array  # (C,) number of subjects in each cluster
    # ln size of each cluster, ln N0 of the empty one, -inf in idle columns; row 1: of clusters without one subject
    log_weights: Array  # (2, C)
    statistics: Array  # (C, S) sufficient statistics of each cluster
    table: Array  # (R, C) log predictive of each level under each cluster
    left_out: Array  # (C, R) log predictive of each level under each cluster without one subject at that level
    spread: Array  # (C,) upper bound of the decrease of the sum of a subject's table rows when the subject is left out
    coefficients: Array  # (D_value, 4, C) c0 .. c3 of the log predictives of continuous features (`fill_coefficients`)
    left_out_coefficients: Array  # (C, 4, W) the same without the scored value; W is D_value as a multiple of eight
    columns: Whole  # (D_value,) indices of the continuous features; Gaussian ones without missing values come first
    n_complete: int  # number of Gaussian features without missing values
    n_apart: int  # number of continuous features outside of multivariate Gaussian blocks; they come first
    factors: Array  # (C, F) Cholesky factors of Gaussian blocks, in the places of their statistics
    # Work spaces, of which every thread needs its own.
    numbers: Array  # (4, R) for the log predictives of one cluster, with R rounded up to a multiple of eight
    scores: Array  # (C,) for the log weights of one subject
    own_values: Array  # (W,) for its continuous values, padded with NaN
    products: Array  # (4 (FEW + 1),) for the predictives of the levels of a feature
    chained: Array  # (3 F + 6,) for the features of multivariate Gaussian blocks

    @property
    def sums(self) -> Sums:
        """Sizes and statistics of the clusters 0 .. K - 1."""
        n_clusters = int(self.n_clusters[0])
        return self.sizes[:n_clusters], self.statistics[:n_clusters]


def new_partition(cohort: CohortArrays, labels: Labels, capacity: int = 0) -> Partition:
    """Return a partition with these labels, 0 .. K - 1 or -1, and at least this capacity, without log predictives."""
    n_clusters = int(labels.max()) + 1
    capacity = padded(max(capacity, n_clusters + 2))
    n_rows, n_values = cohort.level_log_base.size, cohort.values.shape[1]
    kinds, width = cohort.kinds[cohort.codes.shape[1] :], padded(n_values)
    complete = (kinds == GAUSSIAN) & ~np.isnan(cohort.values.sum(axis=0))  # without a mask as large as the cohort
    n_apart, n_sums = int(np.count_nonzero(kinds != CHAINED)), int(cohort.statistic_start[-1])
    n_chained = n_sums - int(cohort.statistic_start[cohort.codes.shape[1] + n_apart])
    numbers = np.zeros((4, padded(n_rows)))
    numbers[0::2] = 1.0  # ln 1 + 0 = 0 is the log predictive of a missing value
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
        n_complete=int(np.count_nonzero(complete)),
        n_apart=n_apart,
        factors=np.zeros((capacity, n_chained)),
        numbers=numbers,
        scores=np.zeros(capacity),
        own_values=np.full(width, np.nan),
        products=np.full(4 * (int(FEW) + 1), np.nan),
        chained=np.full(3 * n_chained + 6, np.nan),
    )
    add_up(cohort, partition.labels, partition.sizes, partition.statistics)
    return partition


def _aligned(shape: tuple[int, ...]) -> Array:
    """Return zeros aligned in memory, so that each group of eight lies in one cache line."""
    size = math.prod(shape)
    room = np.zeros(size + LANES)
    first = -room.__array_interface__["data"][0] // room.itemsize % LANES
    return room[first : first + size].reshape(shape)


def without_values(cohort: CohortArrays, values: Whole) -> CohortArrays:
    """Return a cohort in which some values are missing; value i D + d is that of feature d in subject i."""
    copies = cohort._replace(codes=cohort.codes.copy(), values=cohort.values.copy())
    n_table = cohort.codes.shape[1]
    subjects, features = np.divmod(values, cohort.kinds.size)
    in_table = features < n_table
    copies.codes[subjects[in_table], features[in_table]] = 0
    copies.values[subjects[~in_table], features[~in_table] - n_table] = np.nan
    return copies


def clusters_without_subjects(cohort: CohortArrays, sizes: Array, statistics: Array, capacity: int = 0) -> Partition:
    """Return a partition with clusters of these sizes (K,) and statistics (K, S), and no subject in any of them."""
    n_clusters = sizes.size
    partition = new_partition(cohort, np.full(cohort.codes.shape[0], -1), max(capacity, n_clusters + 2))
    partition.n_clusters[0] = n_clusters
    partition.sizes[:n_clusters] = sizes
    partition.statistics[:n_clusters] = statistics
    return partition


@kernel
def add_up(cohort: CohortArrays, labels: Labels, all_sizes: Array, statistics: Array) -> None:
    """Add the subjects of a cohort, or of a part of it, to sizes (C,) and statistics (C, S), in place, by their labels.

    Subjects with label -1 are skipped. Levels are counted first, because counts are exact and counting is fast.
    """
    all_counts = np.zeros((all_sizes.size, cohort.level_log_base.size))
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
                predictives.add_value(kinds[feature], flat(all_sums, starts[feature]), n_sums, values, column, 1.0)
    levels = flat(cohort.level_statistics, 0)
    for k in range(all_sizes.shape[0]):
        counts, all_sums = flat(all_counts, k * n_rows), flat(statistics, k * statistics.shape[1])
        for feature in range(n_table if sizes[k] > 0.0 else 0):
            sums, start = flat(all_sums, starts[feature]), level_start[feature]
            for row in range(start, level_start[feature + 1]):
                if kinds[feature] in COUNTS:
                    sums[row - start] += counts[row]
                else:
                    sums[0] += counts[row] * levels[2 * row]
                    sums[1] += counts[row] * levels[2 * row + 1]


@kernel
def number_by_appearance(labels: Labels, numbers: Whole) -> None:
    """Renumber clusters in the order in which they appear, in place; `numbers` (K,) are -1, and become the new ones."""
    n_clusters = 0
    for i in range(labels.size):
        if numbers[labels[i]] < 0:
            numbers[labels[i]] = n_clusters
            n_clusters += 1
        labels[i] = numbers[labels[i]]


@kernel
def accumulate(cohort: CohortArrays, labels: Labels, sizes: Array, statistics: Array) -> None:
    """Compute the sizes (C,) and statistics (C, S) of a partition from its labels, in place."""
    sizes[:] = 0.0
    statistics[:] = 0.0
    add_up(cohort, labels, sizes, statistics)


@kernel
def relabel(cohort: CohortArrays, partition: Partition, labels: Labels) -> None:
    """Give a partition other labels, 0 .. K - 1, in place; K must fit its capacity."""
    partition.labels[:] = labels
    partition.n_clusters[0] = labels.max() + 1
    accumulate(cohort, partition.labels, partition.sizes, partition.statistics)


@kernel
def log_marginals(cohort: CohortArrays, prior: Array, all_statistics: Array) -> Array:
    """Return A(posterior) - A(prior), float64 (K, D), given prior (H,) and statistics (K, S); no base measures."""
    statistics = np.ascontiguousarray(all_statistics)
    marginals, work = np.zeros((statistics.shape[0], cohort.kinds.size)), np.empty(3 * statistics.shape[1])
    places = flat(cohort.statistic_start, 0)
    for k in range(statistics.shape[0]):
        for feature in range(cohort.kinds.size):
            theta = flat(prior, cohort.prior_start[feature])
            sums = flat(statistics, k * statistics.shape[1] + places[feature])
            n_sums = places[feature + 1] - places[feature]
            marginals[k, feature] = predictives.log_marginal(cohort.kinds[feature], theta, sums, n_sums, flat(work, 0))
    return marginals


# The move of one subject, in compiled code: it updates the statistics and log predictives of the two clusters.

_SIZES = (
    "first_chained",  # index of the first sufficient statistic of a feature of a multivariate Gaussian block
    "n_factors",  # elements of the Cholesky factors of one cluster, F
    "n_subjects",
    "n_table",  # discrete features
    "n_values",  # continuous features
    "n_rows",  # rows of the table, R
    "n_work",  # rows of the table, rounded up to a multiple of eight
    "n_statistics",
    "capacity",  # columns of the table, C, a multiple of eight
    "width",  # continuous features, rounded up to a multiple of eight, W
)
_FIELDS = *CohortArrays._fields, *Model._fields, *Partition._fields, *_SIZES
_State = cast(Any, namedtuple)("_State", _FIELDS)
State: TypeAlias = Any
"""Cohort, model and partition as kernels pass them to each other: their fields, with all arrays flat, and sizes.

Element (i, j) of an array with C columns is element i * C + j of the flat array.
"""


@subkernel
def state_of(cohort: CohortArrays, model: Model, partition: Partition) -> State:
    """Return the state of a cohort, a model and a partition. The caller must keep these alive while it is in use."""
    n_rows, capacity = partition.table.shape
    sizes = (
        partition.statistics.shape[1] - partition.factors.shape[1],
        partition.factors.shape[1],
        partition.labels.shape[0],
        cohort.codes.shape[1],
        cohort.values.shape[1],
        n_rows,
        partition.numbers.shape[1],
        partition.statistics.shape[1],
        capacity,
        partition.left_out_coefficients.shape[2],
    )
    return _State(*(flattened(cohort) + flattened(model) + flattened(partition) + sizes))


@subkernel
def refresh(state: State, k: int) -> None:
    """Recompute the log predictives and the log weight of cluster k from its statistics and size."""
    level_start, capacity = state.level_start, state.capacity
    sums_of_cluster = flat(state.statistics, k * state.n_statistics)
    # The log predictive of a level is ln numbers + rests, so that all logarithms are computed in one loop.
    numbers, rests = state.numbers, flat(state.numbers, state.n_work)
    left_numbers, left_rests = flat(state.numbers, 2 * state.n_work), flat(state.numbers, 3 * state.n_work)
    for feature in range(state.n_table):
        at = level_start[feature]
        n_levels = level_start[feature + 1] - at
        prior = flat(state.prior, state.prior_start[feature])
        sums = flat(sums_of_cluster, state.statistic_start[feature])
        here, left_here = flat(numbers, at), flat(left_numbers, at)
        counts, log_base = flat(state.level_statistics, 2 * at), flat(state.level_log_base, at)
        rest, left_rest = flat(rests, at), flat(left_rests, at)
        levels = predictives.Levels(counts, log_base, n_levels, here, rest, left_here, left_rest, state.products)
        predictives.fill_levels(state.kinds[feature], prior, sums, levels)
    log_in_place(numbers, state.n_rows)
    log_in_place(left_numbers, state.n_rows)
    column, row_left_out = flat(state.table, k), flat(state.left_out, k * state.n_rows)
    spread = 0.0
    for feature in range(state.n_table):
        from_before, exponent = state.kinds[feature] in ADDS_UP, state.coarsening * state.powers[feature]
        most = value = without_one = 0.0
        for row in range(level_start[feature], level_start[feature + 1]):
            value = exponent * (numbers[row] + rests[row]) + (value if from_before else 0.0)
            without_one = exponent * (left_numbers[row] + left_rests[row]) + (without_one if from_before else 0.0)
            column[row * capacity] = value
            row_left_out[row] = without_one
            if without_one < 0.0 and value - without_one > most:
                most = value - without_one
        spread += most
    state.spread[k] = spread
    for at in range(state.n_values):
        feature = state.n_table + at
        prior = flat(state.prior, state.prior_start[feature])
        sums = flat(sums_of_cluster, state.statistic_start[feature])
        out = flat(state.coefficients, 4 * capacity * at + k)
        left_out = flat(state.left_out_coefficients, 4 * state.width * k + at)
        if state.kinds[feature] == CHAINED:
            start = state.statistic_start[feature]
            place = place_in_block(state.statistic_start[feature + 1] - start)
            factor = flat(state.factors, k * state.n_factors + start - state.first_chained)
            degrees = predictives.factorise(prior, sums, place, factor)
            predictives.chained_coefficients(factor, degrees, place, out, capacity, left_out, state.width)
        else:
            predictives.fill_coefficients(state.kinds[feature], prior, sums, out, capacity, left_out, state.width)
        for part in range(3 if state.kinds[feature] == CHAINED else 2):
            out[part * capacity] *= state.coarsening * state.powers[feature]
            left_out[part * state.width] *= state.coarsening * state.powers[feature]
    state.log_weights[k] = math.log(state.sizes[k] if state.sizes[k] > 0.0 else state.concentration)
    if state.sizes[k] > 1.0:
        state.log_weights[capacity + k] = math.log(state.sizes[k] - 1.0)


@subkernel
def value_left_out(state: State, k: int, column: int, z: float) -> float:
    """Return the log predictive of a continuous value z, to its power, under its own cluster k without z."""
    feature = state.n_table + column
    prior = flat(state.prior, state.prior_start[feature])
    sums = flat(state.statistics, k * state.n_statistics + state.statistic_start[feature])
    exponent: float = state.coarsening * state.powers[feature]
    return exponent * predictives.left_out_value(state.kinds[feature], prior, sums, z)


@inlined
def _shift_statistics(state: State, i: int, k: int, sign: float) -> None:
    """Add subject i to the size and statistics of cluster k (sign = 1), or remove it from them (sign = -1)."""
    codes, values = flat(state.codes, i * state.n_table), flat(state.values, i * state.n_values)
    sums_of_cluster = flat(state.statistics, k * state.n_statistics)
    state.sizes[k] += sign
    for feature in range(state.n_table):
        code = codes[feature]
        if code != 0:
            sums = flat(sums_of_cluster, state.statistic_start[feature])
            if state.kinds[feature] in COUNTS:
                sums[code - state.level_start[feature]] += sign
            else:
                sums[0] += sign * state.level_statistics[2 * code]
                sums[1] += sign * state.level_statistics[2 * code + 1]
    for column in range(state.n_values):
        feature = state.n_table + column
        if not math.isnan(values[column]):
            start = state.statistic_start[feature]
            n_sums = state.statistic_start[feature + 1] - start
            predictives.add_value(state.kinds[feature], flat(sums_of_cluster, start), n_sums, values, column, sign)


@inlined
def move(state: State, i: int, target: int) -> None:
    """Move subject i to a cluster, K for a new one; the capacity is K + 2 at least, and an empty cluster is removed."""
    labels, sizes = state.labels, state.sizes
    origin, last = labels[i], state.n_clusters[0] - 1
    labels[i] = target
    _shift_statistics(state, i, target, 1.0)
    if origin >= 0:
        _shift_statistics(state, i, origin, -1.0)
    if target > last:
        state.n_clusters[0] += 1
        refresh(state, target + 1)
    elif origin >= 0 and sizes[origin] == 0.0:
        # The last cluster takes the index of the cluster that became empty, and its column becomes the empty cluster's.
        here = flat(state.statistics, origin * state.n_statistics)
        there = flat(state.statistics, last * state.n_statistics)
        for s in range(state.n_statistics):
            here[s] = there[s]
            there[s] = 0.0
        sizes[origin] = sizes[last]
        sizes[last] = 0.0
        for j in range(state.n_subjects):
            if labels[j] == last:
                labels[j] = origin
        target = labels[i]
        state.n_clusters[0] = last
        state.log_weights[last + 1] = -math.inf
        refresh(state, last)
    if origin >= 0:
        refresh(state, origin)
    refresh(state, target)
