"""The most probable concentration N0 given a partition, under a gamma hyperprior.

Raykov et al. (2016, appendix G, eq. 35): with N0 ~ Gamma(a, b), given K clusters of N subjects,

    p(N0 | N, K) is proportional to Gamma(N0) / Gamma(N0 + N) N0^(K + a - 1) exp(-b N0).

As in the paper, the mode is found in u = ln N0. The density maximised here is the density of u, which has one more
factor N0, as in Rasmussen (2000), the paper's source. This density is log-concave, and its mode is above 0 for every K.
The mode of eq. 35 itself is at 0 for K = 1 and a = 1. With a discount, N0^K becomes the product of N0 + j discount over
j = 0 .. K - 1.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import polygamma, psi

__all__ = ["DEFAULT", "concentration_mode", "log_concentration_hyperprior"]

DEFAULT = 3.0
"""The default concentration, which is the mean of the hyperprior."""
_SHAPE, _RATE = 1.0, 1.0 / DEFAULT
"""Shape a and rate b of the gamma hyperprior, an exponential distribution with mean 3. It weighs as one cluster."""
_MOST_STEPS = 200


def log_concentration_hyperprior(concentration: float) -> float:
    """Return the log density of ln N0 under the hyperprior, a ln b - ln Gamma(a) + a ln N0 - b N0."""
    return _SHAPE * math.log(_RATE) - math.lgamma(_SHAPE) + _SHAPE * math.log(concentration) - _RATE * concentration


def concentration_mode(n_subjects: int, n_clusters: int, discount: float = 0.0) -> float:
    """Return the N0 at the mode of p(ln N0 | N, K), found by Newton's method.

    Let f be the log density of u, and let sums run over j = 1 .. K - 1:

        f'(u) = 1 + a + N0 [sum 1 / (N0 + j discount) + psi(N0) - psi(N0 + N) - b]
        f''(u) = f'(u) - (1 + a) + N0^2 [psi'(N0) - psi'(N0 + N) - sum 1 / (N0 + j discount)^2].

    An interval is kept in which f' changes its sign. A Newton step that would leave it is replaced by a bisection step.
    """
    seats = discount * np.arange(1, n_clusters)
    low, high = math.log(1e-12), math.log(1e12)
    u = math.log(DEFAULT)
    for _ in range(_MOST_STEPS):
        concentration = math.exp(u)
        first = concentration * (
            float((1.0 / (concentration + seats)).sum())
            + float(psi(concentration) - psi(concentration + n_subjects))
            - _RATE
        )
        second = first + concentration**2 * (
            float(polygamma(1, concentration) - polygamma(1, concentration + n_subjects))
            - float((1.0 / (concentration + seats) ** 2).sum())
        )
        slope = 1.0 + _SHAPE + first
        if slope > 0.0:
            low = u
        else:
            high = u
        target = u - slope / second if second < 0.0 else math.nan
        if not low < target < high:
            target = 0.5 * (low + high)
        if abs(target - u) <= 1e-12:
            break
        u = target
    return math.exp(u)
