"""Round numbers to 15 significant decimal digits, which every number keeps when programs write and read it as text.

R, SAS and spreadsheets write 15 digits, and some readers of text (among them pandas) miss the nearest double by its
last bit. Both change the bits of a number, and neither changes its first 15 digits. Rounding to bits would not do: the
last bit of a short decimal number can carry through any of its bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["fifteen_digits"]

Array = NDArray[np.float64]

_POWERS = np.array([float(f"1e{k}") for k in range(23)])
"""The powers of ten that a double holds exactly."""


def fifteen_digits(values: Array) -> Array:
    """Return ``float(f"{value:.15g}")`` of each value, float64 (N,), with 0.0 for -0.0.

    A value is multiplied by a power of ten that gives it 15 digits before the point, rounded, and divided. Both powers
    and products below 2**53 are exact, so that the quotient is the double nearest to the decimal number. The product
    is not exact: where it lies just between two whole numbers, and for very small and large values, the value is
    written as text instead.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exponents = 14.0 - np.floor(np.log10(np.abs(values)))
        # An infinite or undefined exponent belongs to a value without digits, and any power will do.
        in_range = (exponents >= 0.0) & (exponents <= 22.0)
        powers = _POWERS[np.where(in_range, exponents, 0.0).astype(np.intp)]
        products = values * powers
        wholes = np.rint(products)
        size = np.abs(wholes)
        sure = in_range & (size >= 1e14) & (size < 1e15) & (np.abs(products - wholes) != 0.5)
    rounded = wholes / powers
    written = np.flatnonzero(~sure & (values != 0.0) & np.isfinite(values))
    rounded[written] = [float(f"{value:.15g}") for value in values[written].tolist()]
    special = ~np.isfinite(values)
    rounded[special] = values[special]
    return np.asarray(rounded + 0.0)
