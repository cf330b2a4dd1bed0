"""Effect sizes between two sides, given by their means and (possibly unequal) variances, with 95% intervals."""

from __future__ import annotations

import numpy as np

from clinclust.comparisons.sides import Effect, Floats, Side
from clinclust.comparisons.t_tests import satterthwaite, standardised_difference

__all__ = ["NORMAL_QUANTILE", "difference", "ratio", "standardised", "t_quantile"]

NORMAL_QUANTILE = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""

_LARGEST_MEAN_OF_NOTHING = 3.6888794541139363
"""-ln 0.025. If n counts are all 0, the upper limit of their mean is this / n (exact Poisson interval)."""


def t_quantile(df: Floats) -> Floats:
    """Return the 0.975 quantile of Student's t distribution, of the shape of `df`."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(df, 0.975), dtype=np.float64)


def standardised(a: Side, b: Side) -> Effect:
    """Return d, the difference of the means divided by s, the root of the mean of both variances, with its interval.

    The interval is d +- 1.96 times the root of the large-sample variance of d for normal values with unequal variances,

        d^2 (v_a^2 / f_a + v_b^2 / f_b) / (8 s^4) + v_a / (s^2 f_a) + v_b / (s^2 f_b),    f = n - 1

    (Bonett 2008, Psychological Methods 13, 99-109, with the contrast 1, -1). It follows from the delta method, in which
    an estimated variance v has variance 2 v^2 / f.
    """
    estimate = standardised_difference(a.mean, b.mean, a.variance, b.variance)
    with np.errstate(all="ignore"):
        spread = (a.variance + b.variance) / 2
        squared_error = sum(
            estimate**2 * (side.variance / spread) ** 2 / (8 * (side.n - 1)) + side.variance / spread / (side.n - 1)
            for side in (a, b)
        )
        return around(estimate, NORMAL_QUANTILE * np.sqrt(squared_error))


def difference(a: Side, b: Side) -> Effect:
    """Return the difference of the means, with the interval of Welch's t-test."""
    with np.errstate(all="ignore"):
        error_a, error_b = a.variance / a.n, b.variance / b.n
        quantile = t_quantile(satterthwaite(error_a, error_b, a.n, b.n))
        return around(a.mean - b.mean, quantile * np.sqrt(error_a + error_b))


def ratio(a: Side, b: Side) -> Effect:
    """Return the ratio of the means of values that are 0 or greater, with its interval.

    For counts in periods of equal length it is a rate ratio. The interval is symmetric in the logarithm, with the
    robust variance v_a / (n_a m_a^2) + v_b / (n_b m_b^2): the sandwich (HC2) variance of a Poisson regression with the
    side as covariate. It does not assume a Poisson distribution, because clinical counts vary more. The quantile is
    that of Student's t with Satterthwaite's degrees of freedom.

    If all values of one side are 0, that variance does not exist. The interval of the mean of this side is then 0 to
    -ln(0.025) / n (the exact Poisson interval), that of the other mean is as above, and the two are combined as in
    Donner and Zou (2012, Statistical Methods in Medical Research 21, 347-359, eq. 9).
    """
    with np.errstate(all="ignore"):
        estimate = a.mean / b.mean
        error_a, error_b = (side.variance / side.n / side.mean**2 for side in (a, b))
        quantile = t_quantile(satterthwaite(error_a, error_b, a.n, b.n))
        margin = np.sqrt(error_a + error_b)
        margin = np.exp(np.where(margin > 0, quantile * margin, np.nan))
        lower, upper = estimate / margin, estimate * margin
        nothing_a, nothing_b = (a.mean == 0) & (b.mean > 0), (b.mean == 0) & (a.mean > 0)
        lower = np.where(nothing_a, 0.0, np.where(nothing_b, 1 / _from_nothing(b, a), lower))
        upper = np.where(nothing_b, np.inf, np.where(nothing_a, _from_nothing(a, b), upper))
    return Effect(estimate, lower, upper)


def around(estimate: Floats, margin: Floats) -> Effect:
    """Return the interval estimate +- margin; NaN ends if the estimate is not finite, or the margin not positive."""
    margin = np.where(np.isfinite(estimate) & (margin > 0), margin, np.nan)
    return Effect(estimate, estimate - margin, estimate + margin)


def _from_nothing(nothing: Side, something: Side) -> Floats:
    """Return the upper limit of the ratio of the mean of `nothing` (all values are 0) to the mean of `something`."""
    error = np.sqrt(something.variance / something.n) / something.mean
    least = np.exp(-t_quantile(something.n - 1) * error)  # the lower limit of the other mean, divided by that mean
    upper: Floats = _LARGEST_MEAN_OF_NOTHING / nothing.n / something.mean / np.sqrt(least * (2 - least))
    return upper
