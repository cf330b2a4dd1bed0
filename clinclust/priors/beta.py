"""Beta(a, b): the conjugate prior of a probability (Bernoulli, binomial and geometric likelihoods).

Sufficient statistics of a cluster: the sums of each subject's contributions to a and to b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.priors.gamma_functions import log_beta

__all__ = ["NAMES", "log_marginal_gradient", "log_normalizer", "posterior"]

Array = NDArray[np.float64]

NAMES = ("a", "b")


def posterior(prior: Array, statistics: Array) -> Array:
    """Return the posterior (a, b) given sufficient statistics; all arrays have shape (..., 2)."""
    return prior + statistics


def log_normalizer(parameters: Array) -> Array:
    """Return A(a, b) = ln B(a, b), shape (...), of parameters of shape (..., 2)."""
    return log_beta(parameters[..., 0], parameters[..., 1])


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) with respect to (a, b); all arrays have shape (..., 2).

    With psi = (ln Gamma)', dA/da = psi(a) - psi(a + b) and dA/db = psi(b) - psi(a + b).
    """
    from scipy.special import psi

    def slope(parameters: Array) -> Array:
        return np.asarray(psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True)), dtype=np.float64)

    return slope(posterior(prior, statistics)) - slope(prior)
