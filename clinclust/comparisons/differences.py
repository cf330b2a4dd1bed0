"""How groups differ in one feature: t-tests, tests of all groups at once, and effect sizes with their intervals.

t-tests and effect sizes of means and shares take numbers, means and variances (`Side`), elementwise on arrays of any
shape; a contrast and the superiority take the values themselves, each of which may count for several subjects. Without
spread in either group, t-tests are NaN if the means are equal, and else infinite with p = 0. Every number is NaN where
nothing can be tested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln, ndtr, stdtr, stdtrit

from clinclust.errors import InputError, did_you_mean
from clinclust.likelihoods.likelihood import ContrastKind

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import Feature, FeatureSchema

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

    The variance of equal values is exactly 0, even where their mean is rounded (that of three 0.1 lies above 0.1), and
    NaN where a float64 cannot hold the squares of deviations, near 1e-170 or 1e160: no test is possible then.
    """
    n = int(times.sum())
    if values.min() == values.max():
        return n, float(values[0]), 0.0 if n > 1 else np.nan
    mean = float((times * values).sum() / n)
    variance = float((times * (values - mean) ** 2).sum() / (n - 1))
    return n, mean, variance if 0.0 < variance < np.inf else np.nan


def pooled(a: Side, b: Side) -> Side:
    """Return both groups merged into one (Chan, Golub and LeVeque 1979)."""
    n = a.n + b.n
    with np.errstate(all="ignore"):
        distance = np.where((a.n > 0) & (b.n > 0), b.mean - a.mean, 0.0)
        mean = np.where(a.n > 0, a.mean, b.mean) + distance * (b.n / n)
        # The variance of fewer than two values may be NaN.
        within = sum(np.where(side.n > 1, side.variance * (side.n - 1), 0.0) for side in (a, b))
        squares = within + distance**2 * (a.n * (b.n / n))
        variance = np.where(n > 1, squares / (n - 1), np.nan)
    return Side(n, np.where(n > 0, mean, np.nan), variance)


def everybody_else(groups: Side) -> Side:
    """Return, for each group (last axis), all other groups merged into one."""
    parts = [Side(*(moment[..., group] for moment in groups)) for group in range(groups.n.shape[-1])]
    empty = Side(*(np.full(groups.n.shape[:-1], moment) for moment in (0.0, np.nan, np.nan)))
    others = [reduce(pooled, parts[:group] + parts[group + 1 :], empty) for group in range(len(parts))]
    return Side(*(np.stack(moment, axis=-1) for moment in zip(*others, strict=True)))


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
    q = np.full(p.shape, np.nan)
    tested = ~np.isnan(p)
    if tested.any():
        from statsmodels.stats.multitest import multipletests

        q[tested] = multipletests(p[tested], method="fdr_bh")[1]
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


def contrasted(
    feature: Feature, column: pd.Series, chosen: ContrastKind | None = None, times: Times | None = None
) -> list[Contrasted]:
    """Return what is tested of a feature: its values or, with point masses, the counts at these and the others.

    By the contrast that was chosen or that of the schema, else by ranks if the values are skewed and not counted.
    """
    kind, plainest = chosen or feature.contrast, feature.traits.contrasts[0]
    if feature.point_masses:
        first, second = feature.parts
        return [Contrasted(first.scores(column), "counts"), Contrasted(second.scores(column), kind or "rank")]
    values = feature.described(column)
    if kind is None:
        kind = "rank" if plainest != "counts" and is_skewed(feature, values, times) else plainest
    return [Contrasted(values, kind)]


def combined(contrasts: Sequence[Contrast]) -> Contrast:
    """Return Fisher's combination of those with a p: -2 sum ln p is chi-squared with 2 df per independent test."""
    contrasts = [contrast for contrast in contrasts if not np.isnan(contrast.p)]
    if len(contrasts) < 2:
        return contrasts[0] if contrasts else Contrast()
    with np.errstate(divide="ignore"):
        statistic = float(-2.0 * np.log([contrast.p for contrast in contrasts]).sum())
    df = 2.0 * len(contrasts)
    names = ", ".join(dict.fromkeys(contrast.test for contrast in contrasts))
    p = float(chdtrc(df, statistic)) if np.isfinite(statistic) else 0.0
    return Contrast(f"Fisher's combination of {names}", statistic, df, np.nan, p)


def is_skewed(feature: Feature, values: Floats, times: Times | None = None) -> bool:
    """Return whether the likelihood is skewed, there is a transform, or a gaussian feature has |skewness| above 1."""
    if feature.traits.is_skewed or feature.transform is not None:
        return True
    if not feature.traits.is_real:
        return False
    is_known = ~np.isnan(values)
    observed, weights = values[is_known], _count_once(values, times)[is_known]
    if observed.size < _LEAST_FOR_SHAPE or observed.min() == observed.max():
        return False
    with np.errstate(all="ignore"):
        from_mean = observed - np.average(observed, weights=weights)
        from_mean /= np.abs(from_mean).max()
        second, third = (float(np.average(from_mean**power, weights=weights)) for power in (2, 3))
        return bool(abs(third) > _SKEWED * second**1.5)


def _count_once(values: Floats, times: Times | None) -> Times:
    """Return the times of values (R,): by default, each counts for one subject."""
    return np.ones(values.size, dtype=np.int64) if times is None else times


def contrast_of(values: Floats, groups: Groups, kind: ContrastKind, times: Times | None = None) -> Contrast:
    """Test whether groups (R,) of values (R,) differ; groups below 0 take no part.

    ``"welch"``: means (Welch 1947, 1951). ``"student"``: means, one variance. ``"rank"``: Mann-Whitney, Kruskal-Wallis.
    ``"counts"``: chi-squared, or Fisher's exact test if an expected count is below 5 (simulated beyond two by two).
    """
    taking_part = (groups >= 0) & ~np.isnan(values)
    values, groups, times = values[taking_part], groups[taking_part], _count_once(values, times)[taking_part]
    if kind == "counts":
        return _contrast_counts(values.astype(np.int64), groups, times)
    sizes = np.bincount(groups, weights=times)
    chosen = [groups == group for group in np.flatnonzero(sizes >= LEAST_OBSERVED)]
    parts = [(values[rows], times[rows]) for rows in chosen]
    if len(parts) < 2 or len({float(value) for part, _ in parts for value in (part.min(), part.max())}) == 1:
        return Contrast()
    if kind == "rank":
        return _contrast_ranks(parts)
    with np.errstate(all="ignore"):
        return _contrast_means(parts, kind)


def _contrast_means(parts: list[tuple[Floats, Times]], kind: ContrastKind) -> Contrast:
    # Subtract a common centre, so that the means of large numbers lose no digits.
    centre = parts[0][0][0]
    groups = Side(*np.array([moments(part - centre, times) for part, times in parts]).T)
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


def _contrast_ranks(parts: list[tuple[Floats, Times]]) -> Contrast:
    """Return the Mann-Whitney or Kruskal-Wallis test, with the asymptotic distribution and mid-ranks of ties.

    As in R, that of two groups is exact without ties and with fewer than 50 values in both; otherwise it can take
    minutes.
    """
    from scipy.stats import mannwhitneyu

    levels, level = np.unique(np.concatenate([part for part, _ in parts]), return_inverse=True)
    largest = max(part.size for part, _ in parts)
    is_untied = levels.size == level.size and max(times.max() for _, times in parts) == 1
    if len(parts) == 2 and is_untied and largest < _ALWAYS_ASYMPTOTIC:
        exact = mannwhitneyu(parts[0][0], parts[1][0], method="exact")
        return Contrast("Mann-Whitney", float(exact.statistic), np.nan, np.nan, float(exact.pvalue))
    ends = np.cumsum([part.size for part, _ in parts])[:-1]
    both = zip(np.split(level, ends), parts, strict=True)
    counts = np.array([np.bincount(of_part, times, minlength=levels.size) for of_part, (_, times) in both])
    of_level, n_each = counts.sum(axis=0), counts.sum(axis=1)
    n = n_each.sum()
    rank_sums = counts @ (of_level.cumsum() - (of_level - 1.0) / 2.0)
    untied = 1.0 - ((of_level / n) ** 3 - of_level / n**3).sum() / (1.0 - 1.0 / n**2)
    if len(parts) == 2:
        statistic = float(rank_sums[0] - n_each[0] * (n_each[0] + 1.0) / 2.0)
        from_middle = abs(statistic - n_each.prod() / 2.0) - 0.5
        p = 2.0 * float(ndtr(-from_middle / np.sqrt(n_each.prod() * (n + 1.0) * untied / 12.0)))
        return Contrast("Mann-Whitney", statistic, np.nan, np.nan, min(p, 1.0))
    expected = n_each * (n + 1.0) / 2.0
    statistic = float(12.0 / (n * (n + 1.0)) * ((rank_sums - expected) ** 2 / n_each).sum() / untied)
    df = len(parts) - 1.0
    return Contrast("Kruskal-Wallis", statistic, df, np.nan, float(chdtrc(df, statistic)))


def _contrast_counts(levels: Groups, groups: Groups, times: Times) -> Contrast:
    from scipy.stats import chi2_contingency, fisher_exact

    if not levels.size:
        return Contrast()
    table = np.zeros((levels.max() + 1, groups.max() + 1), dtype=np.int64)
    np.add.at(table, (levels, groups), times)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return Contrast()
    result = chi2_contingency(table, correction=False)
    if result.expected_freq.min() >= _LEAST_EXPECTED:
        return Contrast("chi-squared", float(result.statistic), float(result.dof), np.nan, float(result.pvalue))
    if table.shape == (2, 2):
        return Contrast("Fisher's exact", np.nan, np.nan, np.nan, float(fisher_exact(table).pvalue))
    return Contrast("Fisher's exact (simulated)", np.nan, np.nan, np.nan, _simulate_p(table))


def _simulate_p(table: Groups) -> float:
    """Return the share of random tables with the same margins, and the table itself, that are no more probable."""
    from scipy.stats import random_table

    margins = table.sum(axis=1), table.sum(axis=0)
    tables = random_table(*margins).rvs(_RESAMPLES, method="patefield", random_state=np.random.default_rng(_SEED))
    # Minus the log probability of a table, up to a constant.
    observed, drawn = (gammaln(cells + 1.0).sum(axis=(-2, -1)) for cells in (table, tables))
    return float((1 + (drawn >= observed * (1 - _ROUNDING)).sum()) / (1 + _RESAMPLES))


def checked_choice(choice: Mapping[str, ContrastKind] | None, schema: FeatureSchema) -> Mapping[str, ContrastKind]:
    """Return the chosen contrasts by feature name; raise an InputError that lists all that cannot be used."""
    if choice is None:
        return {}
    if not isinstance(choice, Mapping):
        raise InputError(f"contrasts must name a contrast for each feature, such as {{'age': 'rank'}}, not {choice!r}")
    features = {feature.name: feature for feature in schema.reported}
    problems = []
    for name, kind in choice.items():
        feature = features.get(name)
        if feature is None:
            in_schema = any(other.name == name for other in schema)
            hint = "" if in_schema or not isinstance(name, str) else did_you_mean(name, features)
            problems.append(f"{name}: {'is not compared (its role)' if in_schema else 'no such feature.'}{hint}")
        elif kind not in get_args(ContrastKind):
            problems.append(f"{name}: must be one of {', '.join(get_args(ContrastKind))}, not {kind!r}")
        elif kind not in feature.traits.contrasts:
            fitting = ", ".join(feature.traits.contrasts)
            problems.append(f"{name}: {feature.likelihood} cannot be contrasted by {kind} (only by {fitting})")
    if problems:
        raise InputError("\n".join(["contrasts cannot be used:", *(f"  - {problem}" for problem in problems)]))
    return choice


NORMAL_QUANTILE = 1.959963984540054  # the 0.975 quantile of the standard normal distribution

# -ln 0.025. If n counts are all 0, the upper limit of their mean is this / n (exact Poisson interval).
_LARGEST_MEAN_OF_NOTHING = 3.6888794541139363


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
        nothing_a, nothing_b = (a.mean == 0) & (b.mean > 0), (b.mean == 0) & (a.mean > 0)
        lower = np.where(nothing_a, 0.0, np.where(nothing_b, 1 / _bound_from_nothing(b, a), lower))
        upper = np.where(nothing_b, np.inf, np.where(nothing_a, _bound_from_nothing(a, b), upper))
    return Effect(estimate, lower, upper)


def _around(estimate: Floats, margin: Floats) -> Effect:
    """Return the interval estimate +- margin; NaN ends if the estimate is not finite, or the margin not positive."""
    margin = np.where(np.isfinite(estimate) & (margin > 0), margin, np.nan)
    return Effect(estimate, estimate - margin, estimate + margin)


def _bound_from_nothing(nothing: Side, something: Side) -> Floats:
    """Return the upper limit of the ratio of the mean of `nothing` (all values are 0) to the mean of `something`."""
    error = np.sqrt(something.variance / something.n) / something.mean
    least = np.exp(-stdtrit(something.n - 1, 0.975) * error)  # the lower limit of the other mean, divided by that mean
    return np.asarray(_LARGEST_MEAN_OF_NOTHING / nothing.n / something.mean / np.sqrt(least * (2 - least)))


_LOGIT_OF_TAIL = -3.6635616461296463  # of 0.025
_REACH, _STEPS, _SMALLEST, _LONGEST = 6, 60, 1e-12, 2.0  # counts and steps beyond these change no digit of a limit
_TOGETHER = 4_000_000  # counts that are weighed at once, 32 MB


def standardised_share(a: Side, b: Side) -> Effect:
    """Return the difference of the shares divided by the root of the mean of both p (1 - p), with its interval.

    From Wilson's limits (Zou and Donner 2008, Statistics in Medicine 27, 1693-1702).
    """
    return _recover_interval(lambda p, q: standardised_difference(p, q, p * (1 - p), q * (1 - q)), a, b)


def risk_difference(a: Side, b: Side) -> Effect:
    """Return the difference of the shares and its interval (Newcombe 1998, Stat Med 17, 873-890, method 10)."""
    return _recover_interval(np.subtract, a, b)


def _recover_interval(size: Callable[[Floats, Floats], Floats], a: Side, b: Side) -> Effect:
    """Return an effect size that increases with share a and decreases with share b; no interval if it is infinite."""
    with np.errstate(all="ignore"):
        (lower_a, upper_a), (lower_b, upper_b) = (bound_share(side.mean, side.n) for side in (a, b))
        estimate = size(a.mean, b.mean)
        below = np.hypot(estimate - size(lower_a, b.mean), estimate - size(a.mean, upper_b))
        above = np.hypot(size(upper_a, b.mean) - estimate, size(a.mean, lower_b) - estimate)
        finite = np.isfinite(estimate)
        return Effect(estimate, np.where(finite, estimate - below, np.nan), np.where(finite, estimate + above, np.nan))


def odds_ratio(a: Side, b: Side) -> Effect:
    """Return the odds ratio of the sample, with its exact mid-p interval: the odds ratios that `mid_p` does not reject.

    Given the margins, the number of a with it has Fisher's noncentral hypergeometric distribution. An end is 0 or
    infinite if a cell is empty; all are NaN if no or every subject has it (Agresti 2013, Categorical Data Analysis,
    16.6.4).
    """
    tables = _FourFold.of(a, b)
    with np.errstate(all="ignore"):
        estimate = tables.yes * (tables.n_b - tables.n_yes + tables.yes) / (tables.n_a - tables.yes)
        ends = (np.exp(tables.bound_log_odds(upwards=upwards)) for upwards in (True, False))
        effect = Effect(estimate / (tables.n_yes - tables.yes), *ends)
    varies = (tables.n_yes > 0) & (tables.n_yes < tables.n_a + tables.n_b)
    return Effect(*(np.where(varies, part, np.nan).reshape(a.n.shape) for part in effect))


def mid_p(a: Side, b: Side) -> TTest:
    """Return Fisher's exact test of two shares with mid-p: twice the smaller tail, in which the observed counts half.

    Recommended by Lydersen, Fagerland and Laake (2009, Statistics in Medicine 28, 1159-1175): its level is near the
    nominal one, where that of the exact p is far below. `statistic` and `df` are NaN.
    """
    from scipy.stats import hypergeom

    tables = _FourFold.of(a, b)
    with np.errstate(all="ignore"):
        margins = tables.n_a + tables.n_b, tables.n_yes, tables.n_a
        tails = hypergeom.cdf(tables.yes, *margins), hypergeom.sf(tables.yes - 1, *margins)
        p = np.minimum(2 * np.minimum(*tails) - hypergeom.pmf(tables.yes, *margins), 1)
    testable = (tables.n_a >= LEAST_OBSERVED) & (tables.n_b >= LEAST_OBSERVED)
    nothing = np.full(a.n.shape, np.nan)
    return TTest(nothing, nothing, np.where(testable, p, np.nan).reshape(a.n.shape))


class _FourFold(NamedTuple):
    """Fourfold tables: subjects of a with it, subjects of a and b, and all with it, each (T,)."""

    yes: Floats
    n_a: Floats
    n_b: Floats
    n_yes: Floats

    @classmethod
    def of(cls, a: Side, b: Side) -> _FourFold:
        """Return the tables of two groups whose means are shares; the NaN of an empty group counts as 0."""
        yes_a, yes_b = (np.rint(np.nan_to_num(side.mean) * side.n).ravel() for side in (a, b))
        return cls(yes_a, a.n.ravel(), b.n.ravel(), yes_a + yes_b)

    def bound_log_odds(self, *, upwards: bool) -> Floats:
        """Return the log odds ratio at which the tail from `yes` upwards (or downwards), the observed half, has 2.5%.

        By Newton's steps of the logit of the tail, which is nearly straight.
        """
        low, high = np.maximum(self.n_yes - self.n_b, 0), np.minimum(self.n_a, self.n_yes)
        end, side = (low, 1.0) if upwards else (high, -1.0)
        log_odds = np.where(self.yes == end, -side * np.inf, 0.0)
        rows = np.flatnonzero((self.yes != end) & (high > low))
        if not rows.size:
            return log_odds
        # Counts farther away have no weight at the odds ratios that are sought: their SD is at most root(range) / 2.
        reach = int(np.ceil(_REACH * np.sqrt((high - low)[rows].max()) + _REACH))
        for chunk in np.array_split(rows, -(-rows.size * 2 * reach // _TOGETHER)):
            log_odds[chunk] = self._solve_tail(chunk, reach, side, low[chunk, None], high[chunk, None])
        return log_odds

    def _solve_tail(self, rows: Groups, reach: int, side: float, low: Floats, high: Floats) -> Floats:
        yes, n_a, n_b, n_yes = (number[rows, None] for number in self)
        count = yes + np.arange(-reach, reach + 1)
        is_possible = (count >= low) & (count <= high)
        inside = np.where(is_possible, count, yes)
        weights = -sum(gammaln(k + 1) for k in (inside, n_a - inside, n_yes - inside, n_b - n_yes + inside))
        in_tail = np.where(count == yes, 0.5, (count - yes) * side > 0)
        at = np.log((yes + 0.5) * (n_b - n_yes + yes + 0.5) / (n_a - yes + 0.5) / (n_yes - yes + 0.5))
        for _ in range(_STEPS):
            shares = weights + inside * at
            shares = np.where(is_possible, np.exp(shares - shares.max(axis=1, keepdims=True)), 0.0)
            shares /= shares.sum(axis=1, keepdims=True)
            tail, mean = ((shares * weight).sum(axis=1, keepdims=True) for weight in (in_tail, inside))
            slope = ((shares * in_tail * inside).sum(axis=1, keepdims=True) - tail * mean) / (tail * (1 - tail))
            step = np.clip((_LOGIT_OF_TAIL - np.log(tail / (1 - tail))) / slope, -_LONGEST, _LONGEST)
            at = at + step
            if np.abs(step).max() < _SMALLEST:
                break
        return np.asarray(at[:, 0], dtype=np.float64)


def bound_share(p: Floats, n: Floats, quantile: float = NORMAL_QUANTILE) -> tuple[Floats, Floats]:
    """Return Wilson's limits (1927) of a share; the lower one of 0 is exactly 0, the upper one of 1 exactly 1."""
    squared = quantile**2
    middle, margin = p + squared / (2 * n), quantile * np.sqrt(p * (1 - p) / n + squared / (4 * n**2))
    lower, upper = ((middle + sign * margin) / (1 + squared / n) for sign in (-1, 1))
    return np.where(p == 0, 0.0, lower), np.where(p == 1, 1.0, upper)


def superiority(values: Floats, groups: Groups, comparisons: Groups, times: Times | None = None) -> Effect:
    """Return P(a > b) + P(a = b) / 2, with its interval, symmetric in the logit; each part has shape (C,).

    Variance: Brunner and Munzel (2000, Biometrical Journal 42, 17-25); if the groups do not overlap, Newcombe (2006,
    Statistics in Medicine 25, 559-573, method 5). `groups` (R,) are 0 to G - 1; of `comparisons` (C, 2), g + G is all
    subjects outside g.
    """
    observed = ~np.isnan(values)
    levels, level = np.unique(values[observed], return_inverse=True)
    n_groups = int(groups.max()) + 1
    weights = _count_once(values, times)[observed]
    cells = np.bincount(groups[observed] * levels.size + level, weights, minlength=n_groups * levels.size)
    counts = cells.reshape(n_groups, levels.size).astype(np.float64)
    # The number of values of each group below each distinct value; ties count one half.
    below = counts.cumsum(axis=1) - counts / 2
    total, total_below = counts.sum(axis=0), below.sum(axis=0)

    def side(number: int) -> tuple[Floats, Floats]:
        if number < n_groups:
            return counts[number], below[number]
        return total - counts[number - n_groups], total_below - below[number - n_groups]

    pairs = [_compare_pair(*side(a), *side(b)) for a, b in comparisons.tolist()]
    return _bound_superiority(*np.array(pairs, dtype=np.float64).reshape(-1, 6).T)


def _compare_pair(count_a: Floats, below_a: Floats, count_b: Floats, below_b: Floats) -> tuple[float, ...]:
    """Return the estimate, that of b > a, the squared errors of both and the numbers of observed values."""
    n_a, n_b = count_a.sum(), count_b.sum()
    if min(n_a, n_b) < LEAST_OBSERVED:
        return (np.nan, np.nan, np.nan, np.nan, n_a, n_b)
    # The share of the other group below each value: its mean is the estimate, its variance gives the squared error.
    share_a, share_b = below_b / n_b, below_a / n_a
    estimate, other = count_a @ share_a / n_a, count_b @ share_b / n_b
    error_a = count_a @ (share_a - estimate) ** 2 / (n_a - 1) / n_a
    error_b = count_b @ (share_b - other) ** 2 / (n_b - 1) / n_b
    return (estimate, other, error_a, error_b, n_a, n_b)


def _bound_superiority(
    estimate: Floats, other: Floats, error_a: Floats, error_b: Floats, n_a: Floats, n_b: Floats
) -> Effect:
    with np.errstate(all="ignore"):
        quantile = stdtrit(satterthwaite(error_a, error_b, n_a, n_b), 0.975)
        margin = np.exp(quantile * np.sqrt(error_a + error_b) / (estimate * other))
        lower, upper = estimate / (estimate + other * margin), estimate / (estimate + other / margin)
    for place in np.flatnonzero((estimate == 0) | (other == 0)):
        end = _bound_where_separate(n_a[place], n_b[place])
        lower[place], upper[place] = (0.0, end) if estimate[place] == 0 else (1.0 - end, 1.0)
    return Effect(np.where(np.isnan(lower), np.nan, estimate), lower, upper)


def _bound_where_separate(n_a: float, n_b: float) -> float:
    """Return the upper end of the interval if the estimate is 0."""
    from scipy.optimize import brentq

    half = (n_a + n_b) / 2 - 1

    def excess(effect: float) -> float:
        spread = 1 + half * ((1 - effect) / (2 - effect) + effect / (1 + effect))
        return float(n_a * n_b * effect - NORMAL_QUANTILE**2 * (1 - effect) * spread)

    return float(brentq(excess, 0.0, 1.0, xtol=1e-16, rtol=1e-15))


EFFECTS: dict[str, dict[str, Callable[[Side, Side], Effect]]] = {
    "shares": {"standardised_difference": standardised_share, "difference": risk_difference, "ratio": odds_ratio},
    "means": {"standardised_difference": standardised_mean, "difference": mean_difference},
    "rates": {"standardised_difference": standardised_mean, "ratio": ratio_of_means},
}
"""The effect sizes of features, by the trait `effect_sizes` of their likelihoods and by name."""
