"""Compiled predictives of Gaussian features, with a normal-gamma prior (`clinclust.priors.conjugate`)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import subkernel
from clinclust.engine.kernels.predictives.rising_factorial import log_gamma_ratio

__all__ = ["coefficients", "left_out_value", "log_marginal"]

Array = NDArray[np.float64]


@subkernel
def log_marginal(prior: Array, sums: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A as in `clinclust.priors.conjugate.NormalGamma`."""
    kappa, shape, rate, n = prior[1], prior[2], prior[3], sums[0]
    more = _rise_of_rate(prior, n, sums[1], sums[2])
    weights: float = 0.5 * n * math.log(rate + more) + shape * math.log1p(more / rate) + 0.5 * math.log1p(n / kappa)
    return log_gamma_ratio(shape, 0.5 * n) - weights


@subkernel
def _posterior(prior: Array, n: float, total: float, squares: float) -> tuple[float, float, float, float]:
    """Return the posterior (mean, kappa, shape, rate), as `clinclust.priors.conjugate.NormalGamma.posterior` does."""
    mean, kappa = prior[0], prior[1]
    rate = prior[3] + _rise_of_rate(prior, n, total, squares)
    return (kappa * mean + total) / (kappa + n), kappa + n, prior[2] + 0.5 * n, rate


@subkernel
def _rise_of_rate(prior: Array, n: float, total: float, squares: float) -> float:
    """Return the posterior rate minus the prior rate."""
    mean, kappa = prior[0], prior[1]
    average = total / n if n > 0.0 else 0.0
    scatter = max(squares - total * average, 0.0)
    apart = average - mean
    rise: float = 0.5 * scatter + 0.5 * kappa * n * apart * apart / (kappa + n)
    return rise


@subkernel
def coefficients(prior: Array, sums: Array, out: Array, stride: int, left: Array, left_stride: int) -> None:
    """Write the coefficients of the log predictives of a Gaussian feature under one cluster.

    The predictive is Student's t with 2 shape' degrees of freedom (Raykov, Boukouvalas and Little 2014, eq. 11), with
    primes for the posterior. For the cluster without z, the rate is smaller by kappa' (z - mean')^2 / (2 (kappa' - 1)).
    `left_out_value` computes the same log predictive from sums without z, and is accurate even if the remaining rate is
    very small. The arguments are those of `clinclust.engine.kernels.predictives.gamma.coefficients`, with prior float64
    (4,), sums float64 (3,), and A = ln Gamma(shape) - shape ln rate - ln(kappa) / 2.
    """
    mean, kappa, shape, rate = _posterior(prior, sums[0], sums[1], sums[2])
    precision = kappa / (2.0 * rate * (kappa + 1.0))
    out[0] = log_gamma_ratio(shape, 0.5) + 0.5 * math.log(precision / math.pi)
    out[stride] = shape + 0.5
    out[2 * stride] = precision
    out[3 * stride] = mean
    rest = max(kappa - 1.0, 1e-300)  # bounded for the empty cluster, which has no value to leave out
    left[0] = log_gamma_ratio(max(shape - 0.5, 1e-300), 0.5) + 0.5 * math.log(rest / (2.0 * math.pi * rate * kappa))
    left[left_stride] = shape - 0.5
    left[2 * left_stride] = 0.5 * kappa / (rest * rate)
    left[3 * left_stride] = mean


@subkernel
def left_out_value(prior: Array, sums: Array, z: float) -> float:
    """Return the log predictive of the standardised value z under its own cluster without z."""
    mean, kappa, shape, rate = _posterior(prior, sums[0] - 1.0, sums[1] - z, sums[2] - z * z)
    precision = kappa / (2.0 * rate * (kappa + 1.0))
    log_density = log_gamma_ratio(shape, 0.5) + 0.5 * math.log(precision / math.pi)
    return log_density - (shape + 0.5) * math.log1p(precision * (z - mean) * (z - mean))
