"""Ratios of gamma functions, and ln B, without the cancellation of large logarithms.

`clinclust.engine.kernels.predictives_gamma` holds the compiled version.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_beta", "log_gamma_ratio"]

_LARGE = 1000.0
"""Where Stirling's series takes over: its next term, 1 / (1260 x^5), is below the rounding error there."""


def log_gamma_ratio(x: Any, n: Any) -> NDArray[np.float64]:
    """Return ln Gamma(x + n) - ln Gamma(x) for x > 0 and n >= 0, which need not be whole; arrays broadcast.

    For large x the two logarithms agree in most digits, and their difference would lose them. Stirling's series of both
    is therefore subtracted term by term, with y = x + n and d(y) = 1/(12 y) - 1/(360 y^3) + ...:

        (x - 1/2) ln(1 + n/x) + n [ln y - 1] + d(y) - d(x)
    """
    from scipy.special import gammaln

    x, n = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(n, dtype=np.float64))
    large = np.maximum(x, _LARGE)
    y = large + n
    rest = n / (large * y) * (1.0 - (large * large + large * y + y * y) / (30.0 * large * large * y * y)) / 12.0
    series = (large - 0.5) * np.log1p(n / large) + n * (np.log(y) - 1.0) - rest
    return np.asarray(np.where(x < _LARGE, gammaln(x + n) - gammaln(x), series), dtype=np.float64)


def log_beta(a: Any, b: Any) -> NDArray[np.float64]:
    """Return ln B(a, b) = ln Gamma(a) + ln Gamma(b) - ln Gamma(a + b) for a, b > 0; arrays broadcast."""
    from scipy.special import gammaln

    least = np.minimum(a, b)
    return np.asarray(gammaln(least) - log_gamma_ratio(np.maximum(a, b), least), dtype=np.float64)
