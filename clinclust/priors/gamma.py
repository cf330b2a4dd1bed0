"""Gamma(shape, rate): the conjugate prior of a rate (Poisson and exponential likelihoods).

Sufficient statistics of a cluster: the sums of each subject's contributions to the shape and to the rate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NAMES", "log_marginal_gradient", "log_normalizer", "posterior"]

Array = NDArray[np.float64]

NAMES = ("shape", "rate")


def posterior(prior: Array, statistics: Array) -> Array:
    """Return the posterior (shape, rate) given sufficient statistics; all arrays have shape (..., 2)."""
    return prior + statistics


def log_normalizer(parameters: Array) -> Array:
    """Return A(shape, rate) = ln Gamma(shape) - shape ln rate, shape (...), of parameters of shape (..., 2)."""
    from scipy.special import gammaln

    shape, rate = parameters[..., 0], parameters[..., 1]
    return np.asarray(gammaln(shape) - shape * np.log(rate), dtype=np.float64)


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) with respect to (shape, rate); all shapes are (..., 2).

    With psi = (ln Gamma)', dA/dshape = psi(shape) - ln rate and dA/drate = -shape / rate.
    """
    from scipy.special import psi

    def slope(parameters: Array) -> Array:
        shape, rate = parameters[..., 0], parameters[..., 1]
        return np.stack([psi(shape) - np.log(rate), -shape / rate], axis=-1)

    return np.asarray(slope(posterior(prior, statistics)) - slope(prior), dtype=np.float64)
