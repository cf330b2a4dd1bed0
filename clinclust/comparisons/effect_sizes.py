"""Effect sizes with 95% intervals, for each pair of subtypes and for each subtype against all other subjects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.summaries import Measure
from clinclust.comparisons.t_tests import (
    Effect,
    Floats,
    Side,
    Times,
    everybody_else,
    satterthwaite,
    standardised_difference,
)

NORMAL_QUANTILE = 1.959963984540054  # the 0.975 quantile of the standard normal distribution

_LARGEST_MEAN_OF_NOTHING = 3.6888794541139363
"""-ln 0.025. If n counts are all 0, the upper limit of their mean is this / n (exact Poisson interval)."""


def t_quantile(df: Floats) -> Floats:
    """Return the 0.975 quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(df, 0.975), dtype=np.float64)


def standardised_mean(a: Side, b: Side) -> Effect:
    """Return d, the difference of the means divided by s, the root of the mean of both variances, with its interval.

    d +- 1.96 times the root of d^2 (v_a^2 / f_a + v_b^2 / f_b) / (8 s^4) + v_a / (s^2 f_a) + v_b / (s^2 f_b), f = n - 1
    (Bonett 2008, Psychological Methods 13, 99-109).
    """
    estimate = standardised_difference(a.mean, b.mean, a.variance, b.variance)
    with np.errstate(all="ignore"):
        spread = (a.variance + b.variance) / 2
        squared_error = sum(
            estimate**2 * (side.variance / spread) ** 2 / (8 * (side.n - 1)) + side.variance / spread / (side.n - 1)
            for side in (a, b)
        )
        return around(estimate, NORMAL_QUANTILE * np.sqrt(squared_error))


def mean_difference(a: Side, b: Side) -> Effect:
    """Return the difference of the means, with the interval of Welch's t-test."""
    with np.errstate(all="ignore"):
        error_a, error_b = a.variance / a.n, b.variance / b.n
        quantile = t_quantile(satterthwaite(error_a, error_b, a.n, b.n))
        return around(a.mean - b.mean, quantile * np.sqrt(error_a + error_b))


def ratio_of_means(a: Side, b: Side) -> Effect:
    """Return the ratio of the means of values that are 0 or greater, with its interval, symmetric in the logarithm.

    Its variance is v_a / (n_a m_a^2) + v_b / (n_b m_b^2). If all values of one group are 0, the interval is by Donner
    and Zou (2012, Statistical Methods in Medical Research 21, 347-359, eq. 9), with that of 0 events for its mean.
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
    return np.asarray(_LARGEST_MEAN_OF_NOTHING / nothing.n / something.mean / np.sqrt(least * (2 - least)))


_HALVINGS = 80  # enough halvings to find the upper limit to the last bit of a float64


def standardised_share(a: Side, b: Side) -> Effect:
    """Return the difference of the shares divided by the root of the mean of both p (1 - p), with its interval.

    From Wilson's limits (Zou and Donner 2008, Statistics in Medicine 27, 1693-1702).
    """
    return _recovered(_standardised, a, b)


def risk_difference(a: Side, b: Side) -> Effect:
    """Return the difference of the shares and its interval (Newcombe 1998, Stat Med 17, 873-890, method 10)."""
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

    Cornfield (1956), without continuity correction. One end exists if a cell is empty; all are NaN if no or every
    subject has it.
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
    """Return the upper limit of the odds ratio, by bisection of shift^2 * (sum of 1 / cells) = 1.96^2."""
    near, far = np.zeros(yes_a.shape), np.minimum(no_a, yes_b)
    for _ in range(_HALVINGS):
        shift = (near + far) / 2
        cells = np.array([yes_a + shift, no_a - shift, yes_b - shift, no_b + shift])
        too_far = shift**2 * (1 / cells).sum(axis=0) >= NORMAL_QUANTILE**2
        near, far = np.where(too_far, near, shift), np.where(too_far, shift, far)
    return np.asarray((yes_a + far) * (no_b + far) / ((no_a - far) * (yes_b - far)))


Groups = NDArray[np.int64]

_LEAST_OBSERVED = 2


def superiority(values: Floats, groups: Groups, comparisons: Groups, times: Times = None) -> Effect:
    """Return P(a > b) + P(a = b) / 2, with its interval, symmetric in the logit; each part has shape (C,).

    Variance: Brunner and Munzel (2000, Biometrical Journal 42, 17-25); if the groups do not overlap, Newcombe (2006,
    Statistics in Medicine 25, 559-573, method 5). `groups` (R,) are 0 to G - 1; of `comparisons` (C, 2), g + G is all
    subjects outside g.
    """
    observed = ~np.isnan(values)
    levels, level = np.unique(values[observed], return_inverse=True)
    n_groups = int(groups.max()) + 1
    weights = None if times is None else times[observed]
    cells = np.bincount(groups[observed] * levels.size + level, weights, minlength=n_groups * levels.size)
    counts = cells.reshape(n_groups, levels.size).astype(np.float64)
    # The number of values of each group below each distinct value; ties count one half.
    below = counts.cumsum(axis=1) - counts / 2
    total, total_below = counts.sum(axis=0), below.sum(axis=0)

    def side(number: int) -> tuple[Floats, Floats]:
        if number < n_groups:
            return counts[number], below[number]
        return total - counts[number - n_groups], total_below - below[number - n_groups]

    moments = [_moments(*side(a), *side(b)) for a, b in comparisons.tolist()]
    return _interval(*np.array(moments, dtype=np.float64).reshape(-1, 6).T)


def _moments(count_a: Floats, below_a: Floats, count_b: Floats, below_b: Floats) -> tuple[float, ...]:
    """Return the estimate, that of b > a, the squared errors of both and the numbers of observed values."""
    n_a, n_b = count_a.sum(), count_b.sum()
    if min(n_a, n_b) < _LEAST_OBSERVED:
        return (np.nan, np.nan, np.nan, np.nan, n_a, n_b)
    # The share of the other group below each value: its mean is the estimate, its variance gives the squared error.
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


_OF_SHARES = {"standardised_difference": standardised_share, "difference": risk_difference, "ratio": odds_ratio}
_OF_MEANS = {"standardised_difference": standardised_mean, "difference": mean_difference}
_OF_RATES = {"standardised_difference": standardised_mean, "ratio": ratio_of_means}
_EFFECTS = {"shares": _OF_SHARES, "means": _OF_MEANS, "rates": _OF_RATES}


def effects(
    compared: Sequence[Measure],
    summary: Mapping[str, Floats],
    sizes: Groups,
    subtypes: Groups,
    min_size: int,
    ranked: Collection[str],
) -> Iterator[tuple[list[Measure], dict[str, NDArray[Any]]]]:
    """Yield, for each effect size, the measures that have it and their columns, each (measures, comparisons).

    `summary` has (measures, 1 + G) of all subjects, then of each group; `sizes` (G,) are the numbers of subjects.
    """
    comparisons = _comparisons(sizes, min_size)
    names = np.concatenate([subtypes, np.zeros_like(subtypes)])
    parts = Side(*(summary[name][:, 1:] for name in ("n", "deviation", "variance")))
    sides = Side(*(np.concatenate(moments, axis=1) for moments in zip(parts, everybody_else(parts), strict=True)))
    a, b = comparisons.T
    n = sides.n[:, a] + sides.n[:, b]
    seen = (sides.n[:, a] >= _LEAST_OBSERVED) & (sides.n[:, b] >= _LEAST_OBSERVED)
    sizes = np.concatenate([sizes, sizes.sum() - sizes])

    def block(rows: list[int], name: str, effect: Effect) -> tuple[list[Measure], dict[str, NDArray[Any]]]:
        columns: dict[str, NDArray[Any]] = {
            "kind": np.array("effect"),
            "subtype": names[a],
            "versus": names[b],
            "n": n[rows],
            "missing": sizes[a] + sizes[b] - n[rows],
            "measure": np.array(name),
        }
        found = {part: np.where(seen[rows], value, np.nan) for part, value in effect._asdict().items()}
        return [compared[row] for row in rows], columns | found

    for name in ("standardised_difference", "difference", "ratio"):
        chosen: dict[Any, list[int]] = {}
        for row, measure in enumerate(compared):
            size = _EFFECTS[measure.feature.traits.effect_sizes].get(name)
            if size is not None:
                chosen.setdefault(size, []).append(row)
        for size, rows in chosen.items():
            of_rows = Side(*(moment[rows] for moment in sides))
            yield block(rows, name, size(*(Side(*(moment[:, side] for moment in of_rows)) for side in (a, b))))
    rows = [row for row, measure in enumerate(compared) if measure.feature.name in ranked]
    if rows:
        ranks = [(compared[row].scores, compared[row].rows) for row in rows]
        found = [superiority(scores, own.group_of, comparisons, own.times) for scores, own in ranks]
        yield block(rows, "superiority", Effect(*(np.array(part) for part in zip(*found, strict=True))))


def _comparisons(sizes: Groups, min_size: int) -> Groups:
    """Return the comparisons, int64 (C, 2): all pairs of groups, then each group g and all others (numbered g + G)."""
    large = np.flatnonzero(sizes >= min_size).tolist()
    against_rest = [(g, g + sizes.size) for g in large if sizes.sum() - sizes[g] >= min_size]
    return np.array([*combinations(large, 2), *against_rest], dtype=np.int64).reshape(-1, 2)
