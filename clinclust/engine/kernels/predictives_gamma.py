"""Compiled predictives of Poisson and exponential features, whose rate has a gamma prior; ratios of gamma functions."""

from __future__ import annotations

import math

from clinclust.arrays import Array
from clinclust.compiled import subkernel

_LARGE = 1000.0
"""Where Stirling's series takes over: its next term, 1 / (1260 x^5), is below the rounding error there."""
FEW = 16.0
"""Number of factors up to which a product is faster and more accurate than two log-gamma functions."""


@subkernel
def log_gamma_ratio(x: float, n: float) -> float:
    """Return ln Gamma(x + n) - ln Gamma(x) for x > 0 and n >= 0, which need not be whole.

    For large x the difference would lose digits, half a nat at x = 1e15. Stirling's series is subtracted term by term:

        (x - 1/2) ln(1 + n/x) + n [ln(x + n) - 1] + d(x + n) - d(x),    d(y) = 1/(12 y) - 1/(360 y^3) + ...
    """
    if x < _LARGE:
        return math.lgamma(x + n) - math.lgamma(x)
    y = x + n
    rest = n / (x * y) * (1.0 - (x * x + x * y + y * y) / (30.0 * x * x * y * y)) / 12.0
    return (x - 0.5) * math.log1p(n / x) + n * (math.log(y) - 1.0) - rest


@subkernel
def log_rising(x: float, n: float) -> float:
    """Return ln [x (x + 1) ... (x + n - 1)] = ln Gamma(x + n) - ln Gamma(x) for x > 0 and whole n >= 0."""
    if n > FEW:
        return log_gamma_ratio(x, n)
    product, j = 1.0, 0.0
    while j < n:
        product *= x + j
        j += 1.0
    return math.log(product)


@subkernel
def _log_factors(x: float, step: float, n: float) -> float:
    """Return ln [x (x + step) ... (x + (n - 1) step)], where step is 1, -1, or 0; if it is 0, x must be 1."""
    if step == 0.0:
        return 0.0
    return log_rising(x if step > 0.0 else x - n + 1.0, n)


@subkernel
def fill_factors(
    above: float,
    step_above: float,
    below: float,
    step_below: float,
    most: float,
    counts: Array,
    n_levels: int,
    numbers: Array,
    rests: Array,
) -> None:
    """Fill the differences of a logarithm of factorials, f(u), between each level and the level before.

        f(u) = ln prod_{j < u} (above + j step_above) / (below + j step_below)

    The difference of a level is ln numbers[level] + rests[level]; that of the first level is f(u) itself. A step is 1
    (rising) or -1 (falling); with `below` 1 and `step_below` 0 there is no divisor. Levels u = counts[2 * level] above
    `most` are impossible: their number is 1 and their rest is infinite.
    """
    last = 0.0
    for level in range(n_levels):
        u = counts[2 * level]
        numbers[level] = 1.0
        rests[level] = 0.0 if u <= most else math.inf
        if u <= most:
            if u - last > FEW:
                rests[level] = _log_factors(above + step_above * last, step_above, u - last)
                rests[level] -= _log_factors(below + step_below * last, step_below, u - last)
                last = u
            product = 1.0
            while last < u:
                product *= (above + step_above * last) / (below + step_below * last)
                last += 1.0
            numbers[level] = product


@subkernel
def gamma_log_marginal(prior: Array, sums: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A as in `clinclust.priors.conjugate.Gamma`."""
    shape, rate = prior[0], prior[1]
    weights: float = sums[0] * math.log(rate + sums[1]) + shape * math.log1p(sums[1] / rate)
    return log_gamma_ratio(shape, sums[0]) - weights


@subkernel
def poisson_predictives(
    prior: Array,
    sums: Array,
    counts: Array,
    log_base: Array,
    n_levels: int,
    numbers: Array,
    rests: Array,
    left_numbers: Array,
    left_rests: Array,
) -> None:
    """Fill, for every level of a Poisson feature, its log predictive minus that of the level before (`fill_levels`).

    The predictive of a count u is Gamma(shape + u) / Gamma(shape) rate^shape / (rate + 1)^(shape + u) times the base
    measure, with the posterior (shape, rate). The counts are (u, 1), which a subject adds to shape and rate.
    """
    shape, rate = prior[0] + sums[0], prior[1] + sums[1]
    most = sums[0] if sums[1] >= 1.0 else -1.0
    here, after = math.log(rate), math.log(rate + 1.0)
    before = math.log(rate - 1.0) if sums[1] >= 1.0 else 0.0
    fill_factors(shape, 1.0, 1.0, 0.0, math.inf, counts, n_levels, numbers, rests)
    fill_factors(shape - 1.0, -1.0, 1.0, 0.0, most, counts, n_levels, left_numbers, left_rests)
    rests[0] += shape * (here - after)
    left_rests[0] += shape * (before - here)
    last_count = last_base = 0.0
    for level in range(n_levels):
        more, rise = counts[2 * level] - last_count, log_base[level] - last_base
        rests[level] += rise - more * after
        left_rests[level] += rise - more * before
        last_count, last_base = counts[2 * level], log_base[level]


@subkernel
def exponential_coefficients(prior: Array, sums: Array, out: Array, stride: int, left: Array, left_stride: int) -> None:
    """Write the coefficients of an exponential's log predictive under one cluster, as a function of z = sqrt(x).

    The predictive is Lomax, shape' rate'^shape' / (rate' + x)^(shape' + 1), with primes for the posterior tau'. Without
    z in the cluster it is A(tau') - A(tau' - T(x)), with A = ln Gamma(shape) - shape ln rate; `exponential_left_out`
    computes the same number. The arguments are those of `fill_coefficients`.
    """
    shape, rate = prior[0] + sums[0], prior[1] + sums[1]
    log_rate = math.log(rate)
    out[0] = math.log(shape) - log_rate
    out[stride] = shape + 1.0
    out[2 * stride] = 1.0 / rate
    out[3 * stride] = 0.0
    rest_shape = max(shape - 1.0, 1e-300)  # bounded for the empty cluster, which has no value to leave out
    left[0] = math.log(rest_shape) - log_rate
    left[left_stride] = rest_shape
    left[2 * left_stride] = 1.0 / rate
    left[3 * left_stride] = 0.0


@subkernel
def exponential_left_out(prior: Array, sums: Array, z: float) -> float:
    """Return the log predictive of the exponential value x = z^2 under its own cluster without x."""
    x = z * z
    rest_shape: float = prior[0] + sums[0] - 1.0
    rest_rate: float = prior[1] + max(sums[1] - x, 0.0)  # rounding could make the sum without x negative
    return math.log(rest_shape) - math.log(rest_rate) - (rest_shape + 1.0) * math.log1p(x / rest_rate)
