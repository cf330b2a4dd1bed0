"""Effect sizes of two shares (of subjects with an answer) with 95% intervals that hold up at shares of 0 and 1.

A share is given as a `Side` whose mean is the share; its variance is not used.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clinclust.comparisons.effects_of_means import NORMAL_QUANTILE
from clinclust.comparisons.sides import Effect, Floats, Side
from clinclust.comparisons.t_tests import standardised_difference

__all__ = ["odds_ratio", "risk_difference", "standardised_share"]

_HALVINGS = 80  # of an interval of length 1 about: to the last bit


def standardised_share(a: Side, b: Side) -> Effect:
    """Difference of the shares over s, the root of the mean of both p (1 - p).

    It rises with the first share and falls with the second. So its interval is made as that of `risk_difference` is:
    each end lies as far off as moving either share to its Wilson limit takes it, both distances combined (the
    recovery of variances of Zou and Donner 2008, Statistics in Medicine 27, 1693-1702). In large samples that is the
    delta method, with the variance sum over both sides of (1 / s -+ d (1 - 2 p) / (4 s^2))^2 p (1 - p) / n (minus for
    the first, plus for the second); in small ones, and for rare answers, the delta method is far too sure.
    """
    return _recovered(_standardised, a, b)


def risk_difference(a: Side, b: Side) -> Effect:
    """Difference of the shares, with Newcombe's hybrid score interval.

    Each end lies as far from the difference as the Wilson limits of the two shares on that side do together
    (Newcombe 1998, Statistics in Medicine 17, 873-890, method 10).
    """
    return _recovered(np.subtract, a, b)


def _standardised(p_a: Floats, p_b: Floats) -> Floats:
    return standardised_difference(p_a, p_b, p_a * (1 - p_a), p_b * (1 - p_b))


def _recovered(size: Callable[[Floats, Floats], Floats], a: Side, b: Side) -> Effect:
    """Interval of a size that rises with the first share and falls with the second; none where it is infinite."""
    with np.errstate(all="ignore"):
        (lower_a, upper_a), (lower_b, upper_b) = _wilson(a), _wilson(b)
        estimate = size(a.mean, b.mean)
        below = np.hypot(estimate - size(lower_a, b.mean), estimate - size(a.mean, upper_b))
        above = np.hypot(size(upper_a, b.mean) - estimate, size(a.mean, lower_b) - estimate)
        finite = np.isfinite(estimate)
        return Effect(estimate, np.where(finite, estimate - below, np.nan), np.where(finite, estimate + above, np.nan))


def odds_ratio(a: Side, b: Side) -> Effect:
    """Odds ratio, with the score interval: the odds ratios that the chi-squared test does not reject.

    (Cornfield 1956, without correction for continuity.) So the interval leaves out 1 exactly where Pearson's
    chi-squared of the two by two table has p below 0.05. An empty cell makes the estimate 0 or infinite and leaves
    one end of the interval finite; with an answer that nobody or everybody gave there is nothing to estimate.

    The odds ratio and not the risk ratio, because it says the same of a yes and of its no, and of both sides.
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
    """Return the Wilson score limits of a share, exactly 0 and 1 where the share is."""
    p, n, squared = side.mean, side.n, NORMAL_QUANTILE**2
    middle = p + squared / (2 * n)
    margin = NORMAL_QUANTILE * np.sqrt(p * (1 - p) / n + squared / (4 * n**2))
    lower, upper = ((middle + sign * margin) / (1 + squared / n) for sign in (-1, 1))
    return np.where(p == 0, 0.0, lower), np.where(p == 1, 1.0, upper)


def _upper(yes_a: Floats, no_a: Floats, yes_b: Floats, no_b: Floats) -> Floats:
    """Return the upper limit of the odds ratio.

    That is the odds ratio of the table with the same margins, `shift` subjects further on, from which the observed one
    lies at chi-squared(shift) = shift^2 * sum of 1 / cells = 1.96^2; found by halving, since chi-squared rises.
    """
    near, far = np.zeros(yes_a.shape), np.minimum(no_a, yes_b)
    for _ in range(_HALVINGS):
        shift = (near + far) / 2
        cells = np.array([yes_a + shift, no_a - shift, yes_b - shift, no_b + shift])
        too_far = shift**2 * (1 / cells).sum(axis=0) >= NORMAL_QUANTILE**2
        near, far = np.where(too_far, near, shift), np.where(too_far, shift, far)
    upper: Floats = (yes_a + far) * (no_b + far) / ((no_a - far) * (yes_b - far))
    return upper
