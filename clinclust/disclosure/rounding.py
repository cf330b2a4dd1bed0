"""Counts as multiples of a base."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["rounded", "rounding_error"]


def rounded(count: NDArray[np.float64], base: int) -> NDArray[np.float64]:
    """Return counts as multiples of `base`, halves upwards."""
    return np.asarray(np.floor((count + base // 2) / base) * base)


def rounding_error(base: int | None) -> tuple[int, int]:
    """Return how far below and above a rounded count the true one can lie."""
    return (0, 0) if base is None else (base // 2, base - 1 - base // 2)
