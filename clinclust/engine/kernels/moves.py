"""The move of one subject, in compiled code: it updates the statistics and log predictives of the two clusters."""

from __future__ import annotations

import math
from typing import NamedTuple

from clinclust.arrays import Array, Codes, Whole
from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.inner_loops import LANES, eight_binomials, log_in_place
from clinclust.engine.kernels.likelihood_kernels import (
    BINOMIAL,
    CHAINED,
    add_value,
    adds_up,
    counts_levels,
    fill_coefficients,
    fill_levels,
    left_out_value,
    place_in_block,
)
from clinclust.engine.kernels.partition import CohortArrays, Model, Partition
from clinclust.engine.kernels.predictives_gamma import FEW
from clinclust.engine.kernels.predictives_gaussian import chained_coefficients, factorise

LEAST_LEFT = 1e-3
"""Smallest accepted share of a rate that remains without a value. Below it, digits are lost."""


class State(NamedTuple):
    """Cohort, model and partition as kernels pass them to each other: flat arrays and their row lengths.

    The fields are those of `CohortArrays`, `Model` and `Partition`. Element (i, j) of an array with C columns is
    element i * C + j of the flat array.
    """

    codes: Codes
    values: Array
    kinds: Whole
    level_start: Whole
    level_statistics: Array
    level_log_base: Array
    statistic_start: Whole
    prior_start: Whole
    prior: Array
    powers: Array
    labels: Whole
    n_clusters: Whole
    sizes: Array
    log_weights: Array
    statistics: Array
    table: Array
    left_out: Array
    spread: Array
    coefficients: Array
    left_out_coefficients: Array
    columns: Whole
    numbers: Array
    """(4, R) work space for the log predictives of one cluster, with R rounded up to a multiple of eight."""
    scores: Array
    """(C,) work space for the log weights of one subject."""
    own_values: Array
    """(W,) work space for its continuous values, padded with NaN."""
    products: Array
    """(16 (FEW + 1),) work space for the predictives of the levels of eight features."""
    factors: Array
    chained: Array
    """(3 F + 6,) work space for the features of multivariate Gaussian blocks."""
    n_complete: int
    n_apart: int
    first_chained: int
    """Index of the first sufficient statistic of a feature of a multivariate Gaussian block."""
    n_factors: int
    """Number of elements of the Cholesky factors of one cluster, F."""
    concentration: float
    discount: float
    coarsening: float
    n_subjects: int
    n_table: int
    """Number of discrete features."""
    n_values: int
    """Number of continuous features."""
    n_rows: int
    """Number of rows of the table, R."""
    n_work: int
    """Number of rows of the table, rounded up to a multiple of eight."""
    n_statistics: int
    capacity: int
    """Number of columns of the table, C, a multiple of eight."""
    width: int
    """Number of continuous features, rounded up to a multiple of eight, W."""


@subkernel
def state_of(cohort: CohortArrays, model: Model, partition: Partition) -> State:
    """Return the state of a cohort, a model and a partition. The caller must keep these alive while it is in use."""
    n_rows, capacity = partition.table.shape
    width = partition.left_out_coefficients.shape[2]
    n_work = (n_rows + LANES - 1) & -LANES
    return State(
        codes=flat(cohort.codes, 0),
        values=flat(cohort.values, 0),
        kinds=flat(cohort.kinds, 0),
        level_start=flat(cohort.level_start, 0),
        level_statistics=flat(cohort.level_statistics, 0),
        level_log_base=flat(cohort.level_log_base, 0),
        statistic_start=flat(cohort.statistic_start, 0),
        prior_start=flat(cohort.prior_start, 0),
        prior=flat(model.prior, 0),
        powers=flat(model.powers, 0),
        labels=flat(partition.labels, 0),
        n_clusters=flat(partition.n_clusters, 0),
        sizes=flat(partition.sizes, 0),
        log_weights=flat(partition.log_weights, 0),
        statistics=flat(partition.statistics, 0),
        table=flat(partition.table, 0),
        left_out=flat(partition.left_out, 0),
        spread=flat(partition.spread, 0),
        coefficients=flat(partition.coefficients, 0),
        left_out_coefficients=flat(partition.left_out_coefficients, 0),
        columns=flat(partition.columns, 0),
        numbers=flat(partition.work, 0),
        scores=flat(partition.work, 4 * n_work),
        own_values=flat(partition.work, 4 * n_work + capacity),
        products=flat(partition.work, 4 * n_work + capacity + width),
        factors=flat(partition.factors, 0),
        chained=flat(partition.work, 4 * n_work + capacity + width + 16 * (int(FEW) + 1)),
        n_complete=partition.n_complete,
        n_apart=partition.n_apart,
        first_chained=partition.statistics.shape[1] - partition.factors.shape[1],
        n_factors=partition.factors.shape[1],
        concentration=model.concentration,
        discount=model.discount,
        coarsening=model.coarsening,
        n_subjects=partition.labels.shape[0],
        n_table=cohort.codes.shape[1],
        n_values=cohort.values.shape[1],
        n_rows=n_rows,
        n_work=n_work,
        n_statistics=partition.statistics.shape[1],
        capacity=capacity,
        width=width,
    )


@subkernel
def log_weight(state: State, size: float, n_clusters: int) -> float:
    """Return ln(size - discount), or, for size 0, that of a new cluster: ln(N0 + n_clusters discount)."""
    if size > 0.0:
        return math.log(size - state.discount)
    return math.log(state.concentration + state.discount * n_clusters)


@subkernel
def refresh(state: State, k: int) -> None:
    """Recompute the log predictives and the log weight of cluster k from its statistics and size."""
    level_start, capacity = state.level_start, state.capacity
    sums_of_cluster = flat(state.statistics, k * state.n_statistics)
    # The log predictive of a level is ln numbers + rests, so that all logarithms are computed in one loop.
    numbers, rests = state.numbers, flat(state.numbers, state.n_work)
    left_numbers, left_rests = flat(state.numbers, 2 * state.n_work), flat(state.numbers, 3 * state.n_work)
    done = 0
    for feature in range(state.n_table):
        if feature < done:
            continue
        at = level_start[feature]
        n_levels = level_start[feature + 1] - at
        prior, sums = (
            flat(state.prior, state.prior_start[feature]),
            flat(sums_of_cluster, state.statistic_start[feature]),
        )
        counts, log_base = flat(state.level_statistics, 2 * at), flat(state.level_log_base, at)
        here, rest, left, left_rest = flat(numbers, at), flat(rests, at), flat(left_numbers, at), flat(left_rests, at)
        if _begins_eight_alike(state, feature):
            eight_binomials(prior, sums, n_levels - 1, here, left, state.products)
            done = feature + LANES
        else:
            kind = state.kinds[feature]
            fill_levels(kind, prior, sums, counts, log_base, n_levels, here, rest, left, left_rest, state.products)
    log_in_place(numbers, state.n_rows)
    log_in_place(left_numbers, state.n_rows)
    column, row_left_out = flat(state.table, k), flat(state.left_out, k * state.n_rows)
    spread = 0.0
    for feature in range(state.n_table):
        from_before, exponent = adds_up(state.kinds[feature]), state.coarsening * state.powers[feature]
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
        prior, sums = (
            flat(state.prior, state.prior_start[feature]),
            flat(sums_of_cluster, state.statistic_start[feature]),
        )
        out = flat(state.coefficients, 4 * capacity * at + k)
        left = flat(state.left_out_coefficients, 4 * state.width * k + at)
        if state.kinds[feature] == CHAINED:
            start = state.statistic_start[feature]
            place = place_in_block(state.statistic_start[feature + 1] - start)
            factor = flat(state.factors, k * state.n_factors + start - state.first_chained)
            degrees = factorise(prior, sums, place, factor)
            chained_coefficients(factor, degrees, place, out, capacity, left, state.width)
        else:
            fill_coefficients(state.kinds[feature], prior, sums, out, capacity, left, state.width)
        for part in range(3 if state.kinds[feature] == CHAINED else 2):
            out[part * capacity] *= state.coarsening * state.powers[feature]
            left[part * state.width] *= state.coarsening * state.powers[feature]
    state.log_weights[k] = log_weight(state, state.sizes[k], state.n_clusters[0])
    if state.sizes[k] > 1.0:
        state.log_weights[capacity + k] = log_weight(state, state.sizes[k] - 1.0, 0)


@subkernel
def _begins_eight_alike(state: State, feature: int) -> bool:
    """Return whether this feature and the next seven are binomials with the same number of trials, at most `FEW`."""
    if feature + LANES > state.n_table:
        return False
    at, kinds, statistics = flat(state.level_start, feature), flat(state.kinds, feature), state.level_statistics
    n_levels = at[1] - at[0]
    if n_levels < 2 or n_levels > FEW + 1.0:
        return False
    for other in range(LANES):
        if kinds[other] != BINOMIAL or at[other + 1] - at[other] != n_levels:
            return False
        # The table of a long scale has only the levels that occur, so few levels may belong to many trials.
        if statistics[2 * at[other]] + statistics[2 * at[other] + 1] != n_levels - 1.0:
            return False
    return True


@subkernel
def value_left_out(state: State, k: int, column: int, z: float) -> float:
    """Return the log predictive of a continuous value z, to its power, under its own cluster k without z."""
    feature = state.n_table + column
    prior = flat(state.prior, state.prior_start[feature])
    sums = flat(state.statistics, k * state.n_statistics + state.statistic_start[feature])
    exponent: float = state.coarsening * state.powers[feature]
    return exponent * left_out_value(state.kinds[feature], prior, sums, z)


@subkernel
def _shift_statistics(state: State, i: int, k: int, sign: float) -> None:
    """Add subject i to the size and statistics of cluster k (sign = 1), or remove it from them (sign = -1)."""
    codes, values = flat(state.codes, i * state.n_table), flat(state.values, i * state.n_values)
    sums_of_cluster = flat(state.statistics, k * state.n_statistics)
    state.sizes[k] += sign
    for feature in range(state.n_table):
        code = codes[feature]
        if code != 0:
            sums = flat(sums_of_cluster, state.statistic_start[feature])
            if counts_levels(state.kinds[feature]):
                sums[code - state.level_start[feature]] += sign
            else:
                sums[0] += sign * state.level_statistics[2 * code]
                sums[1] += sign * state.level_statistics[2 * code + 1]
    for column in range(state.n_values):
        feature = state.n_table + column
        if not math.isnan(values[column]):
            start = state.statistic_start[feature]
            n_sums = state.statistic_start[feature + 1] - start
            add_value(state.kinds[feature], flat(sums_of_cluster, start), n_sums, values, column, sign)


@subkernel
def move(state: State, i: int, target: int) -> None:
    """Move subject i to cluster `target`. The target K opens a new cluster; a cluster that becomes empty is removed.

    The capacity must be at least K + 2 columns.
    """
    labels, sizes = state.labels, state.sizes
    own, last = labels[i], state.n_clusters[0] - 1
    labels[i] = target
    _shift_statistics(state, i, target, 1.0)
    if own >= 0:
        _shift_statistics(state, i, own, -1.0)
    if target > last:
        state.n_clusters[0] += 1
        refresh(state, target + 1)
    elif own >= 0 and sizes[own] == 0.0:
        # The last cluster takes the index of the cluster that became empty, and its column becomes the empty cluster's.
        here, there = (
            flat(state.statistics, own * state.n_statistics),
            flat(state.statistics, last * state.n_statistics),
        )
        for s in range(state.n_statistics):
            here[s] = there[s]
            there[s] = 0.0
        sizes[own] = sizes[last]
        sizes[last] = 0.0
        for j in range(state.n_subjects):
            if labels[j] == last:
                labels[j] = own
        target = labels[i]
        state.n_clusters[0] = last
        state.log_weights[last + 1] = -math.inf
        refresh(state, last)
    if own >= 0:
        refresh(state, own)
    refresh(state, target)
