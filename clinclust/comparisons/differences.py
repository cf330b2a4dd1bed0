"""How groups differ in one feature: t-tests, tests of all groups at once, and effect sizes with their intervals.

t-tests and effect sizes take numbers, means and variances (`Side`), elementwise on arrays of any shape; a contrast
takes values, each of which may count for several subjects. Without spread in either group, t-tests are NaN if the means
are equal, and else infinite with p = 0. Every number is NaN where nothing can be tested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln, softmax, stdtr, stdtrit

from clinclust.likelihoods.likelihood import ContrastKind
from clinclust.schema import Feature

Floats: TypeAlias = NDArray[np.float64]
Groups: TypeAlias = NDArray[np.int64]
Times: TypeAlias = NDArray[np.int64]
"""(R,) the number of subjects that each of R values counts for; where it may be None, one."""

LEAST_OBSERVED = 2  # observed values of a group that is tested: one value has no variance


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


def moments(values: Floats, times: Times) -> tuple[float, float, float]:
    """Return the number, the mean and the variance (denominator n - 1) of at least one value.

    That of equal values is exactly 0, even where their mean is rounded (that of three 0.1 lies above 0.1). It is NaN
    where a float64 cannot hold the squares of deviations, near 1e-170 or 1e160.
    """
    n = int(times.sum())
    if values.min() == values.max():
        return n, float(values[0]), 0.0 if n > 1 else np.nan
    mean = float((times * values).sum() / n)
    variance = float((times * (values - mean) ** 2).sum() / (n - 1))
    return n, mean, variance if 0.0 < variance < np.inf else np.nan


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
        return _test_difference(a, b, pooled * (1 / a.n + 1 / b.n), df)


def welch(a: Side, b: Side) -> TTest:
    """Return Welch's t-test, which allows unequal variances (degrees of freedom of Welch and Satterthwaite)."""
    with np.errstate(all="ignore"):
        error_a, error_b = a.variance / a.n, b.variance / b.n
        return _test_difference(a, b, error_a + error_b, satterthwaite(error_a, error_b, a.n, b.n))


def satterthwaite(error_a: Floats, error_b: Floats, n_a: Floats, n_b: Floats) -> Floats:
    """Return Satterthwaite's degrees of freedom, (e_a + e_b)^2 / (e_a^2 / (n_a - 1) + e_b^2 / (n_b - 1))."""
    # Computed from shares, because the squares of very small variances underflow to 0.
    share = error_a / (error_a + error_b)
    df: Floats = 1 / (share**2 / (n_a - 1) + (1 - share) ** 2 / (n_b - 1))
    return df


def _test_difference(a: Side, b: Side, squared_error: Floats, df: Floats) -> TTest:
    statistic = (a.mean - b.mean) / np.sqrt(squared_error)
    p = np.where(np.isinf(statistic), 0.0, 2 * stdtr(df, -np.abs(statistic)))
    testable = (a.n >= LEAST_OBSERVED) & (b.n >= LEAST_OBSERVED) & ~np.isnan(statistic)
    return TTest(*(np.where(testable, result, np.nan) for result in (statistic, df, p)))


def standardised_difference(mean_a: Floats, mean_b: Floats, variance_a: Floats, variance_b: Floats) -> Floats:
    """Return (mean_a - mean_b) / sqrt((variance_a + variance_b) / 2); the variance of a share p is p (1 - p)."""
    with np.errstate(all="ignore"):
        difference: Floats = (mean_a - mean_b) / np.sqrt((variance_a + variance_b) / 2)
    return difference


def adjusted(p: Floats) -> Floats:
    """Return the Benjamini-Hochberg q of every p, of the same shape; a NaN stays NaN and does not count as a test."""
    from scipy.stats import false_discovery_control

    q, tested = p.copy(), ~np.isnan(p)
    q[tested] = false_discovery_control(p[tested]) if tested.any() else np.nan
    return q


# From |skewness| 1 a distribution is called highly skewed (Bulmer 1979, Principles of Statistics): stays of 2, 3, 3, 4
# and 41 days in hospital have 1.5. Three values are the fewest that have a shape.
_SKEWED, _LEAST_FOR_SHAPE = 1.0, 3
_LEAST_EXPECTED = 5.0  # the usual rule of the chi-squared test: below it, Fisher's exact test
# A simulated p of 0.01 has a standard error of 0.001. Tables as probable as the observed one differ in rounding errors.
_RESAMPLES, _SEED, _ROUNDING = 9999, 20160926, 1e-13
_ALWAYS_ASYMPTOTIC = 50  # values of a group from which ranks are not tested exactly, as wilcox.test of R


class Contrast(NamedTuple):
    """The result of a test of all groups at once; `df2` is the degrees of freedom of the denominator."""

    test: str = ""
    statistic: float = np.nan
    df: float = np.nan
    df2: float = np.nan
    p: float = np.nan


class Contrasted(NamedTuple):
    """Numbers of a feature that are tested, (N,), NaN = missing, and how; for ``"counts"`` the levels 0, 1, ...."""

    values: Floats
    kind: ContrastKind


def contrasted(feature: Feature, column: pd.Series, times: Times | None = None) -> list[Contrasted]:
    """Return what is tested: values, by ranks if skewed, or, with point masses, the counts at these and the others."""
    kind, plainest = feature.contrast, feature.traits.contrasts[0]
    if feature.point_masses:
        first, second = feature.parts
        return [Contrasted(first.scores(column), "counts"), Contrasted(second.scores(column), kind or "rank")]
    values = feature.described(column)
    if kind is None:
        kind = "rank" if plainest != "counts" and is_skewed(feature, values, times) else plainest
    return [Contrasted(values, kind)]


def combined(contrasts: Sequence[Contrast]) -> Contrast:
    """Return Fisher's combination of those with a p: -2 sum ln p is chi-squared with 2 df per independent test."""
    from scipy.stats import combine_pvalues

    contrasts = [contrast for contrast in contrasts if not np.isnan(contrast.p)]
    if len(contrasts) < 2:
        return contrasts[0] if contrasts else Contrast()
    statistic, p = combine_pvalues([max(contrast.p, np.finfo(float).tiny) for contrast in contrasts])  # 0 has no log
    names = ", ".join(dict.fromkeys(contrast.test for contrast in contrasts))
    return Contrast(f"Fisher's combination of {names}", float(statistic), 2.0 * len(contrasts), np.nan, float(p))


def is_skewed(feature: Feature, values: Floats, times: Times | None = None) -> bool:
    """Return whether the likelihood is skewed, there is a transform, or a gaussian feature has |skewness| above 1."""
    if feature.traits.is_skewed or feature.transform is not None or not feature.traits.is_real:
        return feature.traits.is_skewed or feature.transform is not None
    is_known = ~np.isnan(values)
    observed = _repeat(values[is_known], None if times is None else times[is_known])
    if observed.size < _LEAST_FOR_SHAPE or observed.min() == observed.max():
        return False
    with np.errstate(all="ignore"):
        from_mean = (observed - observed.mean()) / np.abs(observed - observed.mean()).max()
        return bool(abs((from_mean**3).mean()) > _SKEWED * (from_mean**2).mean() ** 1.5)


def _repeat(values: NDArray[Any], times: Times | None) -> NDArray[Any]:
    """Return a value for each subject, of values (R,) that count for several: one column at a time fits in memory."""
    return values if times is None else values.repeat(times)


def contrast_of(values: Floats, groups: Groups, kind: ContrastKind, times: Times | None = None) -> Contrast:
    """Test whether groups (R,) of values (R,) differ; groups below 0 take no part.

    ``"welch"``: means (Welch 1947, 1951). ``"student"``: means, one variance. ``"rank"``: Mann-Whitney, Kruskal-Wallis.
    ``"counts"``: chi-squared, or Fisher's exact test if an expected count is below 5 (simulated beyond two by two).
    """
    from scipy.stats import kruskal, mannwhitneyu

    taking_part = (groups >= 0) & ~np.isnan(values)
    times = None if times is None else times[taking_part]
    values, groups = _repeat(values[taking_part], times), _repeat(groups[taking_part], times)
    if kind == "counts":
        return _contrast_counts(values.astype(np.int64), groups)
    sizes = np.bincount(groups)
    parts = [values[groups == group] for group in np.flatnonzero(sizes >= LEAST_OBSERVED)]
    if len(parts) < 2 or len({float(value) for part in parts for value in (part.min(), part.max())}) == 1:
        return Contrast()
    if kind == "rank" and len(parts) > 2:
        statistic, p = kruskal(*parts)
        return Contrast("Kruskal-Wallis", float(statistic), len(parts) - 1.0, np.nan, float(p))
    if kind == "rank":  # exact without ties and with few values, as in R; otherwise it can take minutes
        every, (a, b) = np.concatenate(parts), parts
        is_exact = max(map(len, parts)) < _ALWAYS_ASYMPTOTIC and np.unique(every).size == every.size
        statistic, p = mannwhitneyu(a, b, method="exact" if is_exact else "asymptotic")
        return Contrast("Mann-Whitney", float(statistic), np.nan, np.nan, float(p))
    with np.errstate(all="ignore"):
        return _contrast_means(parts, kind)


def _contrast_means(parts: list[Floats], kind: ContrastKind) -> Contrast:
    # Subtract a common centre, so that the means of large numbers lose no digits.
    centre = parts[0][0]
    groups = Side(*np.array([moments(part - centre, np.ones(part.size, dtype=np.int64)) for part in parts]).T)
    if np.isnan(groups.variance).any():
        return Contrast()
    if len(parts) == 2:
        result = (student if kind == "student" else welch)(*(Side(*side) for side in zip(*groups, strict=True)))
        named = "Student's t" if kind == "student" else "Welch's t"
        return Contrast(named, float(result.statistic), float(result.df), np.nan, float(result.p))
    still = groups.variance == 0.0
    if kind == "welch" and still.any():
        if np.unique(groups.mean[still]).size > 1:
            return Contrast("Welch's ANOVA", np.inf, len(parts) - 1.0, np.nan, 0.0)
        # The limit as the equal variances of groups without spread go to 0, to eight digits (2,000 random tables).
        groups = groups._replace(variance=np.where(still, 1e-10 * groups.variance[~still].min(), groups.variance))
    from statsmodels.stats.oneway import anova_generic

    use, test = ("equal", "ANOVA") if kind == "student" else ("unequal", "Welch's ANOVA")
    result = anova_generic(groups.mean, groups.variance, groups.n, use_var=use)
    return Contrast(test, float(result.statistic), float(result.df_num), float(result.df_denom), float(result.pvalue))


def _contrast_counts(levels: Groups, groups: Groups) -> Contrast:
    from scipy.stats import chi2_contingency, fisher_exact, random_table

    if not levels.size:
        return Contrast()
    n_groups = int(groups.max()) + 1
    table = np.bincount(levels * n_groups + groups, minlength=(int(levels.max()) + 1) * n_groups).reshape(-1, n_groups)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return Contrast()
    result = chi2_contingency(table, correction=False)
    if result.expected_freq.min() >= _LEAST_EXPECTED:
        return Contrast("chi-squared", float(result.statistic), float(result.dof), np.nan, float(result.pvalue))
    if table.shape == (2, 2):
        return Contrast("Fisher's exact", p=float(fisher_exact(table).pvalue))
    # `fisher_exact` of scipy 1.17 refuses tables that are not square: the share of random tables with the same margins,
    # and the table itself, that are no more probable.
    margins = random_table(table.sum(axis=1), table.sum(axis=0))
    tables = margins.rvs(_RESAMPLES, method="patefield", random_state=np.random.default_rng(_SEED))
    observed, drawn = (gammaln(cells + 1.0).sum(axis=(-2, -1)) for cells in (table, tables))  # minus log probability
    p = (1 + (drawn >= observed * (1 - _ROUNDING)).sum()) / (1 + _RESAMPLES)
    return Contrast("Fisher's exact (simulated)", p=float(p))


NORMAL_QUANTILE = 1.959963984540054  # the 0.975 quantile of the standard normal distribution

# -ln 0.025. If n counts are all 0, the upper limit of their mean is this / n (exact Poisson interval).
_LARGEST_MEAN_OF_NOTHING = 3.6888794541139363


def standardised_mean(a: Side, b: Side) -> Effect:
    """Return d, the difference of the means divided by s, the root of the mean of both variances, with its interval.

    Its half is 1.96 times the root of d^2 (v_a^2 / f_a + v_b^2 / f_b) / (8 s^4) + v_a / (s^2 f_a) + v_b / (s^2 f_b), f
    = n - 1 (Bonett 2008, Psychological Methods 13, 99-109).
    """
    estimate = standardised_difference(a.mean, b.mean, a.variance, b.variance)
    with np.errstate(all="ignore"):
        spread = (a.variance + b.variance) / 2
        squared_error = sum(
            estimate**2 * (side.variance / spread) ** 2 / (8 * (side.n - 1)) + side.variance / spread / (side.n - 1)
            for side in (a, b)
        )
        return _around(estimate, NORMAL_QUANTILE * np.sqrt(squared_error))


def mean_difference(a: Side, b: Side) -> Effect:
    """Return the difference of the means, with the interval of Welch's t-test."""
    with np.errstate(all="ignore"):
        error_a, error_b = a.variance / a.n, b.variance / b.n
        quantile = stdtrit(satterthwaite(error_a, error_b, a.n, b.n), 0.975)
        return _around(a.mean - b.mean, np.asarray(quantile * np.sqrt(error_a + error_b), dtype=np.float64))


def ratio_of_means(a: Side, b: Side) -> Effect:
    """Return the ratio of the means of values that are 0 or greater, with its interval, symmetric in the logarithm.

    Its variance is v_a / (n_a m_a^2) + v_b / (n_b m_b^2). If all values of one group are 0, the interval is by Donner
    and Zou (2012, Statistical Methods in Medical Research 21, 347-359, eq. 9), with that of 0 events for its mean.
    """
    with np.errstate(all="ignore"):
        estimate = a.mean / b.mean
        error_a, error_b = (side.variance / side.n / side.mean**2 for side in (a, b))
        quantile = stdtrit(satterthwaite(error_a, error_b, a.n, b.n), 0.975)
        margin = np.sqrt(error_a + error_b)
        margin = np.exp(np.where(margin > 0, quantile * margin, np.nan))
        lower, upper = estimate / margin, estimate * margin
        for nothing, other, is_first in ((a, b, True), (b, a, False)):
            # the lower limit of the mean of the other one, divided by this mean
            least = np.exp(-stdtrit(other.n - 1, 0.975) * np.sqrt(other.variance / other.n) / other.mean)
            bound = _LARGEST_MEAN_OF_NOTHING / nothing.n / other.mean / np.sqrt(least * (2 - least))
            is_nothing = (nothing.mean == 0) & (other.mean > 0)
            lower = np.where(is_nothing, 0.0 if is_first else 1 / bound, lower)
            upper = np.where(is_nothing, bound if is_first else np.inf, upper)
    return Effect(estimate, lower, upper)


def _around(estimate: Floats, margin: Floats) -> Effect:
    """Return the interval estimate +- margin; NaN ends if the estimate is not finite, or the margin not positive."""
    margin = np.where(np.isfinite(estimate) & (margin > 0), margin, np.nan)
    return Effect(estimate, estimate - margin, estimate + margin)


def _recover_interval(size: Callable[[Floats, Floats], Floats], a: Side, b: Side) -> Effect:
    """Return an effect size that increases with share a and decreases with share b, from Wilson's limits.

    Zou and Donner 2008, Statistics in Medicine 27, 1693-1702; of differences Newcombe 1998, 17, 873-890, method 10.
    """
    with np.errstate(all="ignore"):
        (lower_a, upper_a), (lower_b, upper_b) = (bound_share(side.mean, side.n) for side in (a, b))
        estimate = size(a.mean, b.mean)
        below = np.hypot(estimate - size(lower_a, b.mean), estimate - size(a.mean, upper_b))
        above = np.hypot(size(upper_a, b.mean) - estimate, size(a.mean, lower_b) - estimate)
        finite = np.isfinite(estimate)
        return Effect(estimate, np.where(finite, estimate - below, np.nan), np.where(finite, estimate + above, np.nan))


_REACH = 6  # counts farther away have no weight at the odds ratios that are sought: their SD is at most root(n) / 2


def odds_ratio(a: Side, b: Side) -> Effect:
    """Return the odds ratio of the sample, with its exact mid-p interval: the odds ratios that `mid_p` does not reject.

    Of Fisher's noncentral hypergeometric distribution (Agresti 2013, Categorical Data Analysis, 16.6.4). An end is 0 or
    infinite if a cell is empty; all are NaN if no or every subject has it.
    """
    yes_a, yes_b = _count_yes(a), _count_yes(b)
    with np.errstate(all="ignore"):
        estimate = np.asarray(yes_a * (b.n - yes_b) / (a.n - yes_a) / yes_b)
    varies = (yes_a + yes_b > 0) & (yes_a + yes_b < a.n + b.n)
    ends = np.full((2, *a.n.shape), np.nan)
    for place in zip(*np.nonzero(varies), strict=True):
        ends[:, *place] = _bound_odds_ratio(*(int(number[place]) for number in (yes_a, a.n, b.n, yes_a + yes_b)))
    return Effect(np.where(varies, estimate, np.nan), *ends)


def _bound_odds_ratio(yes: int, n_a: int, n_b: int, n_yes: int) -> tuple[float, float]:
    """Return the odds ratios at which the tail from `yes` on, the observed half, has 2.5%: upwards, then downwards."""
    from scipy.optimize import brentq
    from scipy.stats import hypergeom

    low, high = max(n_yes - n_b, 0), min(n_a, n_yes)
    reach = int(_REACH * np.sqrt(high - low)) + _REACH
    counts = np.arange(max(yes - reach, low), min(yes + reach, high) + 1)
    weights = hypergeom.logpmf(counts, n_a + n_b, n_yes, n_a)
    near = np.log((yes + 0.5) * (n_b - n_yes + yes + 0.5) / (n_a - yes + 0.5) / (n_yes - yes + 0.5))

    def solve(side: int) -> float:
        in_tail, far = np.where(counts == yes, 0.5, (counts - yes) * side > 0), 1.0

        def exceed(log_odds: float) -> float:
            return float(softmax(weights + counts * log_odds) @ in_tail) - 0.025

        while exceed(near - side * far) > 0.0:
            far *= 2.0
        return float(np.exp(brentq(exceed, near - side * far, near + side, xtol=1e-12)))

    return 0.0 if yes == low else solve(1), np.inf if yes == high else solve(-1)


def mid_p(a: Side, b: Side) -> TTest:
    """Return Fisher's exact test of two shares with mid-p: twice the smaller tail, in which the observed counts half.

    Its level is near the nominal one, that of the exact p far below (Lydersen et al. 2009, Stat Med 28, 1159-1175).
    """
    from scipy.stats import hypergeom

    yes, margins = _count_yes(a), (a.n + b.n, _count_yes(a) + _count_yes(b), a.n)
    with np.errstate(all="ignore"):
        tails = hypergeom.cdf(yes, *margins), hypergeom.sf(yes - 1, *margins)
        p = np.minimum(2 * np.minimum(*tails) - hypergeom.pmf(yes, *margins), 1)
    testable = (a.n >= LEAST_OBSERVED) & (b.n >= LEAST_OBSERVED)
    nothing = np.full(a.n.shape, np.nan)
    return TTest(nothing, nothing, np.where(testable, p, np.nan))


def _count_yes(side: Side) -> Floats:
    """Return the numbers of a group whose means are shares; the NaN of an empty group counts as 0."""
    return np.rint(np.nan_to_num(side.mean) * side.n)


def bound_share(p: Floats, n: Floats, quantile: float = NORMAL_QUANTILE) -> tuple[Floats, Floats]:
    """Return Wilson's limits (1927) of a share; the lower one of 0 is exactly 0, the upper one of 1 exactly 1."""
    squared = quantile**2
    middle, margin = p + squared / (2 * n), quantile * np.sqrt(p * (1 - p) / n + squared / (4 * n**2))
    lower, upper = ((middle + sign * margin) / (1 + squared / n) for sign in (-1, 1))
    return np.where(p == 0, 0.0, lower), np.where(p == 1, 1.0, upper)


EFFECTS: dict[str, dict[str, Callable[[Side, Side], Effect]]] = {
    "shares": {
        "standardised_difference": partial(
            _recover_interval, lambda p, q: standardised_difference(p, q, p * (1 - p), q * (1 - q))
        ),
        "difference": partial(_recover_interval, np.subtract),
        "ratio": odds_ratio,
    },
    "means": {"standardised_difference": standardised_mean, "difference": mean_difference},
    "rates": {"standardised_difference": standardised_mean, "ratio": ratio_of_means},
}
"""The effect sizes of features, by the trait `effect_sizes` of their likelihoods and by name."""
