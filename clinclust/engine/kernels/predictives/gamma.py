"""Compiled predictives of Poisson and exponential features, whose rate has a gamma prior (`clinclust.priors`)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import subkernel
from clinclust.engine.kernels.predictives.rising_factorial import fill_factors, log_gamma_ratio

__all__ = ["coefficients", "left_out_value", "level_predictives", "log_marginal"]

Array = NDArray[np.float64]


@subkernel
def log_marginal(prior: Array, sums: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A as in `clinclust.priors.conjugate.Gamma`."""
    shape, rate = prior[0], prior[1]
    weights: float = sums[0] * math.log(rate + sums[1]) + shape * math.log1p(sums[1] / rate)
    return log_gamma_ratio(shape, sums[0]) - weights


@subkernel
def level_predictives(
    prior: Array,
    sums: Array,
    counts: Array,
    log_base: Array,
    n_levels: int,
    numbers: Array,
    rests: Array,
    left_numbers: Array,
    left_rests: Array,
) -> None:
    """Fill, for every level of a Poisson feature, its log predictive minus that of the level before.

    The predictive of a count u is Gamma(shape + u) / Gamma(shape) rate^shape / (rate + 1)^(shape + u) times the base
    measure, with the posterior (shape, rate). The arguments are those of
    `clinclust.engine.kernels.likelihood_kernels.fill_levels`, with counts (u, 1): a subject adds its count to the
    shape, and 1 to the rate.
    """
    shape, rate = prior[0] + sums[0], prior[1] + sums[1]
    most = sums[0] if sums[1] >= 1.0 else -1.0
    here, after = math.log(rate), math.log(rate + 1.0)
    before = math.log(rate - 1.0) if sums[1] >= 1.0 else 0.0
    fill_factors(shape, 1.0, 1.0, 0.0, math.inf, counts, n_levels, numbers, rests)
    fill_factors(shape - 1.0, -1.0, 1.0, 0.0, most, counts, n_levels, left_numbers, left_rests)
    rests[0] += shape * (here - after)
    left_rests[0] += shape * (before - here)
    last_count = last_base = 0.0
    for level in range(n_levels):
        more, rise = counts[2 * level] - last_count, log_base[level] - last_base
        rests[level] += rise - more * after
        left_rests[level] += rise - more * before
        last_count, last_base = counts[2 * level], log_base[level]


@subkernel
def coefficients(prior: Array, sums: Array, out: Array, stride: int, left: Array, left_stride: int) -> None:
    """Write the coefficients of an exponential's log predictive under one cluster, as a function of z = sqrt(x).

    The predictive is Lomax, shape' rate'^shape' / (rate' + x)^(shape' + 1), with primes for the posterior.

    Parameters
    ----------
    prior, sums : float64 (2,)
        (shape, rate), and the sufficient statistics of the cluster.
    out : float64, modified in place
        c0 .. c3 of the log predictive c0 - c1 ln(1 + c2 (z - c3)^2), `stride` elements apart.
    stride : int
    left : float64, modified in place
        c0 .. c3 of c0 + c1 ln(1 - c2 (z - c3)^2), the log predictive of z under the cluster without z, `left_stride`
        elements apart. It is A(tau') - A(tau' - T(x)), with tau' the posterior parameters and
        A = ln Gamma(shape) - shape ln rate. `left_out_value` computes the same number.
    left_stride : int
    """
    shape, rate = prior[0] + sums[0], prior[1] + sums[1]
    log_rate = math.log(rate)
    out[0] = math.log(shape) - log_rate
    out[stride] = shape + 1.0
    out[2 * stride] = 1.0 / rate
    out[3 * stride] = 0.0
    rest_shape = max(shape - 1.0, 1e-300)  # bounded for the empty cluster, which has no value to leave out
    left[0] = math.log(rest_shape) - log_rate
    left[left_stride] = rest_shape
    left[2 * left_stride] = 1.0 / rate
    left[3 * left_stride] = 0.0


@subkernel
def left_out_value(prior: Array, sums: Array, z: float) -> float:
    """Return the log predictive of the exponential value x = z^2 under its own cluster without x.

    The sum of the values without x is bounded below by 0, because rounding could make it negative.
    """
    x = z * z
    rest_shape: float = prior[0] + sums[0] - 1.0
    rest_rate: float = prior[1] + max(sums[1] - x, 0.0)
    return math.log(rest_shape) - math.log(rest_rate) - (rest_shape + 1.0) * math.log1p(x / rest_rate)
