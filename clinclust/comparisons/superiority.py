"""The probability of superiority: an effect size that depends only on ranks."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.effects_of_means import NORMAL_QUANTILE, t_quantile
from clinclust.comparisons.sides import Effect, Floats
from clinclust.comparisons.t_tests import satterthwaite

__all__ = ["superiority"]

Groups: TypeAlias = NDArray[np.int64]

_LEAST_OBSERVED = 2


def superiority(values: Floats, groups: Groups, comparisons: Groups) -> Effect:
    """Return P(a > b) + P(a = b) / 2 for the values a and b of a random subject of each side, with its interval.

    The interval is symmetric in the logit, with the variance and degrees of freedom of Brunner and Munzel (2000,
    Biometrical Journal 42, 17-25). They allow for ties and for different shapes of the two distributions. If every
    value of one side lies above every value of the other, that variance is 0; the end of the interval that is not 0 or
    1 is then that of Newcombe (2006, Statistics in Medicine 25, 559-573, method 5).

    Parameters
    ----------
    values : float64 (N,)
        NaN = missing.
    groups : int64 (N,)
        The group of each subject, 0, 1, ..., G - 1.
    comparisons : int64 (C, 2)
        The two sides of each comparison: a group g, or g + G for all subjects outside group g.

    Returns
    -------
    Effect
        Each part has shape (C,). NaN where a side has fewer than two observed values, or where all values are equal.
    """
    observed = ~np.isnan(values)
    levels, level = np.unique(values[observed], return_inverse=True)
    n_groups = int(groups.max()) + 1
    cells = np.bincount(groups[observed] * levels.size + level, minlength=n_groups * levels.size)
    counts = cells.reshape(n_groups, levels.size).astype(np.float64)
    # The number of values of each group below each distinct value; ties count one half.
    below = counts.cumsum(axis=1) - counts / 2
    everybody, below_everybody = counts.sum(axis=0), below.sum(axis=0)

    def side(number: int) -> tuple[Floats, Floats]:
        if number < n_groups:
            return counts[number], below[number]
        return everybody - counts[number - n_groups], below_everybody - below[number - n_groups]

    moments = [_moments(*side(a), *side(b)) for a, b in comparisons.tolist()]
    return _interval(*np.array(moments, dtype=np.float64).reshape(-1, 6).T)


def _moments(count_a: Floats, below_a: Floats, count_b: Floats, below_b: Floats) -> tuple[float, ...]:
    """Return the estimate, that of the sides swapped, the squared errors of both and the numbers of observed values."""
    n_a, n_b = count_a.sum(), count_b.sum()
    if min(n_a, n_b) < _LEAST_OBSERVED:
        return (np.nan, np.nan, np.nan, np.nan, n_a, n_b)
    # The share of the other side below each value: its mean is the estimate, its variance gives the squared error.
    share_a, share_b = below_b / n_b, below_a / n_a
    estimate, other = count_a @ share_a / n_a, count_b @ share_b / n_b
    error_a = count_a @ (share_a - estimate) ** 2 / (n_a - 1) / n_a
    error_b = count_b @ (share_b - other) ** 2 / (n_b - 1) / n_b
    return (estimate, other, error_a, error_b, n_a, n_b)


def _interval(estimate: Floats, other: Floats, error_a: Floats, error_b: Floats, n_a: Floats, n_b: Floats) -> Effect:
    with np.errstate(all="ignore"):
        quantile = t_quantile(satterthwaite(error_a, error_b, n_a, n_b))
        margin = np.exp(quantile * np.sqrt(error_a + error_b) / (estimate * other))
        lower, upper = estimate / (estimate + other * margin), estimate / (estimate + other / margin)
    for place in np.flatnonzero((estimate == 0) | (other == 0)):
        end = _end_where_separate(n_a[place], n_b[place])
        lower[place], upper[place] = (0.0, end) if estimate[place] == 0 else (1.0 - end, 1.0)
    return Effect(np.where(np.isnan(lower), np.nan, estimate), lower, upper)


def _end_where_separate(n_a: float, n_b: float) -> float:
    """Return the upper end of the interval if the estimate is 0."""
    from scipy.optimize import brentq

    half = (n_a + n_b) / 2 - 1

    def excess(effect: float) -> float:
        spread = 1 + half * ((1 - effect) / (2 - effect) + effect / (1 + effect))
        return float(n_a * n_b * effect - NORMAL_QUANTILE**2 * (1 - effect) * spread)

    return float(brentq(excess, 0.0, 1.0, xtol=1e-16, rtol=1e-15))
