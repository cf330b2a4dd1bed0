"""Log predictives of every prior, as tables over levels or coefficients, and the branch over likelihoods."""

from __future__ import annotations

import math
from typing import NamedTuple

from clinclust.arrays import Array
from clinclust.engine.kernels.compiled import flat, subkernel
from clinclust.likelihoods.binomial import Binomial
from clinclust.likelihoods.categorical import Categorical
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.geometric import Geometric
from clinclust.likelihoods.multivariate_gaussian import MultivariateGaussian
from clinclust.likelihoods.negative_binomial import NegativeBinomial
from clinclust.likelihoods.ordinal import Ordinal
from clinclust.likelihoods.poisson import Poisson


class Levels(NamedTuple):
    """The levels of a discrete feature, and what `fill_levels` writes: their log predictives, ln numbers + rests."""

    counts: Array  # (2 L,) statistics of one subject at each level
    log_base: Array  # (L,) log base measures
    n_levels: int
    # Products of few factors, which keep their digits. Their logarithms are computed later, in one loop.
    numbers: Array  # (L,)
    rests: Array  # (L,)
    left_numbers: Array  # (L,) as `numbers`, for the cluster without one subject at the level
    left_rests: Array  # (L,)
    work: Array  # (4 (FEW + 1),) work space


# Compiled predictives of binomial, geometric and negative binomial features, whose probability has a beta prior.


@subkernel
def log_beta_gain(a: float, b: float, s: float, t: float) -> float:
    """Return ln B(a + s, b + t) - ln B(a, b); by rising factorials if few are added, as large terms would cancel."""
    if s + t <= min(a + s, b + t):
        return log_gamma_ratio(a, s) + log_gamma_ratio(b, t) - log_gamma_ratio(a + b, s + t)
    return _log_beta(a + s, b + t) - _log_beta(a, b)


@subkernel
def _log_beta(a: float, b: float) -> float:
    return math.lgamma(min(a, b)) - log_gamma_ratio(max(a, b), min(a, b))


@subkernel
def binomial_predictives(prior: Array, sums: Array, levels: Levels) -> None:
    """Fill the log predictives of levels (x, n - x) of a binomial feature: all of 0 .. n for n up to FEW, else any."""
    counts, n_levels = levels.counts, levels.n_levels
    rests, left_rests, log_base = levels.rests, levels.left_rests, levels.log_base
    if n_levels == 0:
        return
    a, b, s, t = prior[0] + sums[0], prior[1] + sums[1], sums[0], sums[1]
    n_trials = counts[0] + counts[1]
    if n_trials <= FEW:  # a^(x) b^(n - x) / (a + b)^(n), the predictive without the binomial coefficient
        n, work = n_levels - 1, levels.work
        rising_a, rising_b, falling_a, falling_b = 0, n + 1, 2 * (n + 1), 3 * (n + 1)
        work[rising_a] = work[rising_b] = work[falling_a] = work[falling_b] = 1.0
        above = below = 1.0
        for j in range(n):
            work[rising_a + j + 1] = work[rising_a + j] * (a + j)
            work[rising_b + j + 1] = work[rising_b + j] * (b + j)
            work[falling_a + j + 1] = work[falling_a + j] * (a - 1.0 - j)
            work[falling_b + j + 1] = work[falling_b + j] * (b - 1.0 - j)
            above *= a + b + j
            below *= a + b - 1.0 - j
        above = 1.0 / above
        below = 1.0 / below
        for x in range(n + 1):
            levels.numbers[x] = work[rising_a + x] * work[rising_b + n - x] * above
            holds = s >= x and t >= n - x
            levels.left_numbers[x] = work[falling_a + x] * work[falling_b + n - x] * below if holds else 1.0
            rests[x], left_rests[x] = log_base[x], log_base[x] if holds else 0.0
    else:  # the same as logarithms, because the products would overflow
        above = log_rising(a + b, n_trials)
        below = log_rising(a + b - n_trials, n_trials) if s + t >= n_trials else 0.0
        for level in range(n_levels):
            x, rest = counts[2 * level], n_trials - counts[2 * level]
            levels.numbers[level] = levels.left_numbers[level] = 1.0
            rests[level] = log_rising(a, x) + log_rising(b, rest) - above + log_base[level]
            left_rests[level] = 0.0
            if s >= x and t >= rest:
                without_one = log_rising(a - x, x) + log_rising(b - n_trials + x, rest) - below
                left_rests[level] = without_one + log_base[level]


@subkernel
def failure_predictives(kind: int, prior: Array, sums: Array, levels: Levels) -> None:
    """Fill the log predictive of each level of a geometric or negative binomial feature minus that of the level before.

    The predictive of a count x is B(a + r, b + x) / B(a, b) = B(a + r, b) / B(a, b) b^(x) / (a + b + r)^(x) times the
    base measure, with the posterior (a, b), the rising factorial y^(x) = y (y + 1) ... (y + x - 1), and r the
    dispersion, 1 of a geometric feature. For the cluster without one subject at level x it is B(a, b) / B(a - r, b - x)
    times the base measure. The counts are (1, x).
    """
    r, x, n_levels = 1.0 if kind == GEOMETRIC else prior[2], flat(levels.counts, 1), levels.n_levels
    rests, left_rests, log_base = levels.rests, levels.left_rests, levels.log_base
    a, b = prior[0] + r * sums[0], prior[1] + sums[1]
    most = sums[1] if sums[0] >= 1.0 else -1.0
    fill_factors((b, 1.0, a + b + r, 1.0), math.inf, x, n_levels, levels.numbers, rests)
    fill_factors((b - 1.0, -1.0, a + b - r - 1.0, -1.0), most, x, n_levels, levels.left_numbers, left_rests)
    if kind == GEOMETRIC:  # B(a + 1, b) / B(a, b) = a / (a + b), and the base measure is 1
        levels.numbers[0] *= a / (a + b)
        if most >= 0.0:
            levels.left_numbers[0] *= (a - 1.0) / (a + b - 1.0)
        return
    rests[0] += log_gamma_ratio(a, r) - log_gamma_ratio(a + b, r)
    if most >= 0.0:
        left_rests[0] += log_gamma_ratio(a - r, r) - log_gamma_ratio(a + b - r, r)
    last = 0.0
    for level in range(n_levels):
        rests[level] += log_base[level] - last
        left_rests[level] += log_base[level] - last
        last = log_base[level]


# Compiled predictives of categorical and ordinal features (`priors.conjugate`, `priors.dirichlet_tree`).


@subkernel
def categorical_predictives(prior: Array, sums: Array, levels: Levels) -> None:
    """Fill the log predictive of every level of a categorical feature: its share of concentrations and counts."""
    total = 0.0
    for level in range(levels.n_levels):
        total += prior[level] + sums[level]
    for level in range(levels.n_levels):
        weight = prior[level] + sums[level]
        levels.numbers[level] = weight / total
        levels.left_numbers[level] = (weight - 1.0) / (total - 1.0) if sums[level] >= 1.0 else 1.0
        levels.rests[level] = levels.left_rests[level] = 0.0


@subkernel
def _halves(sums: Array, n_levels: int, boundary: int) -> tuple[int, int, float, float]:
    """Return the first and behind the last of the levels divided at this boundary, and the sums of their halves."""
    first, last = 0, n_levels
    middle = (first + last) // 2
    while middle != boundary:
        if boundary < middle:
            last = middle
        else:
            first = middle
        middle = (first + last) // 2
    below = above = 0.0
    for level in range(first, boundary):
        below += sums[level]
    for level in range(boundary, last):
        above += sums[level]
    return first, last, below, above


@subkernel
def ordinal_predictives(prior: Array, sums: Array, levels: Levels) -> None:
    """Fill the log predictives of an ordinal feature: products of the mean shares of the halves with the level."""
    n_levels = levels.n_levels
    for level in range(n_levels):
        levels.numbers[level] = levels.left_numbers[level] = 1.0
        levels.rests[level] = levels.left_rests[level] = 0.0
    for boundary in range(1, n_levels):
        first, last, below, above = _halves(sums, n_levels, boundary)
        lower, upper = prior[boundary - 1] + below, prior[n_levels + boundary - 2] + above
        for level in range(first, last):
            side = lower if level < boundary else upper
            levels.numbers[level] *= side / (lower + upper)
            if sums[level] >= 1.0:
                levels.left_numbers[level] *= (side - 1.0) / (lower + upper - 1.0)


# Compiled predictives of Poisson features, whose rate has a gamma prior; ratios of gamma functions.

_LARGE = 1000.0  # where Stirling's series takes over: its next term, 1 / (1260 x^5), is below the rounding error there
FEW = 16.0  # number of factors up to which a product is faster and more accurate than two log-gamma functions


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
    ratio: tuple[float, float, float, float], most: float, counts: Array, n_levels: int, numbers: Array, rests: Array
) -> None:
    """Fill the differences of a logarithm of factorials, f(u), between each level and the level before.

    With the ratio (above, step_above, below, step_below),

        f(u) = ln prod_{j < u} (above + j step_above) / (below + j step_below)

    The difference of a level is ln numbers[level] + rests[level]; that of the first level is f(u) itself. A step is 1
    (rising) or -1 (falling); with `below` 1 and `step_below` 0 there is no divisor. Levels u = counts[2 * level] above
    `most` are impossible: their number is 1 and their rest is infinite.
    """
    above, step_above, below, step_below = ratio
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
def poisson_predictives(prior: Array, sums: Array, levels: Levels) -> None:
    """Fill, for every level of a Poisson feature, its log predictive minus that of the level before.

    The predictive of a count u is Gamma(shape + u) / Gamma(shape) rate^shape / (rate + 1)^(shape + u) times the base
    measure, with the posterior (shape, rate). The counts are (u, 1), which a subject adds to shape and rate.
    """
    counts, n_levels, log_base = levels.counts, levels.n_levels, levels.log_base
    rests, left_rests = levels.rests, levels.left_rests
    shape, rate = prior[0] + sums[0], prior[1] + sums[1]
    most = sums[0] if sums[1] >= 1.0 else -1.0
    here, after = math.log(rate), math.log(rate + 1.0)
    before = math.log(rate - 1.0) if sums[1] >= 1.0 else 0.0
    fill_factors((shape, 1.0, 1.0, 0.0), math.inf, counts, n_levels, levels.numbers, rests)
    fill_factors((shape - 1.0, -1.0, 1.0, 0.0), most, counts, n_levels, levels.left_numbers, left_rests)
    rests[0] += shape * (here - after)
    left_rests[0] += shape * (before - here)
    last_count = last_base = 0.0
    for level in range(n_levels):
        more, rise = counts[2 * level] - last_count, log_base[level] - last_base
        rests[level] += rise - more * after
        left_rests[level] += rise - more * before
        last_count, last_base = counts[2 * level], log_base[level]


# Compiled predictives of Gaussian features, alone (`NormalGamma`) and in a block (`priors.normal_wishart`).
#
# In a block each feature is predicted given those before it. With v = (1, x_0 .. x_l), the natural parameters of the
# factor of feature l are `degrees` and the matrix
#
#     M = [[kappa, kappa mean'], [kappa mean, scatter + kappa mean mean']],
#
# to which each subject adds 1 and v v'. All predictives follow from the Cholesky factor L of the posterior M and from w
# = L^-1 v: adding v v' multiplies the determinant of the leading matrix of order j + 1 by 1 + w_0^2 + .. + w_j^2, and
# taking v away by 1 - w_0^2 - .. - w_j^2.

_LEAST = 1e-300  # smallest square of a diagonal element: rounding may make it 0 or negative where values are collinear
_LOG_PI = math.log(math.pi)


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
    start, before, square = 0, 0.0, 0.0
    for i in range(place + 2):
        row = flat(factor, start)
        rest = 1.0 if i == 0 else values[i - 1]
        for j in range(i):
            rest -= row[j] * work[j]
        work[i] = rest / row[i]
        before += square
        square = work[i] * work[i]
        start += i + 1
    return before, before + square


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
    posterior, nothing = flat(factor, 0), flat(factor, size)
    for s in range(size):
        nothing[s] = 0.0
    first = flat(factor, 2 * size)
    degrees = factorise(prior, sums, place, posterior)
    degrees_before = factorise(prior, nothing, place, first)
    rise = log_gamma_ratio(0.5 * degrees_before, 0.5 * (degrees - degrees_before))
    at = -1
    for i in range(place + 2):
        at += i + 1
        change = math.log(posterior[at] / first[at])
        # Of many degrees, the difference of degrees times logarithms would keep few digits.
        rise -= degrees * change + (degrees - degrees_before) * math.log(first[at]) if i == place + 1 else change
    return rise


# Dispatch of the compiled functions by the likelihood of a feature. No other compiled code compares likelihoods.
#
# `CohortArrays.kinds` holds the code of each feature's likelihood. An unknown code gives NaN, so that scores become
# NaN.

# Compiled functions treat global numbers as constants. Bernoulli has the code of the binomial, with one trial.
BINOMIAL, GEOMETRIC, POISSON = Binomial.kernel, Geometric.kernel, Poisson.kernel
NEGATIVE_BINOMIAL, CATEGORICAL, ORDINAL = NegativeBinomial.kernel, Categorical.kernel, Ordinal.kernel
_UNKNOWN: tuple[float, ...] = (math.nan,) * 8
EXPONENTIAL, GAUSSIAN, CHAINED = Exponential.kernel, Gaussian.kernel, MultivariateGaussian.kernel
COUNTS = CATEGORICAL, ORDINAL  # for these the sufficient statistics are the numbers of subjects at each level
ADDS_UP = GEOMETRIC, POISSON, NEGATIVE_BINOMIAL
"""For these `fill_levels` fills differences: the log predictive of a level minus that of the level before."""


@subkernel
def fill_levels(kind: int, prior: Array, sums: Array, levels: Levels) -> None:
    """Fill the log predictive of every level of one discrete feature under one cluster, as ln numbers + rests.

    In `ADDS_UP`, it is the difference to the level before. `left_numbers` and `left_rests` are those of the cluster
    without one subject at that level; where the statistics exclude such a subject, 1 and 0, or 1 and infinity if
    in `ADDS_UP`. `refresh` recognises these, because the resulting log predictive is not below 0.
    """
    if kind == BINOMIAL:
        binomial_predictives(prior, sums, levels)
    elif kind in (GEOMETRIC, NEGATIVE_BINOMIAL):
        failure_predictives(kind, prior, sums, levels)
    elif kind == POISSON:
        poisson_predictives(prior, sums, levels)
    elif kind == CATEGORICAL:
        categorical_predictives(prior, sums, levels)
    elif kind == ORDINAL:
        ordinal_predictives(prior, sums, levels)
    else:
        for level in range(levels.n_levels):
            levels.numbers[level] = levels.left_numbers[level] = 1.0
            levels.rests[level] = levels.left_rests[level] = math.nan


@subkernel
def fill_coefficients(
    kind: int, prior: Array, sums: Array, out: Array, stride: int, left: Array, left_stride: int
) -> None:
    """Write the coefficients of the log predictives of one continuous feature under one cluster.

    `out` receives c0 .. c3 of the log predictive c0 - c1 ln(1 + c2 (z - c3)^2), `stride` elements apart, and `left`
    those of c0 + c1 ln(1 - c2 (z - c3)^2), the log predictive of z under the cluster without z.
    """
    # The empty cluster has no value to leave out: what would remain of its parameters is bounded by 1e-300.
    coefficients = _UNKNOWN
    if kind == EXPONENTIAL:
        # A function of z = sqrt(x): Lomax, shape' rate'^shape' / (rate' + x)^(shape' + 1), with primes for the
        # posterior tau'; without z it is A(tau') - A(tau' - T(x)), with A = ln Gamma(shape) - shape ln rate.
        shape, rate = prior[0] + sums[0], prior[1] + sums[1]
        rest, log_rate = max(shape - 1.0, 1e-300), math.log(rate)
        without = math.log(rest) - log_rate
        coefficients = math.log(shape) - log_rate, shape + 1.0, 1.0 / rate, 0.0, without, rest, 1.0 / rate, 0.0
    elif kind == GAUSSIAN:
        # Student's t with 2 shape' degrees of freedom (Raykov, Boukouvalas and Little 2014, eq. 11). Without z, the
        # rate is smaller by kappa' (z - mean')^2 / (2 (kappa' - 1)), and A = ln Gamma(shape) - shape ln rate -
        # ln(kappa) / 2.
        mean, kappa, shape, rate = _posterior(prior, sums[0], sums[1], sums[2])
        precision = kappa / (2.0 * rate * (kappa + 1.0))
        here = log_gamma_ratio(shape, 0.5) + 0.5 * math.log(precision / math.pi)
        rest = max(kappa - 1.0, 1e-300)
        without = log_gamma_ratio(max(shape - 0.5, 1e-300), 0.5) + 0.5 * math.log(rest / (2.0 * math.pi * rate * kappa))
        coefficients = here, shape + 0.5, precision, mean, without, shape - 0.5, 0.5 * kappa / (rest * rate), mean
    for part in range(4):
        out[part * stride], left[part * left_stride] = coefficients[part], coefficients[4 + part]


@subkernel
def left_out_value(kind: int, prior: Array, sums: Array, z: float) -> float:
    """Return the log predictive of z under its own cluster without z, accurate even if little of the rate remains."""
    if kind == EXPONENTIAL:
        x = z * z
        rest_shape: float = prior[0] + sums[0] - 1.0
        rest_rate: float = prior[1] + max(sums[1] - x, 0.0)  # rounding could make the sum without x negative
        return math.log(rest_shape) - math.log(rest_rate) - (rest_shape + 1.0) * math.log1p(x / rest_rate)
    if kind == GAUSSIAN:
        mean, kappa, shape, rate = _posterior(prior, sums[0] - 1.0, sums[1] - z, sums[2] - z * z)
        precision = kappa / (2.0 * rate * (kappa + 1.0))
        log_density = log_gamma_ratio(shape, 0.5) + 0.5 * math.log(precision / math.pi)
        return log_density - (shape + 0.5) * math.log1p(precision * (z - mean) * (z - mean))
    return math.nan


@subkernel
def add_value(kind: int, sums: Array, n_statistics: int, values: Array, column: int, sign: float) -> None:
    """Add the continuous value at `column` to the sufficient statistics of a cluster, or remove it, by its sign."""
    if kind == CHAINED:
        place = place_in_block(n_statistics)
        add_values(sums, flat(values, column - place), place, sign)
        return
    z = values[column]
    sums[0] += sign
    if kind == EXPONENTIAL:
        sums[1] += sign * z * z
    else:
        sums[1] += sign * z
        sums[2] += sign * z * z


@subkernel
def log_marginal(kind: int, prior: Array, sums: Array, n_statistics: int, work: Array) -> float:
    """Return A(posterior) - A(prior) of one feature in one cluster; `work`, (3 S,), is overwritten."""
    n = sums[0]
    if kind in (BINOMIAL, GEOMETRIC):
        return log_beta_gain(prior[0], prior[1], n, sums[1])
    if kind == NEGATIVE_BINOMIAL:
        return log_beta_gain(prior[0], prior[1], prior[2] * n, sums[1])
    if kind in (POISSON, EXPONENTIAL):
        shape, rate = prior[0], prior[1]
        weights: float = n * math.log(rate + sums[1]) + shape * math.log1p(sums[1] / rate)
        return log_gamma_ratio(shape, n) - weights
    if kind == CATEGORICAL:
        value = all_levels = count = 0.0
        for level in range(n_statistics):
            all_levels += prior[level]
            count += sums[level]
            if sums[level] > 0.0:
                value += log_gamma_ratio(prior[level], sums[level])
        return value - log_gamma_ratio(all_levels, count)
    if kind == ORDINAL:
        value = 0.0
        for boundary in range(1, n_statistics):
            _, _, s, t = _halves(sums, n_statistics, boundary)
            if s + t > 0.0:
                value += log_beta_gain(prior[boundary - 1], prior[n_statistics + boundary - 2], s, t)
        return value
    if kind == GAUSSIAN:
        kappa, shape, rate = prior[1], prior[2], prior[3]
        more = _rise_of_rate(prior, n, sums[1], sums[2])
        weights = 0.5 * n * math.log(rate + more) + shape * math.log1p(more / rate) + 0.5 * math.log1p(n / kappa)
        return log_gamma_ratio(shape, 0.5 * n) - weights
    if kind == CHAINED:
        return chained_log_marginal(prior, sums, place_in_block(n_statistics), work)
    return math.nan


@subkernel
def place_in_block(n_statistics: int) -> int:
    """Return the place of a feature of a multivariate Gaussian block, from its number of sufficient statistics."""
    place = 0
    while (place + 2) * (place + 3) // 2 < n_statistics:
        place += 1
    return place
