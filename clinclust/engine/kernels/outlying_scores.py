"""Scores of subjects whose values may be outlying, that is, drawn from the prior predictive of their feature.

Values of multivariate Gaussian blocks are never outlying.
"""

from __future__ import annotations

import math

import numpy as np

from clinclust.arrays import Array, Whole
from clinclust.compiled import flat, kernel, subkernel
from clinclust.engine.kernels.moves import CohortArrays, Model, Partition, State, refresh, state_of, value_left_out
from clinclust.engine.kernels.predictives import CHAINED
from clinclust.engine.kernels.sweep import chained_score

_MARGIN = 0.1
"""Nats by which a value must be worth keeping to count as usual."""
_LEAST_RATE = 0.05
"""Share of a rate that must remain without a usual value."""
_ACCURATE = 1e10
"""Bound of count * squares / rate below which the remaining rate is known to one part in a thousand."""


@subkernel
def _log_tail(coefficients: Array, stride: int, z: float) -> float:
    """Return the log predictive of a continuous value, c0 - c1 ln(1 + c2 (z - c3)^2)."""
    apart = z - coefficients[3 * stride]
    value: float = coefficients[0] - coefficients[stride] * math.log1p(coefficients[2 * stride] * apart**2)
    return value


@subkernel
def _predictive(state: State, i: int, feature: int, k: int) -> float:
    """Return the log predictive of a value of subject i under cluster k, to its power; NaN if it is missing."""
    column = feature - state.n_table
    if column < 0:
        code = state.codes[i * state.n_table + feature]
        in_table: float = state.table[code * state.capacity + k]
        return in_table if code != 0 else math.nan
    values = flat(state.values, i * state.n_values)
    if math.isnan(values[column]):
        return math.nan
    if state.kinds[feature] == CHAINED:
        return chained_score(state, k, column, values)
    return _log_tail(flat(state.coefficients, 4 * state.capacity * column + k), state.capacity, values[column])


@subkernel
def _up_to_date(cohort: CohortArrays, model: Model, partition: Partition) -> State:
    """Return the state of a partition after computing the log predictives of all clusters, and of the empty one."""
    state = state_of(cohort, model, partition)
    for k in range(partition.n_clusters[0] + 1):
        refresh(state, k)
    return state


@kernel
def prior_predictives(cohort: CohortArrays, model: Model, partition: Partition, out: Array) -> None:
    """Write the log predictives under the empty cluster to `out`, (N, D); 0 for missing values."""
    state = _up_to_date(cohort, model, partition)
    for i in range(out.shape[0]):
        for feature in range(out.shape[1]):
            value = _predictive(state, i, feature, state.n_clusters[0])
            out[i, feature] = 0.0 if math.isnan(value) else value


@subkernel
def _usual_square(state: State, k: int, column: int, log_odds: float) -> float:
    """Return a (z - c3)^2 up to which no kept value z of cluster k is worth setting aside; -1 if none is known.

    With c0 .. c3 of the cluster without z, the gain is at most first + log odds - c0 - c1 ln(1 - c2 (z - c3)^2), as the
    log prior predictive is nowhere above its c0, `first`. This bound must be below 0 by `_MARGIN`, so that rounding
    errors decide nothing.
    """
    feature = state.n_table + column
    if state.kinds[feature] == CHAINED:
        return math.inf
    sums = flat(state.statistics, k * state.n_statistics)
    count = sums[state.statistic_start[feature]]
    squares = sums[state.statistic_start[feature + 1] - 1]
    c = flat(state.left_out_coefficients, 4 * state.width * k + column)
    c0, c1, c2 = c[0], c[state.width], c[2 * state.width]
    first = state.coefficients[4 * state.capacity * column + state.n_clusters[0]]
    most = first - c0 + (log_odds + _MARGIN * state.coarsening) * state.powers[feature]
    # The sums have a relative error of up to `count` units in the last place.
    if most < 0.0 < c1 and count * squares * c2 < _ACCURATE:
        square: float = min(-math.expm1(most / c1), 1.0 - _LEAST_RATE) / c2
        return square
    return -1.0


@kernel
def gains_of_indicators(
    cohort: CohortArrays, model: Model, partition: Partition, aside: Whole, log_odds: float, least: float
) -> tuple[Whole, Array]:
    """Return the single values whose indicators, if changed alone, raise the log joint by more than `least` >= 0.

    Value i D + d is that of feature d in subject i. The cohort holds all values, the statistics of the partition those
    that are kept, and `aside` are the outlying ones, in ascending order. The log odds, coarsening * [ln share - ln(1 -
    share)], are multiplied by the power of each feature. Return values, in ascending order, and gains.
    """
    state = _up_to_date(cohort, model, partition)
    n_table, n_values, n_features = state.n_table, state.n_values, state.n_table + state.n_values
    empty = partition.n_clusters[0]
    # A level is worth setting aside for all members of a cluster or for none.
    of_levels, squares = np.full((empty, state.n_rows), -math.inf), np.empty((empty, n_values))
    for k in range(empty):
        for feature in range(n_table):
            for row in range(cohort.level_start[feature], cohort.level_start[feature + 1]):
                prior = partition.table[row, empty] + log_odds * state.powers[feature]
                of_levels[k, row] = prior - partition.left_out[k, row]
        for column in range(n_values):
            squares[k, column] = _usual_square(state, k, column, log_odds)
    found, gains, n_found = np.empty(n_features, dtype=np.int64), np.empty(n_features), 0
    n_past = 0
    for i in range(partition.labels.shape[0]):
        if n_found + n_features > found.size:
            found, gains = np.concatenate((found, found)), np.concatenate((gains, gains))
        own = partition.labels[i]
        codes, values = flat(cohort.codes, i * n_table), flat(cohort.values, i * n_values)
        levels, usual = flat(of_levels, own * state.n_rows), flat(squares, own * n_values)
        centres = flat(state.left_out_coefficients, (4 * own + 3) * state.width)
        following = aside[n_past] - i * n_features if n_past < aside.size else n_features
        for feature in range(n_features):
            column = feature - n_table
            kept = feature != following
            gain = -math.inf
            if column < 0:
                code = codes[feature]
                gain = levels[code]
                if not kept:
                    gain = partition.table[code, own] - (
                        partition.table[code, empty] + log_odds * state.powers[feature]
                    )
            # False for a missing value, which is NaN.
            elif not kept or (values[column] - centres[column]) ** 2 > usual[column]:
                z, c = values[column], flat(state.coefficients, 4 * state.capacity * column)
                prior = _log_tail(flat(c, empty), state.capacity, z) + log_odds * state.powers[feature]
                if kept:
                    gain = prior - value_left_out(state, own, column, z)
                else:
                    gain = _log_tail(flat(c, own), state.capacity, z) - prior
            if not kept:
                n_past += 1
                following = aside[n_past] - i * n_features if n_past < aside.size else n_features
            if gain > least:
                found[n_found], gains[n_found] = i * n_features + feature, gain
                n_found += 1
    return found[:n_found], gains[:n_found]


@kernel
def bounded_scores(
    cohort: CohortArrays, model: Model, partition: Partition, subjects: Whole, log_odds: float, scores: Array
) -> None:
    """Fill the scores of some subjects (M,) under every cluster but their own, with their best outlying values.

    A score (M, K) is the log weight of the cluster plus the sum over observed values of the higher of the log
    predictive under the cluster, and the log prior predictive plus the log odds (`gains_of_indicators`), both times the
    exponent of the feature. It is minus infinity under the own cluster.
    """
    state = _up_to_date(cohort, model, partition)
    n_clusters = state.n_clusters[0]
    for row in range(subjects.size):
        i = subjects[row]
        for k in range(n_clusters):
            scores[row, k] = state.log_weights[k]
        for feature in range(cohort.kinds.shape[0]):
            least = -math.inf
            if cohort.kinds[feature] != CHAINED:
                least = _predictive(state, i, feature, n_clusters) + log_odds * state.powers[feature]
            if not math.isnan(least):
                for k in range(n_clusters):
                    value = _predictive(state, i, feature, k)
                    if not math.isnan(value):
                        scores[row, k] += max(value, least)
        scores[row, state.labels[i]] = -math.inf


@kernel
def mixed_scores(
    cohort: CohortArrays, model: Model, partition: Partition, share: float, exponents: Array, out: Array
) -> None:
    """Write the scores of new subjects to `out`, float64 (N, K + 1), summed over which of their values are outlying.

    The score is ln weight_k + sum_d exponent_d ln[(1 - share) p(x_d | cluster k) + share p(x_d | prior)], with the
    `Model.exponents`, float64 (D,); the last column is the empty cluster. The model must be `Model.in_full`.
    """
    state = _up_to_date(cohort, model, partition)
    empty = state.n_clusters[0]
    rest = 1.0 - share
    for i in range(out.shape[0]):
        for k in range(empty + 1):
            out[i, k] = state.log_weights[k]
        for feature in range(cohort.kinds.shape[0]):
            first = _predictive(state, i, feature, empty)
            for k in range(0 if math.isnan(first) else empty + 1):
                value = _predictive(state, i, feature, k)
                if cohort.kinds[feature] != CHAINED:
                    # The larger logarithm is factored out, so that the sum does not underflow.
                    high = max(value, first)
                    value = high + math.log(rest * math.exp(value - high) + share * math.exp(first - high))
                out[i, k] += exponents[feature] * value
