"""Compiled predictives of negative binomial features: known dispersion, and a beta prior of the probability.

See `clinclust.priors.conjugate.BetaWithDispersion`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.predictives.beta import log_beta_gain
from clinclust.engine.kernels.predictives.rising_factorial import fill_factors, log_gamma_ratio

__all__ = ["level_predictives", "log_marginal"]

Array = NDArray[np.float64]


@subkernel
def log_marginal(prior: Array, sums: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster: ln B(a + n r, b + sum) - ln B(a, b), with r the dispersion."""
    return log_beta_gain(prior[0], prior[1], prior[2] * sums[0], sums[1])


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
    """Fill, for every level of a negative binomial feature, its log predictive minus that of the level before.

    The predictive of a count x is B(a + r, b + x) / B(a, b) = B(a + r, b) / B(a, b) b^(x) / (a + b + r)^(x) times the
    base measure, with the posterior (a, b), the rising factorial y^(x) = y (y + 1) ... (y + x - 1), and r the
    dispersion. For the cluster without one subject at level x it is B(a, b) / B(a - r, b - x) times the base measure.
    The arguments are those of `clinclust.engine.kernels.likelihood_kernels.fill_levels`, with counts (1, x).
    """
    r, x = prior[2], flat(counts, 1)
    a, b = prior[0] + r * sums[0], prior[1] + sums[1]
    most = sums[1] if sums[0] >= 1.0 else -1.0
    fill_factors(b, 1.0, a + b + r, 1.0, math.inf, x, n_levels, numbers, rests)
    fill_factors(b - 1.0, -1.0, a + b - r - 1.0, -1.0, most, x, n_levels, left_numbers, left_rests)
    rests[0] += log_gamma_ratio(a, r) - log_gamma_ratio(a + b, r)
    if most >= 0.0:
        left_rests[0] += log_gamma_ratio(a - r, r) - log_gamma_ratio(a + b - r, r)
    last = 0.0
    for level in range(n_levels):
        rests[level] += log_base[level] - last
        left_rests[level] += log_base[level] - last
        last = log_base[level]
