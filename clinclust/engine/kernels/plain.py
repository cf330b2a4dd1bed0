"""The innermost loops in plain Python, to read, debug or replace the LLVM code of `lanes`.

Each function has the name, arguments and result bits of its LLVM twin, which documents the arguments; it performs the
same operations on the same numbers in the same order. CLINCLUST_PLAIN_KERNELS=1 selects this version, which needs no
LLVM code; so does NUMBA_DISABLE_JIT=1, with which a debugger can step through a fit of a small cohort.

The natural logarithm is computed with additions, multiplications and one division, so that all processors agree. Let x
= 2^e m with sqrt(1/2) <= m < sqrt(2), f = m - 1 and s = f / (2 + f). Then ln x = e ln 2 + ln m and

    ln m = f - f^2 / 2 + s (f^2 / 2 + R(s^2)),

where R is a minimax polynomial (Sun's fdlibm, e_log.c).
"""

from __future__ import annotations

import math

import numpy as np

from clinclust.arrays import Array, Codes, Whole
from clinclust.engine.kernels.compiled import flat, subkernel

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
LANES = 8
"""Clusters or features that the innermost loops process at a time."""


def padded(length: int) -> int:
    """Return the length rounded up to a multiple of eight."""
    return -(-length // LANES) * LANES


@subkernel
def split(x: float) -> tuple[int, float]:
    """Return e and m of a positive normal number x = 2^e m, with m between sqrt(1/2) and sqrt(2).

    A double has its exponent above the 52 bits of its mantissa: e is the difference of the bits of x and of sqrt(1/2),
    divided by 2^52 and rounded down.
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


@subkernel
def add_rows(
    scores: Array, weights: Array, first: int, table: Array, stride: int, codes: Codes, start: int, count: int
) -> None:
    """Sum selected rows of a table in eight columns k: scores[k] = weights[k] + sum_j table[codes[start + j], k]."""
    out, begin = flat(scores, first), flat(weights, first)
    for lane in range(LANES):
        out[lane] = _sum_side_by_side(begin[lane], flat(table, first + lane), stride, flat(codes, start), count)


@subkernel
def sum_rows(table: Array, codes: Codes, start: int, count: int) -> float:
    """Return the sum of table[codes[start + j]] over j < count."""
    return _sum_side_by_side(0.0, flat(table, 0), 1, flat(codes, start), count)


@subkernel
def _sum_side_by_side(begin: float, table: Array, stride: int, codes: Codes, count: int) -> float:
    """Return begin + the sum of table[codes[j] * stride] over j < count, from four separate sums."""
    whole = count - count % 4
    total, second, third, fourth = begin, 0.0, 0.0, 0.0
    for j in range(0, whole, 4):
        total += table[codes[j] * stride]
        second += table[codes[j + 1] * stride]
        third += table[codes[j + 2] * stride]
        fourth += table[codes[j + 3] * stride]
    total = total + second + third + fourth
    for j in range(whole, count):
        total += table[codes[j] * stride]
    return total


@subkernel
def highest(scores: Array, count: int) -> float:
    """Return the highest of the first `count` scores, rounded up to a multiple of eight; none of them may be NaN.

    Of 0.0 and -0.0, which compare as equal, it may return the other one than the LLVM version.
    """
    numbers, best = flat(scores, 0), -math.inf
    for place in range((count + LANES - 1) // LANES * LANES):
        best = max(best, numbers[place])
    return best


@subkernel
def add_log_terms(scores: Array, first: int, coefficients: Array, column: int, stride: int, z: float) -> None:
    """Add the log predictives of one value: scores[k] += c0 - c1 ln(1 + c2 (z - c3)^2) for eight clusters k."""
    out, c = flat(scores, first), flat(coefficients, first + 4 * column * stride)
    for lane in range(LANES):
        apart = z - c[3 * stride + lane]
        inner = 1.0 + c[2 * stride + lane] * (apart * apart)
        out[lane] += c[lane] - c[stride + lane] * log(inner)


@subkernel
def add_log_products(
    scores: Array, first: int, coefficients: Array, columns: Whole, count: int, stride: int, values: Array
) -> None:
    """Add the log predictives of several values whose features have the same c1, with one logarithm of a product."""
    out, all_columns, z = flat(scores, first), flat(columns, 0), flat(values, 0)
    for lane in range(LANES):
        c = flat(coefficients, first + lane)
        # There are two products, of the even and of the odd features. A last unpaired feature joins the even ones.
        even, odd = (0, 1.0, out[lane]), (0, 1.0, 0.0)
        for place in range(0, count - 1, 2):
            even = _multiplied(even, c, all_columns[place], stride, z)
            odd = _multiplied(odd, c, all_columns[place + 1], stride, z)
        if count % 2 == 1:
            even = _multiplied(even, c, all_columns[count - 1], stride, z)
        more, mantissa = split(even[1] * odd[1])
        logarithm = log_of_split(even[0] + odd[0] + more, mantissa)
        power = c[(4 * all_columns[0] + 1) * stride]
        out[lane] = (even[2] + odd[2]) - power * logarithm


@subkernel
def _multiplied(
    product: tuple[int, float, float], c: Array, column: int, stride: int, values: Array
) -> tuple[int, float, float]:
    """Multiply a product (exponent, mantissa, sum of the c0) by the factor of one more feature, and add its c0."""
    exponent, mantissa, total = product
    at, z = 4 * column * stride, values[column]
    observed = z == z
    apart = z - c[at + 3 * stride]
    inner = 1.0 + c[at + 2 * stride] * (apart * apart) if observed else 1.0
    more, mantissa = split(mantissa * inner)  # after every factor, so that no product can overflow
    return exponent + more, mantissa, total + (c[at] if observed else 0.0)


@subkernel
def sum_log_terms(values: Array, coefficients: Array, start: int, width: int, least: float) -> float:
    """Return the sum over features of c0 + c1 ln(1 - c2 (z - c3)^2), or NaN if the argument is below `least` in any."""
    all_values, c = flat(values, 0), flat(coefficients, start)
    result = 0.0
    for lane in range(LANES):  # sum every eighth feature, then add the eight sums, as the LLVM version does
        total = 0.0
        for place in range(lane, width, LANES):
            z = all_values[place]
            if z == z:
                apart = z - c[3 * width + place]
                inner = 1.0 - c[2 * width + place] * (apart * apart)
                if inner < least:
                    return math.nan
                total += c[place] + c[width + place] * log(inner)
        result += total
    return result


@subkernel
def log_in_place(numbers: Array, count: int) -> None:
    """Replace the first `count` elements, rounded up to a multiple of eight, by their natural logarithms."""
    all_numbers = flat(numbers, 0)
    for place in range((count + LANES - 1) // LANES * LANES):
        all_numbers[place] = log(all_numbers[place])


@subkernel
def eight_binomials(prior: Array, sums: Array, n_trials: int, numbers: Array, left_numbers: Array, work: Array) -> None:
    """Fill the predictives of every level of eight binomials, with the same number of trials n, under one cluster."""
    n_levels = n_trials + 1
    for feature in range(LANES):
        s, t = sums[2 * feature], sums[2 * feature + 1]
        a, b = prior[2 * feature] + s, prior[2 * feature + 1] + t
        total, here, without = a + b, flat(numbers, feature * n_levels), flat(left_numbers, feature * n_levels)
        rising_b, falling_b = flat(work, 2 * feature * n_levels), flat(work, (2 * feature + 1) * n_levels)
        rising_b[0] = falling_b[0] = 1.0
        rising_total = falling_total = 1.0
        for j in range(n_trials):
            rising_b[j + 1] = rising_b[j] * (b + j)
            falling_b[j + 1] = falling_b[j] * (b - 1.0 - j)
            rising_total *= total + j
            falling_total *= total - 1.0 - j
        above, below = 1.0 / rising_total, 1.0 / falling_total
        rising_a = falling_a = coefficient = 1.0
        for x in range(n_levels):
            others = n_trials - x
            here[x] = rising_a * rising_b[others] * above * coefficient
            possible = s >= x and t >= others
            without[x] = falling_a * falling_b[others] * below * coefficient if possible else 1.0
            rising_a *= a + x
            falling_a *= a - 1.0 - x
            # The quotient is exact, because it is a whole number.
            coefficient = coefficient * others / (x + 1)
