"""Dirichlet(concentrations): the prior of the probabilities of L levels (categorical likelihood).

Statistics of a cluster: the number of subjects at each level.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from clinclust.compiled import inlined, subkernel

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
def log_marginal(prior: Array, first_prior: int, last_prior: int, statistics: Array, k: int, first: int) -> float:
    """Return A(posterior) - A(prior) of cluster k: what `log_normalizer` says, for kernels."""
    value = total = count = 0.0
    for level in range(last_prior - first_prior):
        concentration = prior[first_prior + level]
        here = statistics[k, first + level]
        total += concentration
        count += here
        if here > 0.0:
            value += math.lgamma(concentration + here) - math.lgamma(concentration)
    return value + math.lgamma(total) - math.lgamma(total + count)


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) by the concentrations; all arrays have shape (..., L).

    With psi = (ln Gamma)', dA/dc_l = psi(c_l) - psi(sum_l c_l).
    """

    def slope(parameters: Array) -> Array:
        return np.asarray(psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True)), dtype=np.float64)

    return slope(posterior(prior, statistics)) - slope(prior)


@inlined
def level_predictives(
    prior: Array,
    first_prior: int,
    statistics: Array,
    k: int,
    first_statistic: int,
    start: int,
    stop: int,
    predictive: Array,
    left_out: Array,
) -> None:
    """Fill the log predictive of every level of one categorical feature under one cluster.

    Parameters
    ----------
    prior : float64 (H,)
        The concentrations of the L levels stand from `first_prior` on.
    first_prior : int
    statistics : float64 (C, S)
        The subjects of cluster k at each level stand in row k from `first_statistic` on.
    k, first_statistic : int
    start, stop, predictive, left_out
        As in `clinclust.priors.beta.few_trials`.
    """
    total = 0.0
    for level in range(stop - start):
        total += prior[first_prior + level] + statistics[k, first_statistic + level]
    for level in range(stop - start):
        count = statistics[k, first_statistic + level]
        weight = prior[first_prior + level] + count
        predictive[0, start + level] = weight / total
        predictive[1, start + level] = 0.0
        left_out[0, start + level] = (weight - 1.0) / (total - 1.0) if count >= 1.0 else 1.0
        left_out[1, start + level] = 0.0
