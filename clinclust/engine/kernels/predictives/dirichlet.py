"""Compiled predictives of categorical features: level probabilities with a Dirichlet prior (`priors.dirichlet`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import subkernel
from clinclust.engine.kernels.predictives.rising_factorial import log_gamma_ratio

__all__ = ["level_predictives", "log_marginal"]

Array = NDArray[np.float64]


@subkernel
def log_marginal(prior: Array, sums: Array, n_levels: int) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A as in `clinclust.priors.conjugate.Dirichlet`."""
    value = total = count = 0.0
    for level in range(n_levels):
        total += prior[level]
        count += sums[level]
        if sums[level] > 0.0:
            value += log_gamma_ratio(prior[level], sums[level])
    return value - log_gamma_ratio(total, count)


@subkernel
def level_predictives(
    prior: Array,
    sums: Array,
    n_levels: int,
    numbers: Array,
    rests: Array,
    left_numbers: Array,
    left_rests: Array,
) -> None:
    """Fill the log predictive of every level of one categorical feature under one cluster.

    The predictive of a level is (concentration + count) / (sum of the concentrations + sum of the counts). The
    arguments are those of `clinclust.engine.kernels.predictives.beta.level_predictives`; prior and sums are float64
    (n_levels,).
    """
    total = 0.0
    for level in range(n_levels):
        total += prior[level] + sums[level]
    for level in range(n_levels):
        weight = prior[level] + sums[level]
        numbers[level] = weight / total
        left_numbers[level] = (weight - 1.0) / (total - 1.0) if sums[level] >= 1.0 else 1.0
        rests[level] = left_rests[level] = 0.0
