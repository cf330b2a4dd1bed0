"""Compiled predictives of binomial, geometric and negative binomial features, whose probability has a beta prior."""

from __future__ import annotations

import math

from clinclust.arrays import Array
from clinclust.compiled import flat, subkernel
from clinclust.engine.kernels.predictives_gamma import FEW, fill_factors, log_gamma_ratio, log_rising


@subkernel
def beta_log_marginal(prior: Array, sums: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster, with A = ln B(a, b) (`clinclust.priors.conjugate.Beta`)."""
    return log_beta_gain(prior[0], prior[1], sums[0], sums[1])


@subkernel
def log_beta_gain(a: float, b: float, s: float, t: float) -> float:
    """Return ln B(a + s, b + t) - ln B(a, b), without the cancellation of large terms.

    If the statistics are smaller than both parameters, it is a difference of rising factorials, else of values of ln B.
    """
    if s + t <= min(a + s, b + t):
        return log_gamma_ratio(a, s) + log_gamma_ratio(b, t) - log_gamma_ratio(a + b, s + t)
    return _log_beta(a + s, b + t) - _log_beta(a, b)


@subkernel
def _log_beta(a: float, b: float) -> float:
    return math.lgamma(min(a, b)) - log_gamma_ratio(max(a, b), min(a, b))


@subkernel
def binomial_predictives(
    prior: Array,
    sums: Array,
    counts: Array,
    log_base: Array,
    n_levels: int,
    numbers: Array,
    rests: Array,
    left_numbers: Array,
    left_rests: Array,
    work: Array,
) -> None:
    """Fill the log predictive of every level of a binomial feature, as ln number + rest (`fill_levels`).

    A number is a product of few factors and keeps its digits. The logarithms of all numbers are computed later, in one
    loop. The counts are (x, n - x) of each level x: all of 0 .. n for n up to FEW, else any; `work`, (4 (FEW + 1),), is
    overwritten.
    """
    if n_levels == 0:
        return
    a, b, s, t = prior[0] + sums[0], prior[1] + sums[1], sums[0], sums[1]
    n_trials = counts[0] + counts[1]
    if n_trials == 1.0:  # a single trial, by far the most frequent case
        above, below = 1.0 / (a + b), 1.0 / (a + b - 1.0)
        numbers[0], numbers[1] = b * above, a * above
        left_numbers[0] = (b - 1.0) * below if t >= 1.0 else 1.0
        left_numbers[1] = (a - 1.0) * below if s >= 1.0 else 1.0
        rests[0] = rests[1] = left_rests[0] = left_rests[1] = 0.0
        return
    if n_trials <= FEW:
        _few_trials(a, b, s, t, n_levels - 1, numbers, rests, left_numbers, left_rests, work)
    else:
        _many_trials(a, b, s, t, n_trials, counts, n_levels, numbers, rests, left_numbers, left_rests)
    for level in range(n_levels):
        rests[level] += log_base[level]
        if s >= counts[2 * level] and t >= counts[2 * level + 1]:
            left_rests[level] += log_base[level]


@subkernel
def geometric_predictives(
    prior: Array,
    sums: Array,
    counts: Array,
    n_levels: int,
    numbers: Array,
    rests: Array,
    left_numbers: Array,
    left_rests: Array,
) -> None:
    """Fill, for every level of a geometric feature, its log predictive minus that of the level before (`fill_levels`).

    The predictive is a b^(x) / (a + b)^(x + 1), with the posterior (a, b) and the rising factorial y^(x) = y (y + 1)
    ... (y + x - 1). The counts are (1, x).
    """
    a, b, failures = prior[0] + sums[0], prior[1] + sums[1], flat(counts, 1)
    most = sums[1] if sums[0] >= 1.0 else -1.0
    fill_factors(b, 1.0, a + b + 1.0, 1.0, math.inf, failures, n_levels, numbers, rests)
    fill_factors(b - 1.0, -1.0, a + b - 2.0, -1.0, most, failures, n_levels, left_numbers, left_rests)
    numbers[0] *= a / (a + b)
    if most >= 0.0:
        left_numbers[0] *= (a - 1.0) / (a + b - 1.0)


@subkernel
def _few_trials(
    a: float,
    b: float,
    s: float,
    t: float,
    n: int,
    numbers: Array,
    rests: Array,
    left_numbers: Array,
    left_rests: Array,
    work: Array,
) -> None:
    """Fill a^(x) b^(n - x) / (a + b)^(n), the predictive without the binomial coefficient, of levels 0 .. n <= FEW."""
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
        numbers[x] = work[rising_a + x] * work[rising_b + n - x] * above
        holds = s >= x and t >= n - x
        left_numbers[x] = work[falling_a + x] * work[falling_b + n - x] * below if holds else 1.0
        rests[x] = left_rests[x] = 0.0


@subkernel
def _many_trials(
    a: float,
    b: float,
    s: float,
    t: float,
    n: float,
    counts: Array,
    n_levels: int,
    numbers: Array,
    rests: Array,
    left_numbers: Array,
    left_rests: Array,
) -> None:
    """Fill the same as `_few_trials` for more trials, as logarithms, because the products would overflow."""
    above = log_rising(a + b, n)
    below = log_rising(a + b - n, n) if s + t >= n else 0.0
    for level in range(n_levels):
        x = counts[2 * level]
        numbers[level] = left_numbers[level] = 1.0
        rests[level] = log_rising(a, x) + log_rising(b, n - x) - above
        holds = s >= x and t >= n - x
        left_rests[level] = log_rising(a - x, x) + log_rising(b - n + x, n - x) - below if holds else 0.0


@subkernel
def negative_binomial_log_marginal(prior: Array, sums: Array) -> float:
    """Return A(posterior) - A(prior) of one cluster: ln B(a + n r, b + sum) - ln B(a, b), with r the dispersion."""
    return log_beta_gain(prior[0], prior[1], prior[2] * sums[0], sums[1])


@subkernel
def negative_binomial_predictives(
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
    """Fill, for every level of a negative binomial feature, its log predictive minus that of the level before.

    The predictive of a count x is B(a + r, b + x) / B(a, b) = B(a + r, b) / B(a, b) b^(x) / (a + b + r)^(x) times the
    base measure, with the posterior (a, b), the rising factorial y^(x) = y (y + 1) ... (y + x - 1), and r the
    dispersion. For the cluster without one subject at level x it is B(a, b) / B(a - r, b - x) times the base measure.
    The arguments are those of `fill_levels`, with counts (1, x).
    """
    r, x = prior[2], flat(counts, 1)
    a, b = prior[0] + r * sums[0], prior[1] + sums[1]
    most = sums[1] if sums[0] >= 1.0 else -1.0
    fill_factors(b, 1.0, a + b + r, 1.0, math.inf, x, n_levels, numbers, rests)
    fill_factors(b - 1.0, -1.0, a + b - r - 1.0, -1.0, most, x, n_levels, left_numbers, left_rests)
    rests[0] += log_gamma_ratio(a, r) - log_gamma_ratio(a + b, r)
    if most >= 0.0:
        left_rests[0] += log_gamma_ratio(a - r, r) - log_gamma_ratio(a + b - r, r)
    last = 0.0
    for level in range(n_levels):
        rests[level] += log_base[level] - last
        left_rests[level] += log_base[level] - last
        last = log_base[level]
