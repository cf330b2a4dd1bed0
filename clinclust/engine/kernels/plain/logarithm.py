"""The natural logarithm, computed with additions, multiplications and one division, so that all processors agree.

Let x = 2^e m with sqrt(1/2) <= m < sqrt(2), f = m - 1 and s = f / (2 + f). Then ln x = e ln 2 + ln m and

    ln m = f - f^2 / 2 + s (f^2 / 2 + R(s^2)),

where R is a minimax polynomial (Sun's fdlibm, e_log.c).
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
"""Coefficients of R(z) / z, in ascending order of powers."""
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 as a sum of two parts. The first has so few digits that its products with exponents are exact."""
BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD
"""The bits of the double sqrt(1/2), as a 64-bit integer."""
MANTISSA_BITS = 52

_LOWER_R, _HIGHEST_R = R[-2::-1], R[-1]


@subkernel
def split(x: float) -> tuple[int, float]:
    """Return e and m of a positive normal number x = 2^e m, with m between sqrt(1/2) and sqrt(2).

    A double stores its exponent in the bits above the 52 bits of its mantissa. The bits of x minus the bits of
    sqrt(1/2), divided by 2^52 and rounded down, are therefore e. Subtracting e from the exponent bits of x gives m.
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
    """Return ln x of a positive normal number, with an error below one unit in the last place."""
    exponent, mantissa = split(x)
    return log_of_split(exponent, mantissa)
