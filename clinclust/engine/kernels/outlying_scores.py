"""Scores of subjects whose values may be outlying, that is, drawn from the prior predictive of their feature.

Values of multivariate Gaussian blocks are never outlying.
"""

from __future__ import annotations

import math

from clinclust.arrays import Array, Mask, Whole
from clinclust.compiled import flat, kernel, subkernel
from clinclust.engine.kernels.likelihood_kernels import CHAINED
from clinclust.engine.kernels.moves import State, refresh, state_of, value_left_out
from clinclust.engine.kernels.partition import CohortArrays, Model, Partition
from clinclust.engine.kernels.scoring import chained_score


@subkernel
def _log_tail(c0: float, c1: float, c2: float, c3: float, z: float) -> float:
    """Return the log predictive of a continuous value, c0 - c1 ln(1 + c2 (z - c3)^2)."""
    return c0 - c1 * math.log1p(c2 * (z - c3) ** 2)


@subkernel
def _up_to_date(cohort: CohortArrays, model: Model, partition: Partition) -> State:
    """Return the state of a partition after computing the log predictives of all clusters, and of the empty one."""
    state = state_of(cohort, model, partition)
    for k in range(partition.n_clusters[0] + 1):
        refresh(state, k)
    return state


@kernel
def prior_predictives(cohort: CohortArrays, model: Model, partition: Partition, out: Array) -> None:
    """Write the log predictives under the empty cluster to `out`, (N, D), but for missing continuous values."""
    state = _up_to_date(cohort, model, partition)
    n_table = cohort.codes.shape[1]
    empty = partition.n_clusters[0]
    for i in range(out.shape[0]):
        for feature in range(n_table):
            out[i, feature] = partition.table[cohort.codes[i, feature], empty]
        for feature in range(n_table, cohort.kinds.shape[0]):
            z = cohort.values[i, feature - n_table]
            if cohort.kinds[feature] == CHAINED and not math.isnan(z):
                out[i, feature] = chained_score(
                    state, empty, feature - n_table, flat(cohort.values, i * state.n_values)
                )
            elif not math.isnan(z):
                c = partition.coefficients[feature - n_table]
                out[i, feature] = _log_tail(c[0, empty], c[1, empty], c[2, empty], c[3, empty], z)


@kernel
def gains_of_indicators(
    cohort: CohortArrays, model: Model, partition: Partition, aside: Mask, log_odds: float, gains: Array
) -> None:
    """Fill the change of the log joint by each change of a single indicator: by setting a value aside or keeping it.

    The cohort holds all values, the statistics of the partition those that are kept, and `aside`, bool (N, D), the
    outlying ones. The log odds, coarsening * [ln share - ln(1 - share)], are multiplied by the power of each feature.
    Gains of missing values are not written.
    """
    state = _up_to_date(cohort, model, partition)
    n_table = cohort.codes.shape[1]
    empty = partition.n_clusters[0]
    for i in range(gains.shape[0]):
        own = partition.labels[i]
        for feature in range(n_table):
            code = cohort.codes[i, feature]
            if code == 0:
                continue
            least = partition.table[code, empty] + log_odds * state.powers[feature]
            if aside[i, feature]:
                gains[i, feature] = partition.table[code, own] - least
            else:
                gains[i, feature] = least - partition.left_out[own, code]
        for feature in range(n_table, cohort.kinds.shape[0]):
            column = feature - n_table
            z = cohort.values[i, column]
            if math.isnan(z):
                continue
            if cohort.kinds[feature] == CHAINED:
                gains[i, feature] = -math.inf
                continue
            c = partition.coefficients[column]
            least = _log_tail(c[0, empty], c[1, empty], c[2, empty], c[3, empty], z) + log_odds * state.powers[feature]
            if aside[i, feature]:
                gains[i, feature] = _log_tail(c[0, own], c[1, own], c[2, own], c[3, own], z) - least
            else:
                gains[i, feature] = least - value_left_out(state, own, column, z)


@kernel
def bounded_scores(
    cohort: CohortArrays,
    model: Model,
    partition: Partition,
    subjects: Whole,
    log_odds: float,
    scores: Array,
) -> None:
    """Fill the scores of some subjects (M,) under every cluster but their own, with their best outlying values.

    A score (M, K) is the log weight of the cluster plus the sum over observed values of the higher of the log
    predictive under the cluster, and the log prior predictive plus the log odds (`gains_of_indicators`), both times the
    exponent of the feature. It is minus infinity under the own cluster.
    """
    state = _up_to_date(cohort, model, partition)
    n_table = cohort.codes.shape[1]
    n_clusters = partition.n_clusters[0]
    for row in range(subjects.size):
        i = subjects[row]
        for k in range(n_clusters):
            scores[row, k] = partition.log_weights[0, k]
        for feature in range(cohort.kinds.shape[0]):
            column = feature - n_table
            if cohort.kinds[feature] == CHAINED:
                if not math.isnan(cohort.values[i, column]):
                    values = flat(cohort.values, i * state.n_values)
                    for k in range(n_clusters):
                        scores[row, k] += chained_score(state, k, column, values)
                continue
            table, code, z = column < 0, 0, 0.0
            if table:
                code = cohort.codes[i, feature]
                if code == 0:
                    continue
                least = partition.table[code, n_clusters] + log_odds * state.powers[feature]
            else:
                z = cohort.values[i, column]
                if math.isnan(z):
                    continue
                c = partition.coefficients[column, :, n_clusters]
                least = _log_tail(c[0], c[1], c[2], c[3], z) + log_odds * state.powers[feature]
            for k in range(n_clusters):
                if table:
                    value = partition.table[code, k]
                else:
                    c = partition.coefficients[column, :, k]
                    value = _log_tail(c[0], c[1], c[2], c[3], z)
                scores[row, k] += max(value, least)
        scores[row, partition.labels[i]] = -math.inf


@kernel
def mixed_scores(
    cohort: CohortArrays, model: Model, partition: Partition, share: float, exponents: Array, out: Array
) -> None:
    """Write the scores of new subjects to `out`, float64 (N, K + 1), summed over which of their values are outlying.

    The score is ln weight_k + sum_d exponent_d ln[(1 - share) p(x_d | cluster k) + share p(x_d | prior)], with the
    `Model.exponents`, float64 (D,); the last column is the empty cluster. The model must be `Model.in_full`.
    """
    state = _up_to_date(cohort, model, partition)
    n_table = cohort.codes.shape[1]
    empty = partition.n_clusters[0]
    rest = 1.0 - share
    for i in range(out.shape[0]):
        for k in range(empty + 1):
            out[i, k] = partition.log_weights[0, k]
        for feature in range(cohort.kinds.shape[0]):
            column = feature - n_table
            if cohort.kinds[feature] == CHAINED:
                if not math.isnan(cohort.values[i, column]):
                    values = flat(cohort.values, i * state.n_values)
                    for k in range(empty + 1):
                        out[i, k] += exponents[feature] * chained_score(state, k, column, values)
                continue
            code, z = 0, 0.0
            if column < 0:
                code = cohort.codes[i, feature]
                if code == 0:
                    continue
                first = partition.table[code, empty]
            else:
                z = cohort.values[i, column]
                if math.isnan(z):
                    continue
                c = partition.coefficients[column, :, empty]
                first = _log_tail(c[0], c[1], c[2], c[3], z)
            for k in range(empty + 1):
                if column < 0:
                    value = partition.table[code, k]
                else:
                    c = partition.coefficients[column, :, k]
                    value = _log_tail(c[0], c[1], c[2], c[3], z)
                # The larger logarithm is factored out, so that the sum does not underflow.
                high = max(value, first)
                out[i, k] += exponents[feature] * (
                    high + math.log(rest * math.exp(value - high) + share * math.exp(first - high))
                )
