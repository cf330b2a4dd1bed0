"""Effect sizes between two shares of subjects, with 95% intervals that remain valid for shares of 0 and 1.

A share is given as a `Side` whose mean is the share; its variance is not used.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clinclust.comparisons.effects_of_means import NORMAL_QUANTILE
from clinclust.comparisons.sides import Effect, Floats, Side
from clinclust.comparisons.t_tests import standardised_difference

__all__ = ["odds_ratio", "risk_difference", "standardised_share"]

_HALVINGS = 80  # enough halvings to find the upper limit to the last bit of a float64


def standardised_share(a: Side, b: Side) -> Effect:
    """Return the difference d of the shares divided by s, the root of the mean of both p (1 - p), with its interval.

    The interval is computed as that of `risk_difference`, by the recovery of variances (Zou and Donner 2008, Statistics
    in Medicine 27, 1693-1702). The effect size increases with the first share and decreases with the second. Each share
    in turn is moved to its Wilson limit; the distance of an end from the estimate is the root of the sum of squares of
    the two changes. In large samples this agrees with the delta method, whose variance is the sum over both sides of
    (1 / s -+ d (1 - 2 p) / (4 s^2))^2 p (1 - p) / n (minus for the first side, plus for the second). In small samples
    and for rare levels, the intervals of the delta method are much too short.
    """
    return _recovered(_standardised, a, b)


def risk_difference(a: Side, b: Side) -> Effect:
    """Return the difference of the shares, with Newcombe's hybrid score interval.

    The distance of each end from the difference is the root of the sum of squares of the distances of the two shares
    from their Wilson limits in that direction (Newcombe 1998, Statistics in Medicine 17, 873-890, method 10).
    """
    return _recovered(np.subtract, a, b)


def _standardised(p_a: Floats, p_b: Floats) -> Floats:
    return standardised_difference(p_a, p_b, p_a * (1 - p_a), p_b * (1 - p_b))


def _recovered(size: Callable[[Floats, Floats], Floats], a: Side, b: Side) -> Effect:
    """Return an effect size that increases with share a and decreases with share b; no interval if it is infinite."""
    with np.errstate(all="ignore"):
        (lower_a, upper_a), (lower_b, upper_b) = _wilson(a), _wilson(b)
        estimate = size(a.mean, b.mean)
        below = np.hypot(estimate - size(lower_a, b.mean), estimate - size(a.mean, upper_b))
        above = np.hypot(size(upper_a, b.mean) - estimate, size(a.mean, lower_b) - estimate)
        finite = np.isfinite(estimate)
        return Effect(estimate, np.where(finite, estimate - below, np.nan), np.where(finite, estimate + above, np.nan))


def odds_ratio(a: Side, b: Side) -> Effect:
    """Return the odds ratio, with its score interval: the odds ratios that the chi-squared test does not reject.

    The interval is that of Cornfield (1956), without continuity correction. It excludes 1 exactly if Pearson's
    chi-squared test of the two by two table has p below 0.05. If a cell is empty, the estimate is 0 with a finite
    upper limit, or infinite with a positive lower limit. If no subject or every subject has the level, all results are
    NaN.

    The odds ratio is used, not the risk ratio, because it is symmetric: swapping yes and no, or the two sides, only
    inverts it.
    """
    yes_a, yes_b = np.rint(a.mean * a.n), np.rint(b.mean * b.n)
    no_a, no_b = a.n - yes_a, b.n - yes_b
    some = (yes_a + yes_b > 0) & (no_a + no_b > 0)
    with np.errstate(all="ignore"):
        effect = Effect(
            yes_a * no_b / (no_a * yes_b), 1 / _upper(yes_b, no_b, yes_a, no_a), _upper(yes_a, no_a, yes_b, no_b)
        )
    return Effect(*(np.where(some, part, np.nan) for part in effect))


def _wilson(side: Side) -> tuple[Floats, Floats]:
    """Return the Wilson score limits of a share; the lower one of 0 is exactly 0, the upper one of 1 exactly 1."""
    p, n, squared = side.mean, side.n, NORMAL_QUANTILE**2
    middle = p + squared / (2 * n)
    margin = NORMAL_QUANTILE * np.sqrt(p * (1 - p) / n + squared / (4 * n**2))
    lower, upper = ((middle + sign * margin) / (1 + squared / n) for sign in (-1, 1))
    return np.where(p == 0, 0.0, lower), np.where(p == 1, 1.0, upper)


def _upper(yes_a: Floats, no_a: Floats, yes_b: Floats, no_b: Floats) -> Floats:
    """Return the upper limit of the odds ratio.

    The limit is the odds ratio of the table with the same margins whose cells differ from the observed ones by `shift`
    subjects, where chi-squared(shift) = shift^2 * (sum of 1 / cells) = 1.96^2. The shift is found by bisection, because
    chi-squared increases with it.
    """
    near, far = np.zeros(yes_a.shape), np.minimum(no_a, yes_b)
    for _ in range(_HALVINGS):
        shift = (near + far) / 2
        cells = np.array([yes_a + shift, no_a - shift, yes_b - shift, no_b + shift])
        too_far = shift**2 * (1 / cells).sum(axis=0) >= NORMAL_QUANTILE**2
        near, far = np.where(too_far, near, shift), np.where(too_far, shift, far)
    upper: Floats = (yes_a + far) * (no_b + far) / ((no_a - far) * (yes_b - far))
    return upper
