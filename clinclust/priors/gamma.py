"""Gamma(shape, rate): the prior of a rate (Poisson and exponential likelihoods).

Statistics of a cluster: the sums of what each subject adds to the shape and to the rate.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from clinclust.compiled import inlined, subkernel
from clinclust.priors.rising_factorial import FEW, HIGH, log_rising

__all__ = [
    "NAMES",
    "coefficients",
    "left_out_value",
    "level_predictives",
    "log_marginal",
    "log_marginal_gradient",
    "log_normalizer",
    "posterior",
]

Array = NDArray[np.float64]

NAMES = ("shape", "rate")


def posterior(prior: Array, statistics: Array) -> Array:
    """Return (shape, rate) after the statistics; both arrays have shape (..., 2)."""
    return prior + statistics


def log_normalizer(parameters: Array) -> Array:
    """Return A(shape, rate) = ln Gamma(shape) - shape ln rate, shape (...), of parameters of shape (..., 2)."""
    shape, rate = parameters[..., 0], parameters[..., 1]
    return np.asarray(gammaln(shape) - shape * np.log(rate), dtype=np.float64)


@subkernel
def log_marginal(shape: float, rate: float, s: float, t: float) -> float:
    """Return A(posterior) - A(prior) of one cluster: what `log_normalizer` says, for kernels."""
    after = math.lgamma(shape + s) - (shape + s) * math.log(rate + t)
    return after - (math.lgamma(shape) - shape * math.log(rate))


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) by (shape, rate); all arrays have shape (..., 2).

    With psi = (ln Gamma)', dA/dshape = psi(shape) - ln rate and dA/drate = -shape / rate.
    """

    def slope(parameters: Array) -> Array:
        shape, rate = parameters[..., 0], parameters[..., 1]
        return np.stack([psi(shape) - np.log(rate), -shape / rate], axis=-1)

    return np.asarray(slope(posterior(prior, statistics)) - slope(prior), dtype=np.float64)


@inlined
def level_predictives(
    shape: float,
    rate: float,
    s: float,
    t: float,
    start: int,
    stop: int,
    level_statistics: Array,
    level_log_base: Array,
    predictive: Array,
    left_out: Array,
) -> None:
    """Fill the log predictive of every level of one count feature under one cluster.

    The arguments are those of `clinclust.priors.beta.few_trials`, with (shape, rate) for (a, b). A subject
    adds its count to the shape and 1 to the rate; levels ascend, so that one rising factorial continues the last.
    """
    shape += s
    rate += t
    log_rate = math.log(rate)
    log_rate_after = math.log(rate + 1.0)
    log_rate_before = math.log(rate - 1.0) if t >= 1.0 else 0.0
    here = without = 1.0
    folded = folded_without = last = 0.0
    for row in range(start, stop):
        u = level_statistics[row, 0]
        holds = s >= u and t >= 1.0
        if u - last > FEW:
            folded += log_rising(shape + last, u - last)
            if holds:
                folded_without += log_rising(shape - u, u - last)
        else:
            for j in range(int(last), int(u)):
                here *= shape + j
                if holds:
                    without *= shape - 1.0 - j
        if here > HIGH:
            folded += math.log(here)
            here = 1.0
        if holds and without > HIGH:
            folded_without += math.log(without)
            without = 1.0
        last = u
        predictive[0, row] = here
        predictive[1, row] = level_log_base[row] + folded + shape * log_rate - (shape + u) * log_rate_after
        left_out[0, row] = 1.0
        left_out[1, row] = 0.0
        if holds:
            left_out[0, row] = without
            left_out[1, row] = level_log_base[row] + folded_without
            left_out[1, row] += (shape - u) * log_rate_before - shape * log_rate


@inlined
def coefficients(shape: float, rate: float, s: float, t: float, out: Array) -> None:
    """Write c of the exponential's log predictive c0 - c1 log1p(c2 (z - c3)^2) at z = sqrt(x) to `out` (4,).

    The predictive is Lomax: shape' rate'^shape' / (rate' + x)^(shape' + 1).
    """
    out[0] = math.log(shape + s) - math.log(rate + t)
    out[1] = shape + s + 1.0
    out[2] = 1.0 / (rate + t)
    out[3] = 0.0


@inlined
def left_out_coefficients(shape: float, rate: float, s: float, t: float, out: Array) -> None:
    """Write c of c0 + c1 ln(1 - c2 (z - c3)^2), the log predictive of z without itself, to `out` (4,).

    A(tau') - A(tau' - T(x)) with A = ln Gamma(shape) - shape ln rate; `left_out_value` is the same.
    """
    rest_shape = max(shape + s - 1.0, 1e-300)  # of an empty cluster, which leaves nobody out
    out[0] = math.log(rest_shape) - math.log(rate + t)
    out[1] = rest_shape
    out[2] = 1.0 / (rate + t)
    out[3] = 0.0


@subkernel
def left_out_value(shape: float, rate: float, s: float, t: float, z: float) -> float:
    """Return the log predictive of the exponential value x = z^2 under its own cluster without it.

    What is left of the rate is a sum of values without one of them, and may fall below 0 by rounding alone.
    """
    x = z * z
    rest_shape = shape + s - 1.0
    rest_rate = rate + max(t - x, 0.0)
    return math.log(rest_shape) - math.log(rest_rate) - (rest_shape + 1.0) * math.log1p(x / rest_rate)
