"""Scores of the features of multivariate Gaussian blocks, each given the features before it in its block."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.likelihood_kernels import place_in_block
from clinclust.engine.kernels.moves import LEAST_LEFT, State
from clinclust.engine.kernels.predictives.normal_wishart import add_values, chained_coefficients, factorise, squares_of

__all__ = ["add_chained", "chained_left_out", "chained_score"]

Array = NDArray[np.float64]


@subkernel
def add_chained(state: State, values: Array, n_columns: int) -> None:
    """Add the log predictives of the observed values of all blocks under the first `n_columns` clusters to the scores.

    Parameters
    ----------
    state : State
    values : float64 (D_value,)
        The continuous values of the subject.
    n_columns : int
    """
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
