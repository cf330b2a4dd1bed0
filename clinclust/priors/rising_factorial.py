"""The rising factorial, from which every predictive of a count or a score is made."""

from __future__ import annotations

import math

from clinclust.compiled import subkernel

__all__ = ["FEW", "HIGH", "LOW", "log_rising"]

FEW = 16.0
"""Up to here multiplying is faster than two logarithms of the gamma function, and keeps more digits."""
HIGH, LOW = 1e100, 1e-100
"""Beyond these a running product is folded into a logarithm; sixteen more factors leave it a number."""


@subkernel
def log_rising(x: float, n: float) -> float:
    """Return ln [x (x + 1) ... (x + n - 1)] = ln Gamma(x + n) - ln Gamma(x) for x > 0 and whole n >= 0."""
    if n > FEW:
        return math.lgamma(x + n) - math.lgamma(x)
    product = 1.0
    for j in range(int(n)):
        product *= x + j
    return math.log(product)
