"""The twins of `clinclust.engine.kernels.lanes`, whose docstrings say what the arguments are."""

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
    """Add up eight columns of some rows of a table: scores[k] = weights[k] + sum_j table[codes[j], k]."""
    out, begin = flat(scores, first), flat(weights, first)
    for lane in range(LANES):
        out[lane] = _sum_side_by_side(begin[lane], flat(table, first + lane), stride, flat(codes, start), count)


@subkernel
def sum_rows(table: Array, codes: Codes, start: int, count: int) -> float:
    """Return the sum of table[codes[start + j]], j < count."""
    return _sum_side_by_side(0.0, flat(table, 0), 1, flat(codes, start), count)


@subkernel
def _sum_side_by_side(begin: float, table: Array, stride: int, codes: Codes, count: int) -> float:
    """Return begin + sum_j table[codes[j] * stride], j < count, as four sums, so that no addition waits for another."""
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
    """Return the highest of the first `count` scores, rounded up to a multiple of eight; none of them is NaN.

    The one difference to the twin: of 0.0 and -0.0 it may return the other, which compares the same.
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
    """Do what `add_log_terms` does for several features whose c1 are the same: one logarithm, of a product.

    scores[k] += sum_j c0 - c1 ln prod_j [1 + c2 (values[columns[j]] - c3)^2], values that are NaN left out.
    """
    out, all_columns, z = flat(scores, first), flat(columns, 0), flat(values, 0)
    for lane in range(LANES):
        c = flat(coefficients, first + lane)
        # Two products side by side, those of the even and of the odd features; one that is left joins the even ones.
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
    """Return the exponent and mantissa of a product with one more factor, and the sum of constants with one more.

    The exponent is taken off at every factor, so that no product can overflow.
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
    """Return the sum over features of c0 + c1 ln(1 - c2 (z - c3)^2), those whose z is NaN left out.

    NaN if for any of them 1 - c2 (z - c3)^2 is below `least`, where it has lost too many digits.
    """
    all_values, c = flat(values, 0), flat(coefficients, start)
    result = 0.0
    for lane in range(LANES):  # the sums of every eighth feature are added up last
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
    """Replace the first `count` positive normal numbers of an array, rounded up to a multiple of eight, by their ln."""
    all_numbers = flat(numbers, 0)
    for place in range((count + LANES - 1) // LANES * LANES):
        all_numbers[place] = log(all_numbers[place])
