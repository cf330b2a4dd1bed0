"""Round counts to multiples of a base, and means to the decimals that reports print."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["printed", "rounded", "rounding_error"]


def rounded(count: NDArray[np.float64], base: int) -> NDArray[np.float64]:
    """Return counts rounded to the nearest multiple of `base`; a tie is rounded up."""
    return np.asarray(np.floor((count + base // 2) / base) * base)


def rounding_error(base: int | None) -> tuple[int, int]:
    """Return how far below and how far above a rounded count the true count can be; (0, 0) without rounding."""
    return (0, 0) if base is None else (base // 2, base - 1 - base // 2)


def printed(values: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    """Return values rounded as reports print them: by decimal formatting of the exact binary number."""
    return np.array([float(f"{value:.{decimals}f}") for value in values.ravel()]).reshape(values.shape)
