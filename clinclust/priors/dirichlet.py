"""Dirichlet(concentrations): the prior of the probabilities of L levels (categorical likelihood).

Statistics of a cluster: the number of subjects at each level.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from clinclust.compiled import subkernel

__all__ = ["NAMES", "level_predictives", "log_marginal", "log_marginal_gradient", "log_normalizer", "posterior"]

Array = NDArray[np.float64]

NAMES = ("concentrations",)


def posterior(prior: Array, statistics: Array) -> Array:
    """Return the concentrations after the statistics; both arrays have shape (..., L)."""
    return prior + statistics


def log_normalizer(parameters: Array) -> Array:
    """Return A = sum_l ln Gamma(c_l) - ln Gamma(sum_l c_l), shape (...), of concentrations of shape (..., L)."""
    return np.asarray(gammaln(parameters).sum(axis=-1) - gammaln(parameters.sum(axis=-1)), dtype=np.float64)


@subkernel
def log_marginal(prior: Array, sums: Array, n_levels: int) -> float:
    """Return A(posterior) - A(prior) of one cluster: what `log_normalizer` says, for kernels."""
    value = total = count = 0.0
    for level in range(n_levels):
        total += prior[level]
        count += sums[level]
        if sums[level] > 0.0:
            value += math.lgamma(prior[level] + sums[level]) - math.lgamma(prior[level])
    return value + math.lgamma(total) - math.lgamma(total + count)


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) by the concentrations; all arrays have shape (..., L).

    With psi = (ln Gamma)', dA/dc_l = psi(c_l) - psi(sum_l c_l).
    """

    def slope(parameters: Array) -> Array:
        return np.asarray(psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True)), dtype=np.float64)

    return slope(posterior(prior, statistics)) - slope(prior)


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

    The arguments are those of `clinclust.priors.beta.level_predictives`; prior and sums are float64 (n_levels,).
    """
    total = 0.0
    for level in range(n_levels):
        total += prior[level] + sums[level]
    for level in range(n_levels):
        weight = prior[level] + sums[level]
        numbers[level] = weight / total
        left_numbers[level] = (weight - 1.0) / (total - 1.0) if sums[level] >= 1.0 else 1.0
        rests[level] = left_rests[level] = 0.0
