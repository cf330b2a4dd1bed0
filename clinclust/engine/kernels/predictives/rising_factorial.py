"""Rising and falling factorials: the factors of the predictives of counts and scores, and of all log marginals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import subkernel

__all__ = ["FEW", "fill_factors", "log_gamma_ratio", "log_rising"]

Array = NDArray[np.float64]

_LARGE = 1000.0
"""Where Stirling's series takes over: its next term, 1 / (1260 x^5), is below the rounding error there."""
FEW = 16.0
"""Number of factors up to which a product is faster and more accurate than two log-gamma functions."""


@subkernel
def log_gamma_ratio(x: float, n: float) -> float:
    """Return ln Gamma(x + n) - ln Gamma(x) for x > 0 and n >= 0, which need not be whole.

    For large x the two logarithms agree in most digits, and their difference would lose them: half a nat at x = 1e15.
    Stirling's series of both is therefore subtracted term by term, which keeps the digits:

        (x - 1/2) ln(1 + n/x) + n [ln(x + n) - 1] + d(x + n) - d(x),    d(y) = 1/(12 y) - 1/(360 y^3) + ...
    """
    if x < _LARGE:
        return math.lgamma(x + n) - math.lgamma(x)
    y = x + n
    rest = n / (x * y) * (1.0 - (x * x + x * y + y * y) / (30.0 * x * x * y * y)) / 12.0
    return (x - 0.5) * math.log1p(n / x) + n * (math.log(y) - 1.0) - rest


@subkernel
def log_rising(x: float, n: float) -> float:
    """Return ln [x (x + 1) ... (x + n - 1)] = ln Gamma(x + n) - ln Gamma(x) for x > 0 and whole n >= 0."""
    if n > FEW:
        return log_gamma_ratio(x, n)
    product, j = 1.0, 0.0
    while j < n:
        product *= x + j
        j += 1.0
    return math.log(product)


@subkernel
def _log_factors(x: float, step: float, n: float) -> float:
    """Return ln [x (x + step) ... (x + (n - 1) step)], where step is 1, -1, or 0; if it is 0, x must be 1."""
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
    """Fill the differences of a logarithm of factorials, f(u), between each level and the level before.

        f(u) = ln prod_{j < u} (above + j step_above) / (below + j step_below)

    The difference of a level is ln numbers[level] + rests[level]; that of the first level is f(u) itself. The
    logarithms of the numbers of all levels of all features are computed later, in one loop.

    Parameters
    ----------
    above, step_above, below, step_below : float
        Each step is 1 (rising) or -1 (falling). There is no divisor if `below` is 1 and `step_below` is 0.
    most : float
        Levels above it are impossible; their number is 1 and their rest is infinite.
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
