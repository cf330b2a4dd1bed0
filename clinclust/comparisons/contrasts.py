"""Contrasts: one test of whether a feature differs between groups; every number is NaN where nothing can be tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.t_tests import Floats, Side, Times, moments, student, welch
from clinclust.errors import InputError
from clinclust.likelihoods.likelihood import ContrastKind
from clinclust.nearest import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import Feature, FeatureSchema

__all__ = [
    "Contrast",
    "ContrastKind",
    "Contrasted",
    "checked_choice",
    "combined",
    "contrast_of",
    "contrasted",
    "is_skewed",
]

Groups: TypeAlias = NDArray[np.int64]

_LEAST_OBSERVED = 2
_LEAST_EXPECTED = 5.0
_SKEWED, _LEAST_FOR_SHAPE = 1.0, 3
_RESAMPLES, _SEED, _ROUNDING = 9999, 20160926, 1e-13
_ALWAYS_ASYMPTOTIC = 50


class Contrast(NamedTuple):
    """The result of a test of all groups at once; `df2` is the degrees of freedom of the denominator."""

    test: str = ""
    statistic: float = np.nan
    df: float = np.nan
    df2: float = np.nan
    p: float = np.nan


class Contrasted(NamedTuple):
    """Numbers of a feature that are tested, and how."""

    values: Floats
    """(N,) NaN = missing; for ``"counts"`` the levels 0, 1, ...."""
    kind: ContrastKind


def contrasted(
    feature: Feature, column: pd.Series, chosen: ContrastKind | None = None, times: Times = None
) -> list[Contrasted]:
    """Return what is tested of a feature: its values or, with point masses, the counts at these and the others."""
    if not feature.point_masses:
        values = feature.described(column)
        return [Contrasted(values, chosen or contrast_kind(feature, values, times))]
    first, second = feature.parts
    kind = chosen or feature.contrast or "rank"
    return [Contrasted(first.scores(column), "counts"), Contrasted(second.scores(column), kind)]


def combined(contrasts: Sequence[Contrast]) -> Contrast:
    """Return Fisher's combination of those with a p: -2 sum ln p is chi-squared with 2 df per independent test."""
    from scipy.special import chdtrc

    contrasts = [contrast for contrast in contrasts if not np.isnan(contrast.p)]
    if len(contrasts) < 2:
        return contrasts[0] if contrasts else Contrast()
    with np.errstate(divide="ignore"):
        statistic = float(-2.0 * np.log([contrast.p for contrast in contrasts]).sum())
    df = 2.0 * len(contrasts)
    names = ", ".join(dict.fromkeys(contrast.test for contrast in contrasts))
    p = float(chdtrc(df, statistic)) if np.isfinite(statistic) else 0.0
    return Contrast(f"Fisher's combination of {names}", statistic, df, np.nan, p)


def contrast_kind(feature: Feature, values: Floats, times: Times = None) -> ContrastKind:
    """Return the contrast of the schema, else ``"rank"`` if skewed and not counted by level, else the plainest."""
    if feature.contrast is not None:
        return feature.contrast
    plainest = feature.traits.contrasts[0]
    return "rank" if plainest != "counts" and is_skewed(feature, values, times) else plainest


def is_skewed(feature: Feature, values: Floats, times: Times = None) -> bool:
    """Return whether the likelihood is skewed, there is a transform, or a gaussian feature has |skewness| above 1."""
    if feature.traits.is_skewed or feature.transform is not None:
        return True
    if not feature.traits.is_real:
        return False
    known = ~np.isnan(values)
    observed, weights = values[known], None if times is None else times[known]
    if observed.size < _LEAST_FOR_SHAPE or observed.min() == observed.max():
        return False
    with np.errstate(all="ignore"):
        from_mean = observed - np.average(observed, weights=weights)
        from_mean /= np.abs(from_mean).max()
        second, third = (float(np.average(from_mean**power, weights=weights)) for power in (2, 3))
        return bool(abs(third) > _SKEWED * second**1.5)


def contrast_of(values: Floats, groups: Groups, kind: ContrastKind, times: Times = None) -> Contrast:
    """Test whether groups (R,) of values (R,) differ; groups below 0 take no part.

    ``"welch"``: means (Welch 1947, 1951). ``"student"``: means, one variance. ``"rank"``: Mann-Whitney, Kruskal-Wallis.
    ``"counts"``: chi-squared, or Fisher's exact test if an expected count is below 5 (simulated beyond two by two).
    """
    taking_part = (groups >= 0) & ~np.isnan(values)
    values, groups = values[taking_part], groups[taking_part]
    times = None if times is None else times[taking_part]
    if kind == "counts":
        return _of_counts(values.astype(np.int64), groups, times)
    sizes = np.bincount(groups, weights=times)
    chosen = [groups == group for group in np.flatnonzero(sizes >= _LEAST_OBSERVED)]
    parts = [(values[own], None if times is None else times[own]) for own in chosen]
    if len(parts) < 2 or len({float(value) for part, _ in parts for value in (part.min(), part.max())}) == 1:
        return Contrast()
    if kind == "rank":
        return _of_ranks([part for part, _ in parts]) if times is None else _of_counted_ranks(parts)
    with np.errstate(all="ignore"):
        return _of_means(parts, kind)


def _of_means(parts: list[tuple[Floats, Times]], kind: ContrastKind) -> Contrast:
    # Subtract a common centre, so that the means of large numbers lose no digits.
    centre = parts[0][0][0]
    groups = Side(*np.array([_moments(part - centre, times) for part, times in parts]).T)
    if np.isnan(groups.variance).any():
        return Contrast()
    if len(parts) == 2:
        result = (student if kind == "student" else welch)(*(Side(*side) for side in zip(*groups, strict=True)))
        named = "Student's t" if kind == "student" else "Welch's t"
        return Contrast(named, float(result.statistic), float(result.df), np.nan, float(result.p))
    if kind == "welch" and (groups.variance == 0.0).any():
        return _limit_of_welch(groups)
    from statsmodels.stats.oneway import anova_generic

    use, test = ("equal", "ANOVA") if kind == "student" else ("unequal", "Welch's ANOVA")
    result = anova_generic(groups.mean, groups.variance, groups.n, use_var=use)
    return Contrast(test, float(result.statistic), float(result.df_num), float(result.df_denom), float(result.pvalue))


def _moments(part: Floats, times: Times) -> tuple[float, float, float]:
    """Return the number of values, their mean and variance; the variance is NaN if a float64 cannot hold it."""
    n = part.size if times is None else int(times.sum())
    if part.min() == part.max():
        return n, float(part[0]), 0.0
    mean, variance = moments(part, times)
    return n, mean, variance if 0.0 < variance < np.inf else np.nan


def _limit_of_welch(groups: Side) -> Contrast:
    """Return the limit of Welch's analysis of variance as the equal variances of groups without spread go to 0."""
    from scipy.special import fdtrc

    n, mean, variance = groups
    still = variance == 0.0
    df = n.size - 1.0
    if np.unique(mean[still]).size > 1:
        return Contrast("Welch's ANOVA", np.inf, df, np.nan, 0.0)
    share = np.where(still, n, 0.0) / n[still].sum()
    weight = np.where(still, 0.0, n / np.where(still, 1.0, variance))
    lack = ((1 - share) ** 2 / (n - 1)).sum()
    between = (weight * (mean - mean[still][0]) ** 2).sum() / df
    statistic = float(between / (1 + 2 * (n.size - 2) / (n.size**2 - 1) * lack))
    df2 = float((n.size**2 - 1) / (3 * lack))
    return Contrast("Welch's ANOVA", statistic, df, df2, float(fdtrc(df, df2, statistic)))


def _of_ranks(parts: list[Floats]) -> Contrast:
    from scipy.stats import kruskal, mannwhitneyu

    if len(parts) == 2:
        # As in R, exact without ties and with fewer than 50 values in both groups; otherwise it can take minutes.
        few = max(part.size for part in parts) < _ALWAYS_ASYMPTOTIC
        exact = few and np.unique(np.concatenate(parts)).size == sum(part.size for part in parts)
        statistic, p = mannwhitneyu(parts[0], parts[1], method="exact" if exact else "asymptotic")
        return Contrast("Mann-Whitney", float(statistic), np.nan, np.nan, float(p))
    statistic, p = kruskal(*parts)
    return Contrast("Kruskal-Wallis", float(statistic), len(parts) - 1.0, np.nan, float(p))


def _of_counted_ranks(parts: list[tuple[Floats, Times]]) -> Contrast:
    """Return the same tests of counted values, with the asymptotic distribution and mid-ranks of ties."""
    from scipy.special import chdtrc, ndtr

    levels, level = np.unique(np.concatenate([part for part, _ in parts]), return_inverse=True)
    starts = np.cumsum([0, *(part.size for part, _ in parts)])
    counts = np.array(
        [
            np.bincount(level[start : start + part.size], weights=times, minlength=levels.size)
            for start, (part, times) in zip(starts, parts, strict=False)
        ]
    )
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


def _of_counts(levels: Groups, groups: Groups, times: Times) -> Contrast:
    from scipy.stats import chi2_contingency, fisher_exact

    if not levels.size:
        return Contrast()
    table = np.zeros((levels.max() + 1, groups.max() + 1), dtype=np.int64)
    np.add.at(table, (levels, groups), 1 if times is None else times)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return Contrast()
    result = chi2_contingency(table, correction=False)
    if result.expected_freq.min() >= _LEAST_EXPECTED:
        return Contrast("chi-squared", float(result.statistic), float(result.dof), np.nan, float(result.pvalue))
    if table.shape == (2, 2):
        return Contrast("Fisher's exact", np.nan, np.nan, np.nan, float(fisher_exact(table).pvalue))
    return Contrast("Fisher's exact (simulated)", np.nan, np.nan, np.nan, _simulated(table))


def _simulated(table: Groups) -> float:
    """Return the share of random tables with the same margins, and the table itself, that are no more probable."""
    from scipy.special import gammaln
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
