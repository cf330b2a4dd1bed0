"""Two-sample t-tests and effect sizes from means, variances and counts, elementwise on arrays.

Two sides without any spread are the one case the textbooks leave open. With equal means there is nothing to
test and every result is NaN. With different means the results are the limit of a vanishing spread: the
statistic and the standardised difference are infinite and p is 0 (as in SciPy; R stops with an error),
because a feature that separates two subtypes without exception must not drop out of a report.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clinclust.comparisons.sides import Floats, Side

__all__ = ["TTest", "adjusted", "satterthwaite", "standardised_difference", "student", "welch"]

_LEAST_OBSERVED = 2


class TTest(NamedTuple):
    """Statistic, degrees of freedom and two-sided p; NaN where a side has fewer than two observed values."""

    statistic: Floats
    df: Floats
    p: Floats


def student(a: Side, b: Side) -> TTest:
    """Student's t-test, which takes both variances to be equal (the test of the paper, section 6)."""
    with np.errstate(all="ignore"):
        df = a.n + b.n - 2
        pooled = ((a.n - 1) * a.variance + (b.n - 1) * b.variance) / df
        return _t_test(a, b, pooled * (1 / a.n + 1 / b.n), df)


def welch(a: Side, b: Side) -> TTest:
    """Welch's t-test, which lets each side have its own variance (df by Welch and Satterthwaite)."""
    with np.errstate(all="ignore"):
        error_a, error_b = a.variance / a.n, b.variance / b.n
        return _t_test(a, b, error_a + error_b, satterthwaite(error_a, error_b, a.n, b.n))


def satterthwaite(error_a: Floats, error_b: Floats, n_a: Floats, n_b: Floats) -> Floats:
    """Degrees of freedom of the sum of two independent squared errors, of n_a - 1 and n_b - 1 degrees."""
    # By shares: squares of very small variances would vanish.
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
    """(mean_a - mean_b) / sqrt((variance_a + variance_b) / 2): the difference in units of the usual spread.

    For proportions the variance is p (1 - p).
    """
    with np.errstate(all="ignore"):
        difference: Floats = (mean_a - mean_b) / np.sqrt((variance_a + variance_b) / 2)
    return difference


def adjusted(p: Floats) -> Floats:
    """Benjamini-Hochberg q of every p that is not NaN; the others stay NaN and do not count as tests."""
    q = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    if tested.any():
        from statsmodels.stats.multitest import multipletests

        q[tested] = multipletests(p[tested], method="fdr_bh")[1]
    return q
