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
_SPLITTER = 2.0**27 + 1.0


def fifteen_digits(values: Array) -> Array:
    """Return ``float(f"{value:.15g}")`` of each value, float64 (N,), with 0.0 for -0.0.

    A value is multiplied by a power of ten that gives it 15 digits before the point, rounded, and divided. Both powers
    and whole numbers below 2**53 are exact, so that the quotient is the double nearest to the decimal number. Where the
    product lies just between two whole numbers, the error of the product decides. Very small and very large values are
    rounded as text.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exponents = 14.0 - np.floor(np.log10(np.abs(values)))
        # Values without digits (0, NaN and infinities) have an exponent out of range, and any power will do.
        in_range = (exponents >= 0.0) & (exponents <= 22.0)
        powers = _POWERS[np.where(in_range, exponents, 0.0).astype(np.intp)]
        products = values * powers
        wholes = np.rint(products)
        between = np.flatnonzero((np.abs(products - wholes) == 0.5) & in_range)
        wholes[between] = _nearest(values[between], powers[between])
        size = np.abs(wholes)
        rounded: Array = wholes / powers
    rest = np.flatnonzero(~(in_range & (size >= 1e14) & (size < 1e15)) & (values != 0.0) & np.isfinite(values))
    rounded[rest] = [float(f"{value:.15g}") for value in values[rest].tolist()]
    rounded += 0.0  # -0.0 becomes 0.0
    return rounded


def _nearest(values: Array, powers: Array) -> Array:
    """Return the whole number nearest to each product, which as a double lies just between two whole numbers.

    The double plus its error is the exact product (Dekker 1971); if the error is 0, the even number is taken.
    """
    products = values * powers
    (high, low), (high_power, low_power) = _halves(values), _halves(powers)
    error = ((high * high_power - products) + high * low_power + low * high_power) + low * low_power
    return np.where(error > 0.0, np.ceil(products), np.where(error < 0.0, np.floor(products), np.rint(products)))


def _halves(values: Array) -> tuple[Array, Array]:
    """Return two numbers of 26 bits whose sum is the value."""
    shifted = _SPLITTER * values
    high = shifted - (shifted - values)
    return high, values - high
