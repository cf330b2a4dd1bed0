"""Normal-Gamma(mean, kappa, shape, rate): the prior of a Gaussian's mean and precision.

    precision ~ Gamma(shape, rate),   mean of the feature | precision ~ Normal(mean, 1 / (kappa precision))

Statistics of a cluster: (n, sum of the values, sum of their squares). Values are standardised before they come here
(`clinclust.engine.encoding`), which keeps the sum of squares exact enough.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from clinclust.compiled import inlined, subkernel

__all__ = [
    "NAMES",
    "coefficients",
    "left_out_value",
    "log_marginal",
    "log_marginal_gradient",
    "log_normalizer",
    "posterior",
]

Array = NDArray[np.float64]

NAMES = ("mean", "kappa", "shape", "rate")


def posterior(prior: Array, statistics: Array) -> Array:
    """Return (mean, kappa, shape, rate) after the statistics (Raykov, Boukouvalas and Little 2014, eq. 13).

    Parameters
    ----------
    prior : float64 (..., 4)
    statistics : float64 (..., 3)
        n, sum of values, sum of squared values.
    """
    mean, kappa, shape, rate = (prior[..., index] for index in range(4))
    n, total, squares = (statistics[..., index] for index in range(3))
    average = total / np.maximum(n, 1.0)
    scatter = np.maximum(squares - total * average, 0.0)
    return np.stack(
        [
            (kappa * mean + total) / (kappa + n),
            kappa + n,
            shape + 0.5 * n,
            rate + 0.5 * scatter + 0.5 * kappa * n * (average - mean) ** 2 / (kappa + n),
        ],
        axis=-1,
    )


def log_normalizer(parameters: Array) -> Array:
    """Return A = ln Gamma(shape) - shape ln rate - (1/2) ln kappa, shape (...), of parameters (..., 4).

    The factors of 2 pi belong to the base measure of the values.
    """
    kappa, shape, rate = (parameters[..., index] for index in (1, 2, 3))
    return np.asarray(gammaln(shape) - shape * np.log(rate) - 0.5 * np.log(kappa), dtype=np.float64)


@subkernel
def log_marginal(mean: float, kappa: float, shape: float, rate: float, n: float, total: float, squares: float) -> float:
    """Return A(posterior) - A(prior) of one cluster: what `log_normalizer` says, for kernels."""
    average = total / n if n > 0.0 else 0.0
    scatter = max(squares - total * average, 0.0)
    rate_n = rate + 0.5 * scatter + 0.5 * kappa * n * (average - mean) ** 2 / (kappa + n)
    after = math.lgamma(shape + 0.5 * n) - (shape + 0.5 * n) * math.log(rate_n) - 0.5 * math.log(kappa + n)
    return after - (math.lgamma(shape) - shape * math.log(rate) - 0.5 * math.log(kappa))


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) by (mean, kappa, shape, rate), shape (..., 4).

    With primes for the posterior, x for the average of the values and psi = (ln Gamma)':

        by mean    (shape' / rate') kappa n (x - mean) / kappa'
        by kappa   -(shape' / rate') n^2 (x - mean)^2 / (2 kappa'^2) - 1 / (2 kappa') + 1 / (2 kappa)
        by shape   psi(shape') - ln rate' - psi(shape) + ln rate
        by rate    shape / rate - shape' / rate'

    Parameters
    ----------
    prior : float64 (..., 4)
    statistics : float64 (..., 3)
        n, sum of values, sum of squared values.
    """
    after = posterior(prior, statistics)
    mean, kappa, shape, rate = (prior[..., index] for index in range(4))
    kappa_n, shape_n, rate_n = (after[..., index] for index in (1, 2, 3))
    n, total = statistics[..., 0], statistics[..., 1]
    distance = total / np.maximum(n, 1.0) - mean
    precision = shape_n / rate_n
    return np.stack(
        [
            precision * kappa * n * distance / kappa_n,
            -0.5 * precision * (n * distance / kappa_n) ** 2 - 0.5 / kappa_n + 0.5 / kappa,
            psi(shape_n) - np.log(rate_n) - psi(shape) + np.log(rate),
            shape / rate - precision,
        ],
        axis=-1,
    )


@inlined
def _student(
    mean: float,
    kappa: float,
    shape: float,
    rate: float,
    n: float,
    total: float,
    squares: float,
    gamma_ratio: float,
    out: Array,
) -> None:
    average = total / n if n > 0.0 else 0.0
    scatter = max(squares - total * average, 0.0)
    kappa_n = kappa + n
    rate_n = rate + 0.5 * scatter + 0.5 * kappa * n * (average - mean) ** 2 / kappa_n
    precision = kappa_n / (2.0 * rate_n * (kappa_n + 1.0))
    out[0] = gamma_ratio + 0.5 * math.log(precision / math.pi)
    out[1] = shape + 0.5 * n + 0.5
    out[2] = precision
    out[3] = (kappa * mean + total) / kappa_n


@inlined
def coefficients(
    mean: float, kappa: float, shape: float, rate: float, n: float, total: float, squares: float, out: Array
) -> None:
    """Write c of one Gaussian feature's log predictive c0 - c1 log1p(c2 (z - c3)^2) under one cluster to `out` (4,).

    It is Student's t with 2 shape' degrees of freedom (Raykov, Boukouvalas and Little 2014, eq. 11).
    """
    shape_n = shape + 0.5 * n
    _student(mean, kappa, shape, rate, n, total, squares, math.lgamma(shape_n + 0.5) - math.lgamma(shape_n), out)


@inlined
def left_out_coefficients(
    mean: float, kappa: float, shape: float, rate: float, n: float, total: float, squares: float, out: Array
) -> None:
    """Write c of c0 + c1 ln(1 - c2 (z - c3)^2), the log predictive of z without itself, to `out` (4,).

    A(tau') - A(tau' - T(z)) with A = ln Gamma(shape) - shape ln rate - ln(kappa) / 2: without z the rate falls by
    kappa' (z - mean')^2 / (2 (kappa' - 1)). `left_out_value` is the same, computed from sums without z, and right
    even where hardly anything is left of the rate.
    """
    shape_n = shape + 0.5 * n
    kappa_n = kappa + n
    _student(mean, kappa, shape, rate, n, total, squares, 0.0, out)
    # out[2] = kappa' / (2 rate' (kappa' + 1))
    rate_n = kappa_n / (2.0 * out[2] * (kappa_n + 1.0))
    left = max(kappa_n - 1.0, 1e-300)  # of an empty cluster, which leaves nobody out
    out[0] = math.lgamma(shape_n) - math.lgamma(max(shape_n - 0.5, 1e-300)) - 0.5 * math.log(2.0 * math.pi * rate_n)
    out[0] += 0.5 * math.log(left / kappa_n)
    out[1] = shape_n - 0.5
    out[2] = 0.5 * kappa_n / (left * rate_n)


@subkernel
def left_out_value(
    mean: float,
    kappa: float,
    shape: float,
    rate: float,
    n: float,
    total: float,
    squares: float,
    z: float,
    work: Array,
) -> float:
    """Return the log predictive of the standardised value z under its own cluster without it.

    `work` is float64 (4,), overwritten.
    """
    shape_n = shape + 0.5 * n
    gamma_ratio = math.lgamma(shape_n) - math.lgamma(shape_n - 0.5)
    _student(mean, kappa, shape, rate, n - 1.0, total - z, squares - z * z, gamma_ratio, work)
    return float(work[0] - work[1] * math.log1p(work[2] * (z - work[3]) ** 2))
