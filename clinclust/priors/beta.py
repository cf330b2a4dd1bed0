"""Beta(a, b): the prior of a probability (Bernoulli, binomial and geometric likelihoods).

Statistics of a cluster: the sums of what each subject adds to a and to b.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from clinclust.compiled import subkernel

__all__ = ["NAMES", "level_predictives", "log_normalizer", "posterior"]

Array = NDArray[np.float64]

NAMES = ("a", "b")


def posterior(prior: Array, statistics: Array) -> Array:
    """Return (a, b) after the statistics; both arrays have shape (..., 2)."""
    return prior + statistics


def log_normalizer(parameters: Array) -> Array:
    """Return A(a, b) = ln B(a, b), shape (...), of parameters of shape (..., 2)."""
    return np.asarray(betaln(parameters[..., 0], parameters[..., 1]), dtype=np.float64)


@subkernel
def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


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
    now = _log_beta(a + s, b + t)
    for level in range(level_statistics.shape[0]):
        u = level_statistics[level, 0]
        v = level_statistics[level, 1]
        predictive[level] = level_log_base[level] + _log_beta(a + s + u, b + t + v) - now
        if s >= u and t >= v:
            left_out[level] = level_log_base[level] + now - _log_beta(a + s - u, b + t - v)
        else:
            left_out[level] = 0.0
