"""The innermost loops, over eight clusters, features or numbers at a time.

The last axis of an array must be contiguous, and its length C a multiple of eight; `first` is the index of the first of
eight clusters; `start` and `count` are the flat index of the first code, in memory order, and the number of codes.

The natural logarithm is computed with additions, multiplications and one division, so that all processors agree. Let x
= 2^e m with sqrt(1/2) <= m < sqrt(2), f = m - 1 and s = f / (2 + f). Then ln x = e ln 2 + ln m and

    ln m = f - f^2 / 2 + s (f^2 / 2 + R(s^2)),

where R is a minimax polynomial (Sun's fdlibm, e_log.c).
"""

from __future__ import annotations

import math

from clinclust.arrays import Array, Codes, Whole
from clinclust.engine.kernels.compiled import (
    LANES,
    as_numbers,
    bits_of,
    choose,
    eight,
    flat,
    from_bits,
    inlined,
    lane,
    spread,
    write_eight,
)

_R = (
    0.6666666666666735130,
    0.3999999999940941908,
    0.2857142874366239149,
    0.2222219843214978396,
    0.1818357216161805012,
    0.1531383769920937332,
    0.1479819860511658591,
)
"""Coefficients of R(z) / z, in ascending order of powers."""
_LOWER_R, _HIGHEST_R = _R[-2::-1], _R[-1]
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 as a sum of two parts. The first has so few digits that its products with exponents are exact."""
_BITS_OF_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of the double sqrt(1/2), as a 64-bit integer
_MANTISSA_BITS = 52
_SUMS = 4  # separate sums, so that an addition does not wait for the result of the previous one


@inlined
def split(x: Array) -> tuple[Whole, Array]:
    """Return e and m of eight positive normal numbers x = 2^e m, with m between sqrt(1/2) and sqrt(2).

    A double has its exponent above the 52 bits of its mantissa: e is the difference of the bits of x and of sqrt(1/2),
    divided by 2^52 and rounded down.
    """
    bits = bits_of(x)
    exponent = (bits - _BITS_OF_ROOT_HALF) >> _MANTISSA_BITS
    return exponent, from_bits(bits - (exponent << _MANTISSA_BITS))


@inlined
def log_of_split(exponent: Whole, mantissa: Array) -> Array:
    """Return ln(2^e m)."""
    power = as_numbers(exponent)
    f = mantissa - 1.0
    s = f / (f + 2.0)
    z = s * s
    r = spread(_HIGHEST_R)
    for coefficient in _LOWER_R:
        r = z * r + coefficient
    r = z * r
    half_square = f * 0.5 * f
    small = s * (half_square + r) + power * _LN2_LOW
    return power * _LN2_HIGH - ((half_square - small) - f)


@inlined
def log(x: Array) -> Array:
    """Return ln x of eight positive normal numbers, with an error below one unit in the last place."""
    return log_of_split(*split(x))


@inlined
def log_in_place(numbers: Array, count: int) -> None:
    """Replace the first `count` elements, rounded up to a multiple of eight, positive normal numbers, by logarithms."""
    for at in range(0, count, LANES):
        write_eight(numbers, at, log(eight(numbers, at)))


@inlined
def add_rows(
    scores: Array, weights: Array, first: int, table: Array, stride: int, codes: Codes, start: int, count: int
) -> None:
    """Sum selected rows of a table in eight columns k: scores[k] = weights[k] + sum_j table[codes[start + j], k].

    Scores and weights are float64 (C,), the table is float64 (R, C), `stride` is C, and codes are int32.
    """
    rows, places, whole = flat(table, first), flat(codes, start), count - count % _SUMS
    total, second, third, fourth = eight(weights, first), spread(0.0), spread(0.0), spread(0.0)
    for j in range(0, whole, _SUMS):
        total = total + eight(rows, places[j] * stride)
        second = second + eight(rows, places[j + 1] * stride)
        third = third + eight(rows, places[j + 2] * stride)
        fourth = fourth + eight(rows, places[j + 3] * stride)
    total = total + second + third + fourth
    for j in range(whole, count):
        total = total + eight(rows, places[j] * stride)
    write_eight(scores, first, total)


@inlined
def sum_rows(table: Array, codes: Codes, start: int, count: int) -> float:
    """Return the sum of table[codes[start + j]] over j < count, of a table float64 (R,) and codes int32."""
    rows, places, whole = flat(table, 0), flat(codes, start), count - count % _SUMS
    total = second = third = fourth = 0.0
    for j in range(0, whole, _SUMS):
        total += rows[places[j]]
        second += rows[places[j + 1]]
        third += rows[places[j + 2]]
        fourth += rows[places[j + 3]]
    total = total + second + third + fourth
    for j in range(whole, count):
        total += rows[places[j]]
    return total


@inlined
def highest(scores: Array, count: int) -> float:
    """Return the highest of the first `count` scores (C,), rounded up to a multiple of eight; none may be NaN."""
    best = spread(-math.inf)
    for at in range(0, count, LANES):
        here = eight(scores, at)
        best = choose(best > here, best, here)
    result = lane(best, 0)
    for place in range(1, LANES):
        if lane(best, place) > result:
            result = lane(best, place)
    return result


@inlined
def add_log_terms(scores: Array, first: int, coefficients: Array, column: int, stride: int, z: float) -> None:
    """Add the log predictives of one value z: scores[k] += c0 - c1 ln(1 + c2 (z - c3)^2) for eight clusters k.

    The coefficients c0 .. c3 of each feature and cluster are float64 (D, 4, C); `column` is the feature, `stride` is C.
    """
    c = flat(coefficients, first + 4 * column * stride)
    apart = spread(z) - eight(c, 3 * stride)
    inner = eight(c, 2 * stride) * (apart * apart) + 1.0
    write_eight(scores, first, eight(scores, first) + (eight(c, 0) - eight(c, stride) * log(inner)))


@inlined
def add_log_products(
    scores: Array, first: int, coefficients: Array, columns: Whole, count: int, stride: int, values: Array
) -> None:
    """Add the log predictives of several values whose features have the same c1, with one logarithm of a product.

    scores[k] += sum_j c0 - c1 ln prod_j [1 + c2 (values[columns[j]] - c3)^2] for eight clusters k and the first `count`
    columns, int64, without NaN values. The c1 is that of the first column.
    """
    c = flat(coefficients, first)
    none, unit, nothing = bits_of(spread(0.0)), spread(1.0), spread(0.0)
    # Two products, of the even and of the odd features, so that a multiplication does not wait for the previous one. A
    # last unpaired feature joins the even ones.
    even, odd = (none, unit, eight(scores, first)), (none, unit, nothing)
    for place in range(0, count - 1, 2):
        even = _multiplied(even, c, columns[place], stride, values)
        odd = _multiplied(odd, c, columns[place + 1], stride, values)
    if count % 2 == 1:
        even = _multiplied(even, c, columns[count - 1], stride, values)
    more, mantissa = split(even[1] * odd[1])
    logarithm = log_of_split(even[0] + odd[0] + more, mantissa)
    power = eight(c, (4 * columns[0] + 1) * stride)
    write_eight(scores, first, even[2] + odd[2] - power * logarithm)


@inlined
def _multiplied(
    product: tuple[Whole, Array, Array], c: Array, column: int, stride: int, values: Array
) -> tuple[Whole, Array, Array]:
    """Multiply a product (exponent, mantissa, sum of the c0) by the factor of one more feature, and add its c0."""
    exponent, mantissa, total = product
    at, z = 4 * column * stride, spread(values[column])
    observed = z == z
    apart = z - eight(c, at + 3 * stride)
    inner = eight(c, at + 2 * stride) * (apart * apart) + 1.0
    # The exponent is split off after every factor, so that no product can overflow.
    more, mantissa = split(mantissa * choose(observed, inner, spread(1.0)))
    return exponent + more, mantissa, total + choose(observed, eight(c, at), spread(0.0))


@inlined
def sum_log_terms(values: Array, coefficients: Array, start: int, width: int, least: float) -> float:
    """Return the sum over features of c0 + c1 ln(1 - c2 (z - c3)^2). Features whose z is NaN are skipped.

    The result is NaN if 1 - c2 (z - c3)^2 is below `least` for any feature: too many digits are lost. The values z are
    float64 (width,); c0 .. c3, of this length each, follow each other from flat index `start` on.
    """
    c = flat(coefficients, start)
    unit, nothing, total = spread(1.0), spread(0.0), spread(0.0)
    for at in range(0, width, LANES):
        z = eight(values, at)
        observed = z == z
        apart = z - eight(c, 3 * width + at)
        inner = unit - choose(observed, eight(c, 2 * width + at) * (apart * apart), nothing)
        is_lost = inner < least
        # `log` needs positive numbers.
        term = eight(c, at) + eight(c, width + at) * log(choose(is_lost, unit, inner))
        total = total + choose(observed, choose(is_lost, spread(math.nan), term), nothing)
    result = lane(total, 0)
    for place in range(1, LANES):
        result += lane(total, place)
    return result
