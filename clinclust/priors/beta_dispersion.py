"""Beta(a, b) with a known dispersion: the conjugate prior of the probability of a negative binomial likelihood.

Sufficient statistics of a cluster: (n, sum of the counts). Each subject adds the dispersion to a, and its count to b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.priors.gamma_functions import log_beta

__all__ = ["NAMES", "log_marginal_gradient", "log_normalizer", "posterior"]

Array = NDArray[np.float64]

NAMES = ("a", "b", "dispersion")


def posterior(prior: Array, statistics: Array) -> Array:
    """Return the posterior (a + n dispersion, b + sum, dispersion), shape (..., 3).

    The prior has shape (..., 3), the statistics (..., 2).
    """
    a, b, dispersion = (prior[..., index] for index in range(3))
    n, total = statistics[..., 0], statistics[..., 1]
    after = a + n * dispersion, b + total, np.broadcast_to(dispersion, np.shape(a + n))
    return np.stack(after, axis=-1)


def log_normalizer(parameters: Array) -> Array:
    """Return A(a, b) = ln B(a, b), shape (...), of parameters of shape (..., 3)."""
    return log_beta(parameters[..., 0], parameters[..., 1])


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) with respect to (a, b, dispersion), shape (..., 3).

    With primes for the posterior and psi = (ln Gamma)', the derivatives are:

        by a            psi(a') - psi(a' + b') - psi(a) + psi(a + b)
        by b            psi(b') - psi(a' + b') - psi(b) + psi(a + b)
        by dispersion   n [psi(a') - psi(a' + b')]
    """
    from scipy.special import psi

    after = posterior(prior, statistics)
    slope = psi(after[..., :2]) - psi(after[..., :2].sum(axis=-1, keepdims=True))
    before = psi(prior[..., :2]) - psi(prior[..., :2].sum(axis=-1, keepdims=True))
    by_dispersion = statistics[..., 0] * slope[..., 0]
    return np.concatenate([slope - before, by_dispersion[..., None]], axis=-1)
