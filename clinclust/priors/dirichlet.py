"""Dirichlet(concentrations): the conjugate prior of the probabilities of L levels (categorical likelihood).

Sufficient statistics of a cluster: the number of subjects at each level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NAMES", "log_marginal_gradient", "log_normalizer", "posterior"]

Array = NDArray[np.float64]

NAMES = ("concentrations",)


def posterior(prior: Array, statistics: Array) -> Array:
    """Return the posterior concentrations given sufficient statistics; all arrays have shape (..., L)."""
    return prior + statistics


def log_normalizer(parameters: Array) -> Array:
    """Return A = sum_l ln Gamma(c_l) - ln Gamma(sum_l c_l), shape (...), of concentrations of shape (..., L)."""
    from scipy.special import gammaln

    return np.asarray(gammaln(parameters).sum(axis=-1) - gammaln(parameters.sum(axis=-1)), dtype=np.float64)


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) with respect to the concentrations; all shapes are (..., L).

    With psi = (ln Gamma)', dA/dc_l = psi(c_l) - psi(sum_l c_l).
    """
    from scipy.special import psi

    def slope(parameters: Array) -> Array:
        return np.asarray(psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True)), dtype=np.float64)

    return slope(posterior(prior, statistics)) - slope(prior)
