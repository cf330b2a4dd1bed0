"""Numbers that two programs wrote differently, as one: their first seven significant digits, and whole numbers exactly.

A number that was computed has up to 17 digits. Spreadsheets keep 15 or 16 of them, R writes 15, and some readers of
text miss the nearest double by its last bit. Rounding to nearly as many digits would not do: a difference of 3e-15, as
LibreOffice makes it, then carries over into the last digit that is kept for one number in a thousand. Of seven digits
it changes one in thirty million. Whole numbers are written as they are, so that all their digits count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["seven_digits"]

_TINY, _HUGE = -290, 300
"""Decimal exponents beyond which a power of ten could overflow; digits of smaller numbers do not count."""
_POWERS = np.array([float(f"1e{6 - exponent}") for exponent in range(_TINY, _HUGE + 2)])
_LEAST, _MOST = 10**6, 10**7


def seven_digits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return a number for each value, uint64 (N,), which is the same for values of the same seven digits.

    It holds the sign, the exponent and the digits, or, for whole numbers of more digits, the value itself. For NaN it
    is anything.
    """
    size = np.abs(values)
    with np.errstate(all="ignore"):
        # Of NaN and the bounds, fmin and fmax take the bounds.
        exponents = np.fmax(np.fmin(np.floor(np.log10(size)), _HUGE), _TINY).astype(np.int64)
        digits = np.rint(size * _POWERS[exponents - _TINY])
        carries = digits >= _MOST
        digits[carries] = _LEAST
        exponents += carries
        exponents[digits == 0.0] = 0
        short = (exponents + 512).astype(np.uint64) << np.uint64(32)
        short |= digits.astype(np.uint64)
    short[(values < 0.0) & (digits > 0.0)] |= np.uint64(1 << 63)
    long = np.flatnonzero((size >= _MOST) & (np.floor(values) == values))
    long = long[digits[long] != size[long] * _POWERS[exponents[long] - _TINY]]
    short[long] = values[long].view(np.uint64)
    return short
