"""Two-sample t-tests and standardised differences from means, variances and counts, elementwise on arrays.

Without spread in either group, results are NaN if the means are equal, and else infinite with p = 0.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Times: TypeAlias = NDArray[np.int64] | None
"""(R,) the number of subjects that each of R values counts for; None = one."""


class Side(NamedTuple):
    """One group of a comparison: numbers of observed values, means, variances (denominator n - 1), all of one shape."""

    n: Floats
    mean: Floats
    variance: Floats


class Effect(NamedTuple):
    """An effect size and the ends of its 95% confidence interval; NaN where they do not exist."""

    estimate: Floats
    lower: Floats
    upper: Floats


def moments(values: Floats, times: Times) -> tuple[float, float]:
    """Return the mean and the variance (denominator n - 1) of at least one value."""
    if times is None:
        return float(values.mean()), float(values.var(ddof=1))
    n = times.sum()
    mean = float(times @ values / n)
    return mean, float(times @ (values - mean) ** 2 / (n - 1))


def pooled(a: Side, b: Side) -> Side:
    """Return both groups merged into one (Chan, Golub and LeVeque 1979)."""
    n = a.n + b.n
    with np.errstate(all="ignore"):
        distance = np.where((a.n > 0) & (b.n > 0), b.mean - a.mean, 0.0)
        mean = np.where(a.n > 0, a.mean, b.mean) + distance * (b.n / n)
        squares = _squares(a) + _squares(b) + distance**2 * (a.n * (b.n / n))
        variance = np.where(n > 1, squares / (n - 1), np.nan)
    return Side(n, np.where(n > 0, mean, np.nan), variance)


def everybody_else(groups: Side) -> Side:
    """Return, for each group (last axis), all other groups merged into one."""
    parts = [Side(*(moment[..., group] for moment in groups)) for group in range(groups.n.shape[-1])]
    empty = Side(*(np.full(groups.n.shape[:-1], moment) for moment in (0.0, np.nan, np.nan)))
    before = [empty, *accumulate(parts, pooled)]
    after = [empty, *accumulate(reversed(parts), pooled)][::-1]
    others = [pooled(before[group], after[group + 1]) for group in range(len(parts))]
    return Side(*(np.stack(moment, axis=-1) for moment in zip(*others, strict=True)))


def _squares(side: Side) -> Floats:
    """Return the sum of squares about the mean; 0 for fewer than two values, whose variance may be NaN."""
    return np.where(side.n > 1, side.variance * (side.n - 1), 0.0)


_LEAST_OBSERVED = 2


class TTest(NamedTuple):
    """The statistic, degrees of freedom and two-sided p; NaN if either has fewer than two observed values."""

    statistic: Floats
    df: Floats
    p: Floats


def student(a: Side, b: Side) -> TTest:
    """Return Student's t-test, which assumes equal variances (the test of the paper, section 6)."""
    with np.errstate(all="ignore"):
        df = a.n + b.n - 2
        pooled = ((a.n - 1) * a.variance + (b.n - 1) * b.variance) / df
        return _t_test(a, b, pooled * (1 / a.n + 1 / b.n), df)


def welch(a: Side, b: Side) -> TTest:
    """Return Welch's t-test, which allows unequal variances (degrees of freedom of Welch and Satterthwaite)."""
    with np.errstate(all="ignore"):
        error_a, error_b = a.variance / a.n, b.variance / b.n
        return _t_test(a, b, error_a + error_b, satterthwaite(error_a, error_b, a.n, b.n))


def satterthwaite(error_a: Floats, error_b: Floats, n_a: Floats, n_b: Floats) -> Floats:
    """Return Satterthwaite's degrees of freedom, (e_a + e_b)^2 / (e_a^2 / (n_a - 1) + e_b^2 / (n_b - 1))."""
    # Computed from shares, because the squares of very small variances underflow to 0.
    share = error_a / (error_a + error_b)
    df: Floats = 1 / (share**2 / (n_a - 1) + (1 - share) ** 2 / (n_b - 1))
    return df


def _t_test(a: Side, b: Side, squared_error: Floats, df: Floats) -> TTest:
    from scipy.special import stdtr

    statistic = (a.mean - b.mean) / np.sqrt(squared_error)
    p = np.where(np.isinf(statistic), 0.0, 2 * stdtr(df, -np.abs(statistic)))
    testable = (a.n >= _LEAST_OBSERVED) & (b.n >= _LEAST_OBSERVED) & ~np.isnan(statistic)
    return TTest(*(np.where(testable, result, np.nan) for result in (statistic, df, p)))


def standardised_difference(mean_a: Floats, mean_b: Floats, variance_a: Floats, variance_b: Floats) -> Floats:
    """Return (mean_a - mean_b) / sqrt((variance_a + variance_b) / 2); the variance of a share p is p (1 - p)."""
    with np.errstate(all="ignore"):
        difference: Floats = (mean_a - mean_b) / np.sqrt((variance_a + variance_b) / 2)
    return difference


def adjusted(p: Floats) -> Floats:
    """Return the Benjamini-Hochberg q of every p, of the same shape; a NaN stays NaN and does not count as a test."""
    q = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    if tested.any():
        from statsmodels.stats.multitest import multipletests

        q[tested] = multipletests(p[tested], method="fdr_bh")[1]
    return q
