"""The rising factorial, from which every predictive of a count or a score is made."""

from __future__ import annotations

import math

from clinclust.compiled import subkernel

__all__ = ["log_rising"]

# Up to here multiplying is faster than two logarithms of the gamma function, and keeps more digits.
_FEW = 16.0


@subkernel
def log_rising(x: float, n: float) -> float:
    """Return ln [x (x + 1) ... (x + n - 1)] = ln Gamma(x + n) - ln Gamma(x) for x > 0 and whole n >= 0."""
    if n > _FEW:
        return math.lgamma(x + n) - math.lgamma(x)
    product = 1.0
    for j in range(int(n)):
        product *= x + j
    return math.log(product)
