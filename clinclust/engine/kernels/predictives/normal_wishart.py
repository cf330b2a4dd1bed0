"""Compiled predictives of a Gaussian feature given the features before it in its block.

The prior is that of `clinclust.priors.normal_wishart`. With v = (1, x_0 .. x_l), the natural parameters of the factor
of feature l are `degrees` and the matrix

    M = [[kappa, kappa mean'], [kappa mean, scatter + kappa mean mean']],

to which each subject adds 1 and v v'. All predictives follow from the Cholesky factor L of the posterior M and from
w = L^-1 v: adding v v' multiplies the determinant of the leading matrix of order j + 1 by 1 + w_0^2 + .. + w_j^2, and
taking v away by 1 - w_0^2 - .. - w_j^2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.predictives.rising_factorial import log_gamma_ratio

__all__ = [
    "add_values",
    "chained_coefficients",
    "factorise",
    "log_marginal",
    "n_statistics_of",
    "squares_of",
]

Array = NDArray[np.float64]

_LEAST = 1e-300
"""Smallest square of a diagonal element: rounding may make it 0 or negative where values are collinear."""
_LOG_PI = math.log(math.pi)


@subkernel
def n_statistics_of(place: int) -> int:
    """Return the number of statistics of the feature at this place of its block, counted from 0."""
    return (place + 2) * (place + 3) // 2


@subkernel
def add_values(sums: Array, values: Array, place: int, sign: float) -> None:
    """Add v v' of a subject with the values x_0 .. x_place to the statistics (sign = 1), or subtract it (sign = -1)."""
    sums[0] += sign
    at = 1
    for row in range(place + 1):
        sums[at] += sign * values[row]
        for column in range(row + 1):
            sums[at + 1 + column] += sign * values[row] * values[column]
        at += row + 2


@subkernel
def factorise(prior: Array, sums: Array, place: int, factor: Array) -> float:
    """Write the lower triangle of L, row after row, to `factor`; return the posterior degrees.

    The first column is sqrt(kappa') and sqrt(kappa') mean', with primes for the posterior; what is left is the Cholesky
    factor of the posterior scatter matrix. This is summed around the means, because M itself would lose its digits
    where a prior mean lies far from the values. `prior` has the layout of `clinclust.priors.normal_wishart`; `sums` are
    the statistics of the cluster.
    """
    order = place + 1
    kappa, n = prior[order], sums[0]
    scatter = flat(prior, order + 2)
    root, weight = math.sqrt(kappa + n), kappa * n / (kappa + n)
    factor[0] = root
    start = 1
    for i in range(1, place + 2):
        row, begin, total = flat(factor, start), 1, sums[start]
        average = total / n if n > 0.0 else 0.0
        row[0] = root * ((kappa * prior[i - 1] + total) / (kappa + n))
        for j in range(1, i + 1):
            other = flat(factor, begin)
            other_average = sums[begin] / n if n > 0.0 else 0.0
            within = sums[start + j] - total * other_average
            if i == j:
                within = max(within, 0.0)
            rest = scatter[(i - 1) * i // 2 + j - 1] + within
            rest += weight * (average - prior[i - 1]) * (other_average - prior[j - 1])
            for t in range(1, j):
                rest -= row[t] * other[t]
            row[j] = math.sqrt(max(rest, _LEAST)) if i == j else rest / other[j]
            begin += j + 1
        start += i + 1
    degrees: float = prior[order + 1] + n
    return degrees


@subkernel
def squares_of(factor: Array, values: Array, place: int, work: Array) -> tuple[float, float]:
    """Return w_0^2 + .. + w_l^2 without and with the square of the feature itself; `work` holds w afterwards."""
    start, before, own = 0, 0.0, 0.0
    for i in range(place + 2):
        row = flat(factor, start)
        rest = 1.0 if i == 0 else values[i - 1]
        for j in range(i):
            rest -= row[j] * work[j]
        work[i] = rest / row[i]
        before += own
        own = work[i] * work[i]
        start += i + 1
    return before, before + own


@subkernel
def chained_coefficients(
    factor: Array, degrees: float, place: int, out: Array, stride: int, left: Array, left_stride: int
) -> None:
    """Write the coefficients of the log predictives of a feature given those before it.

    With the sums s of `squares_of`, without (s) and with (s') the square of the feature itself, its log density is
    c0 - c1 ln(1 + s') + c2 ln(1 + s): Student's t. Under the cluster without the subject it is c0 + c1 ln(1 - s') -
    c2 ln(1 - s), with the coefficients in `left`.

    Parameters
    ----------
    factor, degrees
        Of the cluster, from `factorise`.
    place : int
    out, left : float64, modified in place
        c0 .. c2, `stride` and `left_stride` elements apart.
    stride, left_stride : int
    """
    rest = -0.5 * _LOG_PI - math.log(factor[n_statistics_of(place) - 1])
    out[0] = log_gamma_ratio(0.5 * degrees, 0.5) + rest
    out[stride] = 0.5 * (degrees + 1.0)
    out[2 * stride] = 0.5 * degrees
    left[0] = log_gamma_ratio(max(0.5 * (degrees - 1.0), 1e-300), 0.5) + rest
    left[left_stride] = 0.5 * (degrees - 1.0)
    left[2 * left_stride] = 0.5 * (degrees - 2.0)


@subkernel
def log_marginal(prior: Array, sums: Array, place: int, factor: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A as in `clinclust.priors.normal_wishart.NormalWishart`.

    `factor` is work space for the statistics twice.
    """
    size = n_statistics_of(place)
    own, nothing = flat(factor, 0), flat(factor, size)
    for s in range(size):
        nothing[s] = 0.0
    first = flat(factor, 2 * size)
    degrees = factorise(prior, sums, place, own)
    degrees_before = factorise(prior, nothing, place, first)
    rise = log_gamma_ratio(0.5 * degrees_before, 0.5 * (degrees - degrees_before))
    at = -1
    for i in range(place + 2):
        at += i + 1
        change = math.log(own[at] / first[at])
        # Of many degrees, the difference of degrees times logarithms would keep few digits.
        rise -= degrees * change + (degrees - degrees_before) * math.log(first[at]) if i == place + 1 else change
    return rise
