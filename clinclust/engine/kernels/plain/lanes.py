"""Plain Python versions of the functions of `clinclust.engine.kernels.lanes`, which documents the arguments."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.eights import LANES
from clinclust.engine.kernels.plain.logarithm import log, log_of_split, split

__all__ = ["add_log_products", "add_log_terms", "add_rows", "highest", "log_in_place", "sum_log_terms", "sum_rows"]

Array = NDArray[np.float64]
Codes = NDArray[np.int32]


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
    """Return begin + the sum of table[codes[j] * stride] over j < count.

    Four separate sums are kept, so that an addition does not wait for the result of the previous one.
    """
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

    There is one difference to the LLVM version: of 0.0 and -0.0, which compare as equal, it may return the other one.
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
    scores: Array, first: int, coefficients: Array, columns: NDArray[np.int64], count: int, stride: int, values: Array
) -> None:
    """Add the log predictives of several values whose features have the same c1, with one logarithm of a product.

    scores[k] += sum_j c0 - c1 ln prod_j [1 + c2 (values[columns[j]] - c3)^2] for eight clusters k. NaN values are
    skipped.
    """
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
    """Multiply a product (exponent, mantissa, sum of the c0) by the factor of one more feature, and add its c0.

    The exponent is split off after every factor, so that no product can overflow.
    """
    exponent, mantissa, total = product
    at, z = 4 * column * stride, values[column]
    observed = z == z
    apart = z - c[at + 3 * stride]
    inner = 1.0 + c[at + 2 * stride] * (apart * apart) if observed else 1.0
    more, mantissa = split(mantissa * inner)
    return exponent + more, mantissa, total + (c[at] if observed else 0.0)


@subkernel
def sum_log_terms(values: Array, coefficients: Array, start: int, width: int, least: float) -> float:
    """Return the sum over features of c0 + c1 ln(1 - c2 (z - c3)^2). Features whose z is NaN are skipped.

    The result is NaN if 1 - c2 (z - c3)^2 is below `least` for any feature, because it has then lost too many digits.
    """
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
    """Replace the first `count` elements of an array by their natural logarithms.

    `count` is rounded up to a multiple of eight. The elements must be positive normal numbers.
    """
    all_numbers = flat(numbers, 0)
    for place in range((count + LANES - 1) // LANES * LANES):
        all_numbers[place] = log(all_numbers[place])
