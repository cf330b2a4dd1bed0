"""The scores of one subject under every cluster: log weight plus the log predictives of its observed values.

Eight clusters are scored at a time (`clinclust.engine.kernels.inner_loops`), into `State.scores`.
"""

from __future__ import annotations

import math

from clinclust.arrays import Array
from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.inner_loops import LANES, add_log_products, add_log_terms, add_rows, sum_log_terms
from clinclust.engine.kernels.likelihood_kernels import place_in_block
from clinclust.engine.kernels.moves import LEAST_LEFT, State, log_weight, refresh, value_left_out
from clinclust.engine.kernels.predictives_gaussian import add_values, chained_coefficients, factorise, squares_of


@subkernel
def begin_scoring(state: State, up_to_date: bool) -> int:
    """Compute the log predictives of all clusters unless they are up to date; return `n_together` of `score_all`."""
    if not up_to_date:
        for k in range(state.n_clusters[0] + 1):
            refresh(state, k)
        for k in range(state.n_clusters[0] + 1, state.capacity):
            state.log_weights[k] = -math.inf
    return _n_sharing_exponent(state)


@subkernel
def _n_sharing_exponent(state: State) -> int:
    """Return how many of the Gaussian features without missing values, the first of them, have the same c1.

    These are the features before the first one with another power, or none if their c1 differ in any cluster. c1
    depends on the power, the prior shape and the number of values in the cluster: it stays the same when subjects move.
    """
    n_alike = 0
    while n_alike < state.n_complete and _power(state, n_alike) == _power(state, 0):
        n_alike += 1
    for place in range(1, n_alike):
        here, first = (4 * state.columns[place] + 1) * state.capacity, (4 * state.columns[0] + 1) * state.capacity
        for k in range(state.n_clusters[0] + 1):
            if state.coefficients[here + k] != state.coefficients[first + k]:
                return 0
    return n_alike


@subkernel
def _power(state: State, place: int) -> float:
    power: float = state.powers[state.n_table + state.columns[place]]
    return power


@subkernel
def score_all(state: State, i: int, n_columns: int, n_together: int) -> float:
    """Write the scores of subject i under the first `n_columns` clusters, each with all its subjects.

    Return the sum of the table rows of the subject under its own cluster; 0 if it is in none.
    """
    capacity, scores, own = state.capacity, state.scores, state.labels[i]
    values = flat(state.values, i * state.n_values)
    rows_of_own = 0.0
    for first in range(0, n_columns, LANES):
        add_rows(scores, state.log_weights, first, state.table, capacity, state.codes, i * state.n_table, state.n_table)
        if first <= own < first + LANES:
            rows_of_own = scores[own] - state.log_weights[own]
        if n_together > 0:
            add_log_products(scores, first, state.coefficients, state.columns, n_together, capacity, values)
        for place in range(n_together, state.n_apart):
            column = state.columns[place]
            if not math.isnan(values[column]):
                add_log_terms(scores, first, state.coefficients, column, capacity, values[column])
    if state.n_apart < state.n_values:
        add_chained(state, values, n_columns)
    return rows_of_own


@subkernel
def score_without_rows(state: State, i: int, own: int) -> float:
    """Return the score of subject i under its own cluster without itself, but for its table rows."""
    alone = state.sizes[own] == 1.0
    score = log_weight(state, 0.0, state.n_clusters[0] - 1) if alone else state.log_weights[state.capacity + own]
    if state.n_values > 0:
        values = flat(state.values, i * state.n_values)
        for column in range(state.n_apart):
            state.own_values[column] = values[column]
        left = flat(state.left_out_coefficients, 4 * state.width * own)
        without = sum_log_terms(state.own_values, left, 0, state.width, LEAST_LEFT)
        if math.isnan(without):
            without = 0.0
            for column in range(state.n_apart):
                if not math.isnan(values[column]):
                    without += value_left_out(state, own, column, values[column])
        score += without
        for column in range(state.n_apart, state.n_values):
            if not math.isnan(values[column]):
                score += chained_left_out(state, own, column, values)
    return score


@subkernel
def add_chained(state: State, values: Array, n_columns: int) -> None:
    """Add the log predictives of a subject's values in multivariate Gaussian blocks to the first `n_columns` scores."""
    for column in range(state.n_apart, state.n_values):
        if not math.isnan(values[column]):
            for k in range(n_columns):
                state.scores[k] += chained_score(state, k, column, values)


@subkernel
def chained_score(state: State, k: int, column: int, values: Array) -> float:
    """Return the log predictive of the continuous value at `column` under cluster k, to its power."""
    start = state.statistic_start[state.n_table + column]
    place = place_in_block(state.statistic_start[state.n_table + column + 1] - start)
    factor = flat(state.factors, k * state.n_factors + start - state.first_chained)
    before, with_own = squares_of(factor, flat(values, column - place), place, state.chained)
    c = flat(state.coefficients, 4 * state.capacity * column + k)
    score: float = c[0] - c[state.capacity] * math.log1p(with_own) + c[2 * state.capacity] * math.log1p(before)
    return score


@subkernel
def chained_left_out(state: State, k: int, column: int, values: Array) -> float:
    """Return the same for the subject's own cluster k, under the cluster without the subject."""
    start = state.statistic_start[state.n_table + column]
    n_sums = state.statistic_start[state.n_table + column + 1] - start
    place = place_in_block(n_sums)
    own, factor = flat(values, column - place), flat(state.factors, k * state.n_factors + start - state.first_chained)
    before, with_own = squares_of(factor, own, place, state.chained)
    c = flat(state.left_out_coefficients, 4 * state.width * k + column)
    if 1.0 - with_own >= LEAST_LEFT:
        score: float = c[0] + c[state.width] * math.log1p(-with_own) - c[2 * state.width] * math.log1p(-before)
        return score
    # Too many digits are lost: the factor is computed from the statistics without the subject.
    sums, rest = flat(state.chained, 0), flat(state.chained, n_sums)
    all_sums = flat(state.statistics, k * state.n_statistics + start)
    for s in range(n_sums):
        sums[s] = all_sums[s]
    add_values(sums, own, place, -1.0)
    degrees = factorise(flat(state.prior, state.prior_start[state.n_table + column]), sums, place, rest)
    coefficients = flat(state.chained, 2 * n_sums)
    chained_coefficients(rest, degrees, place, coefficients, 1, flat(coefficients, 3), 1)
    before, with_own = squares_of(rest, own, place, sums)
    log_density = coefficients[0] - coefficients[1] * math.log1p(with_own) + coefficients[2] * math.log1p(before)
    value: float = state.coarsening * state.powers[state.n_table + column] * log_density
    return value
