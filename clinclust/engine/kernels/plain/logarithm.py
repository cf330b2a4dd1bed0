"""The natural logarithm, from additions, multiplications and one division, so that all processors give the same bits.

x = 2^e m with m in sqrt(1/2) .. sqrt(2), and with f = m - 1 and s = f / (2 + f)

    ln m = f - f^2 / 2 + s (f^2 / 2 + R(s^2)),

R a polynomial of minimal error (Sun's fdlibm, e_log.c).
"""

from __future__ import annotations

import numpy as np

from clinclust.compiled import subkernel

__all__ = ["BITS_OF_ROOT_HALF", "LN2_HIGH", "LN2_LOW", "MANTISSA_BITS", "R", "log", "log_of_split", "split"]

R = (
    0.6666666666666735130,
    0.3999999999940941908,
    0.2857142874366239149,
    0.2222219843214978396,
    0.1818357216161805012,
    0.1531383769920937332,
    0.1479819860511658591,
)
"""Coefficients of R(z) / z, the constant first."""
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts, the first with so few digits that its products with exponents are exact."""
BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD
"""sqrt(1/2) as a whole number of 64 bits."""
MANTISSA_BITS = 52

_LOWER_R, _HIGHEST_R = R[-2::-1], R[-1]


@subkernel
def split(x: float) -> tuple[int, float]:
    """Return e and m of x = 2^e m with m in sqrt(1/2) .. sqrt(2), of a positive normal number.

    A double holds its exponent above its mantissa: how often 2^52 fits between the bits of sqrt(1/2) and those of x is
    e, and what is left over makes m.
    """
    bits = int(np.float64(x).view(np.int64))
    exponent = (bits - BITS_OF_ROOT_HALF) >> MANTISSA_BITS
    return exponent, np.int64(bits - (exponent << MANTISSA_BITS)).view(np.float64)


@subkernel
def log_of_split(exponent: int, mantissa: float) -> float:
    """Return ln(2^e m)."""
    power = np.float64(exponent)
    f = mantissa - 1.0
    s = f / (f + 2.0)
    z = s * s
    r = _HIGHEST_R
    for coefficient in _LOWER_R:
        r = coefficient + z * r
    r = z * r
    half_square = 0.5 * f * f
    small = s * (half_square + r) + power * LN2_LOW
    return power * LN2_HIGH - ((half_square - small) - f)


@subkernel
def log(x: float) -> float:
    """Return ln x of a positive normal number, to less than one unit in the last place."""
    exponent, mantissa = split(x)
    return log_of_split(exponent, mantissa)
