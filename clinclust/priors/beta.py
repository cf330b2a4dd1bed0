"""Beta(a, b): the prior of a probability (Bernoulli, binomial and geometric likelihoods).

Statistics of a cluster: the sums of what each subject adds to a and to b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, psi

from clinclust.compiled import subkernel
from clinclust.priors.rising_factorial import log_rising

__all__ = ["NAMES", "level_predictives", "log_marginal_gradient", "log_normalizer", "posterior"]

Array = NDArray[np.float64]

NAMES = ("a", "b")


def posterior(prior: Array, statistics: Array) -> Array:
    """Return (a, b) after the statistics; both arrays have shape (..., 2)."""
    return prior + statistics


def log_normalizer(parameters: Array) -> Array:
    """Return A(a, b) = ln B(a, b), shape (...), of parameters of shape (..., 2)."""
    return np.asarray(betaln(parameters[..., 0], parameters[..., 1]), dtype=np.float64)


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) by (a, b); all arrays have shape (..., 2).

    With psi = (ln Gamma)', dA/da = psi(a) - psi(a + b).
    """

    def slope(parameters: Array) -> Array:
        return np.asarray(psi(parameters) - psi(parameters.sum(axis=-1, keepdims=True)), dtype=np.float64)

    return slope(posterior(prior, statistics)) - slope(prior)


@subkernel
def level_predictives(
    a: float,
    b: float,
    s: float,
    t: float,
    level_statistics: Array,
    level_log_base: Array,
    predictive: Array,
    left_out: Array,
) -> None:
    """Fill the log predictive of every level of one feature under one cluster.

    Parameters
    ----------
    a, b : float
        Hyperparameters.
    s, t : float
        The cluster's statistics.
    level_statistics : float64 (L, 2)
        What one subject at each level adds to (a, b).
    level_log_base : float64 (L,)
        Log base measure of each level.
    predictive : float64 (L,), modified in place
        log p(level | cluster).
    left_out : float64 (L,), modified in place
        log p(level | cluster without one subject at that level); 0 where the cluster cannot hold such a subject.
    """
    a += s
    b += t
    total = above = below = 0.0
    for level in range(level_statistics.shape[0]):
        u = level_statistics[level, 0]
        v = level_statistics[level, 1]
        if u + v != total:  # the same at every level of a binomial
            total = u + v
            above = log_rising(a + b, total)
            below = log_rising(a + b - total, total) if s + t >= total else 0.0
        predictive[level] = level_log_base[level] + log_rising(a, u) + log_rising(b, v) - above
        left_out[level] = 0.0
        if s >= u and t >= v:
            left_out[level] = level_log_base[level] + log_rising(a - u, u) + log_rising(b - v, v) - below
