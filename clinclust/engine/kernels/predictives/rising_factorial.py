"""Rising and falling factorials, of which every predictive of a count or a score is made."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import subkernel

__all__ = ["FEW", "fill_factors", "log_rising"]

Array = NDArray[np.float64]

FEW = 16.0
"""Up to here multiplying is faster than two logarithms of the gamma function, and keeps more digits."""


@subkernel
def log_rising(x: float, n: float) -> float:
    """Return ln [x (x + 1) ... (x + n - 1)] = ln Gamma(x + n) - ln Gamma(x) for x > 0 and whole n >= 0."""
    if n > FEW:
        return math.lgamma(x + n) - math.lgamma(x)
    product, j = 1.0, 0.0
    while j < n:
        product *= x + j
        j += 1.0
    return math.log(product)


@subkernel
def _log_factors(x: float, step: float, n: float) -> float:
    """Return ln [x (x + step) ... (x + (n - 1) step)], step = 1, -1, or 0 where x = 1."""
    if step == 0.0:
        return 0.0
    return log_rising(x if step > 0.0 else x - n + 1.0, n)


@subkernel
def fill_factors(
    above: float,
    step_above: float,
    below: float,
    step_below: float,
    most: float,
    counts: Array,
    n_levels: int,
    numbers: Array,
    rests: Array,
) -> None:
    """Fill what ln prod_{j < u} (above + j step_above) / (below + j step_below) of each level u adds to the last one's.

    Each is ln numbers[level] + rests[level], so that the logarithms of all levels of all features can be taken at once.

    Parameters
    ----------
    above, step_above, below, step_below : float
        Each step is 1 (rising) or -1 (falling); 0 if `below` is 1 and no divisor.
    most : float
        Levels above it are impossible: they add ln 1 + inf.
    counts : float64
        u = counts[2 * level], ascending.
    n_levels : int
    numbers, rests : float64 (n_levels,), overwritten
    """
    last = 0.0
    for level in range(n_levels):
        u = counts[2 * level]
        numbers[level] = 1.0
        rests[level] = 0.0 if u <= most else math.inf
        if u <= most:
            if u - last > FEW:
                rests[level] = _log_factors(above + step_above * last, step_above, u - last)
                rests[level] -= _log_factors(below + step_below * last, step_below, u - last)
                last = u
            product = 1.0
            while last < u:
                product *= (above + step_above * last) / (below + step_below * last)
                last += 1.0
            numbers[level] = product
