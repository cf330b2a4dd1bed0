"""Draws of the concentration N0 given a partition, under the gamma hyperprior of `clinclust.engine.joint_estimates`.

The density of u = ln N0 is that of Raykov et al. (2016, eq. 35) with one more factor N0, as in Rasmussen (2000). It is
log-concave, and is drawn from by slice sampling with stepping out (Neal 2003, Annals of Statistics 31, 705-767), which
leaves it as it is whatever the width of the steps; with a discount as well, where the auxiliary variable of Escobar and
West (1995) is not known.
"""

from __future__ import annotations

import math

import numpy as np

from clinclust.engine.joint_estimates.concentration import log_concentration_hyperprior
from clinclust.priors.conjugate import log_gamma_ratio

__all__ = ["draw_concentration"]

_WIDTH = 1.0
_LEAST, _MOST = math.log(1e-12), math.log(1e12)
"""Bounds of u. Beyond them the log joint has fewer digits, and the hyperprior practically no mass."""


def draw_concentration(
    concentration: float, n_subjects: int, n_clusters: int, discount: float, rng: np.random.Generator
) -> float:
    """Return the next concentration of a chain that is at `concentration`, with this number of clusters."""
    at = math.log(concentration)
    level = _log_density(at, n_subjects, n_clusters, discount) + math.log1p(-rng.random())
    low = at - _WIDTH * rng.random()
    high = low + _WIDTH
    while low > _LEAST and _log_density(low, n_subjects, n_clusters, discount) > level:
        low -= _WIDTH
    while high < _MOST and _log_density(high, n_subjects, n_clusters, discount) > level:
        high += _WIDTH
    low, high = max(low, _LEAST), min(high, _MOST)
    while True:
        drawn = low + (high - low) * rng.random()
        if _log_density(drawn, n_subjects, n_clusters, discount) >= level:
            return math.exp(drawn)
        low, high = (drawn, high) if drawn < at else (low, drawn)


def _log_density(u: float, n_subjects: int, n_clusters: int, discount: float) -> float:
    """Return ln p(u | N, K) up to a constant: the terms of the log joint that depend on N0, and the log hyperprior."""
    concentration = math.exp(u)
    opened = float(np.log(concentration + discount * np.arange(n_clusters)).sum())
    seated = float(log_gamma_ratio(concentration, n_subjects))
    return opened - seated + log_concentration_hyperprior(concentration)
