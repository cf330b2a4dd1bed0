"""Compiled predictives of counts and durations, whose rate has a gamma prior (`clinclust.priors.gamma`)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import subkernel
from clinclust.engine.kernels.predictives.rising_factorial import fill_factors

__all__ = ["coefficients", "left_out_value", "level_predictives", "log_marginal"]

Array = NDArray[np.float64]


@subkernel
def log_marginal(prior: Array, sums: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster: what `log_normalizer` of the prior says, for kernels."""
    shape, rate = prior[0], prior[1]
    before: float = math.lgamma(shape) - shape * math.log(rate)
    after: float = math.lgamma(shape + sums[0]) - (shape + sums[0]) * math.log(rate + sums[1])
    return after - before


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
    """Fill the log predictive of every level of one count feature under one cluster, less that of the level before.

    Gamma(shape + u) / Gamma(shape) rate^shape / (rate + 1)^(shape + u). The arguments are those of
    `clinclust.engine.kernels.predictives.beta.level_predictives`, with (shape, rate) for (a, b); a subject adds its
    count u to the shape, and 1 to the rate.
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
    """Write what an exponential's log predictive under one cluster is made of, as a function of z = sqrt(x).

    The predictive is Lomax: shape' rate'^shape' / (rate' + x)^(shape' + 1).

    Parameters
    ----------
    prior, sums : float64 (2,)
    out : float64, modified in place
        c0 .. c3 of c0 - c1 ln(1 + c2 (z - c3)^2), `stride` apart.
    stride : int
    left : float64, modified in place
        c0 .. c3 of c0 + c1 ln(1 - c2 (z - c3)^2), the log predictive of z without itself, `left_stride` apart:
        A(tau') - A(tau' - T(x)) with A = ln Gamma(shape) - shape ln rate. `left_out_value` is the same.
    left_stride : int
    """
    shape, rate = prior[0] + sums[0], prior[1] + sums[1]
    log_rate = math.log(rate)
    out[0] = math.log(shape) - log_rate
    out[stride] = shape + 1.0
    out[2 * stride] = 1.0 / rate
    out[3 * stride] = 0.0
    rest_shape = max(shape - 1.0, 1e-300)  # of an empty cluster, which leaves nobody out
    left[0] = math.log(rest_shape) - log_rate
    left[left_stride] = rest_shape
    left[2 * left_stride] = 1.0 / rate
    left[3 * left_stride] = 0.0


@subkernel
def left_out_value(prior: Array, sums: Array, z: float) -> float:
    """Return the log predictive of the exponential value x = z^2 under its own cluster without it.

    What is left of the rate is a sum of values without one of them, and may fall below 0 by rounding alone.
    """
    x = z * z
    rest_shape: float = prior[0] + sums[0] - 1.0
    rest_rate: float = prior[1] + max(sums[1] - x, 0.0)
    return math.log(rest_shape) - math.log(rest_rate) - (rest_shape + 1.0) * math.log1p(x / rest_rate)
