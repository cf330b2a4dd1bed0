"""Compiled predictives of Gaussian features, alone (`NormalGamma`) and in a block (`priors.normal_wishart`).

In a block each feature is predicted given those before it. With v = (1, x_0 .. x_l), the natural parameters of the
factor of feature l are `degrees` and the matrix

    M = [[kappa, kappa mean'], [kappa mean, scatter + kappa mean mean']],

to which each subject adds 1 and v v'. All predictives follow from the Cholesky factor L of the posterior M and from w =
L^-1 v: adding v v' multiplies the determinant of the leading matrix of order j + 1 by 1 + w_0^2 + .. + w_j^2, and
taking v away by 1 - w_0^2 - .. - w_j^2.
"""

from __future__ import annotations

import math

from clinclust.arrays import Array
from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.predictives_gamma import log_gamma_ratio

_LEAST = 1e-300
"""Smallest square of a diagonal element: rounding may make it 0 or negative where values are collinear."""
_LOG_PI = math.log(math.pi)


@subkernel
def gaussian_log_marginal(prior: Array, sums: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A as in `clinclust.priors.conjugate.NormalGamma`."""
    kappa, shape, rate, n = prior[1], prior[2], prior[3], sums[0]
    more = _rise_of_rate(prior, n, sums[1], sums[2])
    weights: float = 0.5 * n * math.log(rate + more) + shape * math.log1p(more / rate) + 0.5 * math.log1p(n / kappa)
    return log_gamma_ratio(shape, 0.5 * n) - weights


@subkernel
def _posterior(prior: Array, n: float, total: float, squares: float) -> tuple[float, float, float, float]:
    """Return the posterior (mean, kappa, shape, rate), as `NormalGamma.posterior` does."""
    mean, kappa = prior[0], prior[1]
    rate = prior[3] + _rise_of_rate(prior, n, total, squares)
    return (kappa * mean + total) / (kappa + n), kappa + n, prior[2] + 0.5 * n, rate


@subkernel
def _rise_of_rate(prior: Array, n: float, total: float, squares: float) -> float:
    mean, kappa = prior[0], prior[1]
    average = total / n if n > 0.0 else 0.0
    scatter = max(squares - total * average, 0.0)
    apart = average - mean
    rise: float = 0.5 * scatter + 0.5 * kappa * n * apart * apart / (kappa + n)
    return rise


@subkernel
def gaussian_coefficients(prior: Array, sums: Array, out: Array, stride: int, left: Array, left_stride: int) -> None:
    """Write the coefficients of the log predictives of a Gaussian feature under one cluster (`fill_coefficients`).

    The predictive is Student's t with 2 shape' degrees of freedom (Raykov, Boukouvalas and Little 2014, eq. 11), with
    primes for the posterior. Without z in the cluster, the rate is smaller by kappa' (z - mean')^2 / (2 (kappa' - 1)),
    and A = ln Gamma(shape) - shape ln rate - ln(kappa) / 2. `gaussian_left_out` is accurate even if the remaining rate
    is very small.
    """
    mean, kappa, shape, rate = _posterior(prior, sums[0], sums[1], sums[2])
    precision = kappa / (2.0 * rate * (kappa + 1.0))
    out[0] = log_gamma_ratio(shape, 0.5) + 0.5 * math.log(precision / math.pi)
    out[stride] = shape + 0.5
    out[2 * stride] = precision
    out[3 * stride] = mean
    rest = max(kappa - 1.0, 1e-300)  # bounded for the empty cluster, which has no value to leave out
    left[0] = log_gamma_ratio(max(shape - 0.5, 1e-300), 0.5) + 0.5 * math.log(rest / (2.0 * math.pi * rate * kappa))
    left[left_stride] = shape - 0.5
    left[2 * left_stride] = 0.5 * kappa / (rest * rate)
    left[3 * left_stride] = mean


@subkernel
def gaussian_left_out(prior: Array, sums: Array, z: float) -> float:
    """Return the log predictive of the standardised value z under its own cluster without z."""
    mean, kappa, shape, rate = _posterior(prior, sums[0] - 1.0, sums[1] - z, sums[2] - z * z)
    precision = kappa / (2.0 * rate * (kappa + 1.0))
    log_density = log_gamma_ratio(shape, 0.5) + 0.5 * math.log(precision / math.pi)
    return log_density - (shape + 0.5) * math.log1p(precision * (z - mean) * (z - mean))


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

    The first column is sqrt(kappa') and sqrt(kappa') mean'; the rest is the Cholesky factor of the posterior scatter
    matrix, summed around the means, because M itself would lose its digits where a prior mean is far from the values.
    `prior` has the layout of `clinclust.priors.normal_wishart`; `sums` are the statistics of the cluster.
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
    """Write the coefficients of the log predictives of a feature given those before it, c0 .. c2, to `out` and `left`.

    With the sums s of `squares_of`, without (s) and with (s') the square of the feature itself, its log density is c0 -
    c1 ln(1 + s') + c2 ln(1 + s): Student's t. Under the cluster without the subject it is c0 + c1 ln(1 - s') - c2 ln(1
    - s), with the coefficients in `left`. Factor and degrees are from `factorise`.
    """
    rest = -0.5 * _LOG_PI - math.log(factor[n_statistics_of(place) - 1])
    out[0] = log_gamma_ratio(0.5 * degrees, 0.5) + rest
    out[stride] = 0.5 * (degrees + 1.0)
    out[2 * stride] = 0.5 * degrees
    left[0] = log_gamma_ratio(max(0.5 * (degrees - 1.0), 1e-300), 0.5) + rest
    left[left_stride] = 0.5 * (degrees - 1.0)
    left[2 * left_stride] = 0.5 * (degrees - 2.0)


@subkernel
def chained_log_marginal(prior: Array, sums: Array, place: int, factor: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A as in `clinclust.priors.normal_wishart.NormalWishart`."""
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
