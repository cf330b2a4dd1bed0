"""Dirichlet(concentrations): the prior of the probabilities of L levels (categorical likelihood).

Statistics of a cluster: the number of subjects at each level.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from clinclust.compiled import subkernel

__all__ = ["NAMES", "level_predictives", "log_marginal_gradient", "log_normalizer", "posterior"]

Array = NDArray[np.float64]

NAMES = ("concentrations",)


def posterior(prior: Array, statistics: Array) -> Array:
    """Return the concentrations after the statistics; both arrays have shape (..., L)."""
    return prior + statistics


def log_normalizer(parameters: Array) -> Array:
    """Return A = sum_l ln Gamma(c_l) - ln Gamma(sum_l c_l), shape (...), of concentrations of shape (..., L)."""
    return np.asarray(gammaln(parameters).sum(axis=-1) - gammaln(parameters.sum(axis=-1)), dtype=np.float64)


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) by the concentrations; all arrays have shape (..., L).

    With psi = (ln Gamma)', dA/dc_l = psi(c_l) - psi(sum_l c_l).
    """

    def slope(parameters: Array) -> Array:
        return np.asarray(psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True)), dtype=np.float64)

    return slope(posterior(prior, statistics)) - slope(prior)


@subkernel
def level_predictives(concentrations: Array, counts: Array, predictive: Array, left_out: Array) -> None:
    """Fill the log predictive of every level of one categorical feature under one cluster.

    Parameters
    ----------
    concentrations : float64 (L,)
        Hyperparameters.
    counts : float64 (L,)
        The cluster's subjects at each level.
    predictive, left_out : float64 (L,), modified in place
        As in `clinclust.priors.beta.level_predictives`.
    """
    total = 0.0
    for level in range(counts.shape[0]):
        total += concentrations[level] + counts[level]
    log_total = math.log(total)
    log_total_left_out = math.log(total - 1.0) if total > 1.0 else 0.0
    for level in range(counts.shape[0]):
        predictive[level] = math.log(concentrations[level] + counts[level]) - log_total
        if counts[level] >= 1.0:
            left_out[level] = math.log(concentrations[level] + counts[level] - 1.0) - log_total_left_out
        else:
            left_out[level] = 0.0
