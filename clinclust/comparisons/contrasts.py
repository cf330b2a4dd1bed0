"""One test for all groups of a feature at once: whether its distribution differs anywhere between them.

A group without enough observed values takes no part. Where nothing is left to test, or all observed values are the
same, every number is NaN; `Contrast.test` is then empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.t_tests import Side, student, welch

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["Contrast", "ContrastKind", "contrast_kind", "contrast_of", "is_skewed"]

Floats: TypeAlias = NDArray[np.float64]
Groups: TypeAlias = NDArray[np.int64]
ContrastKind: TypeAlias = Literal["student", "welch", "rank", "counts"]

_LEAST_OBSERVED = 2
_LEAST_EXPECTED = 5.0
_SKEWED, _LEAST_FOR_SHAPE = 1.0, 3
_RESAMPLES, _SEED = 9999, 20160926


class Contrast(NamedTuple):
    """A test of all groups at once: its name, statistic, degrees of freedom (of the denominator: df2) and p."""

    test: str = ""
    statistic: float = np.nan
    df: float = np.nan
    df2: float = np.nan
    p: float = np.nan


def contrast_kind(feature: Feature, values: Floats) -> ContrastKind:
    """Return how a feature is contrasted unless somebody chooses."""
    if feature.likelihood in ("bernoulli", "categorical"):
        return "counts"
    return "rank" if is_skewed(feature, values) else "student"


def is_skewed(feature: Feature, values: Floats) -> bool:
    """Whether the median says more than the mean: long-tailed by likelihood or transform, or |skewness| above 1."""
    if feature.likelihood in ("exponential", "geometric") or feature.transform is not None:
        return True
    if feature.likelihood != "gaussian":
        return False
    observed = values[~np.isnan(values)]
    if observed.size < _LEAST_FOR_SHAPE or observed.min() == observed.max():
        return False
    with np.errstate(all="ignore"):
        from_mean = observed - observed.mean()
        from_mean /= np.abs(from_mean).max()
        return bool(abs((from_mean**3).mean()) > _SKEWED * (from_mean**2).mean() ** 1.5)


def contrast_of(values: Floats, groups: Groups, kind: ContrastKind) -> Contrast:
    """Test whether the groups differ.

    Parameters
    ----------
    values : float64 (N,)
        NaN = missing. For ``"counts"`` the levels 0, 1, ... .
    groups : int64 (N,)
        Group of each subject; those below 0 take no part.
    kind : {"student", "welch", "rank", "counts"}
        Means with one variance for all groups (Student's t, one-way analysis of variance) or with one for each
        (Welch 1947, 1951); ranks (Mann-Whitney, Kruskal-Wallis); or counts of levels (chi-squared, or Fisher's exact
        test where an expected count is below 5; its p is simulated for more than two by two cells).
    """
    taking_part = (groups >= 0) & ~np.isnan(values)
    values, groups = values[taking_part], groups[taking_part]
    if kind == "counts":
        return _of_counts(values.astype(np.int64), groups)
    sizes = np.bincount(groups) if groups.size else np.zeros(0, dtype=np.int64)
    parts = [values[groups == group] for group in np.flatnonzero(sizes >= _LEAST_OBSERVED)]
    if len(parts) < 2 or len({float(value) for part in parts for value in (part.min(), part.max())}) == 1:
        return Contrast()
    with np.errstate(all="ignore"):
        return _of_ranks(parts) if kind == "rank" else _of_means(parts, kind)


def _of_means(parts: list[Floats], kind: ContrastKind) -> Contrast:
    n = np.array([part.size for part in parts], dtype=np.float64)
    # About a common centre, so that squares of large numbers do not cancel.
    centre = float(np.median(np.concatenate(parts)))
    mean = np.array([(part - centre).mean() for part in parts])
    variance = np.array([(part - centre).var(ddof=1) if part.min() < part.max() else 0.0 for part in parts])
    if len(parts) == 2:
        test = student if kind == "student" else welch
        result = test(*(Side(n[side], mean[side], variance[side]) for side in (0, 1)))
        named = "Student's t" if kind == "student" else "Welch's t"
        return Contrast(named, float(result.statistic), float(result.df), np.nan, float(result.p))
    return _analysis_of_variance(n, mean, variance) if kind == "student" else _welch_anova(n, mean, variance)


def _analysis_of_variance(n: Floats, mean: Floats, variance: Floats) -> Contrast:
    from scipy.special import fdtrc

    df, df2 = n.size - 1.0, n.sum() - n.size
    between = (n * (mean - (n * mean).sum() / n.sum()) ** 2).sum() / df
    within = ((n - 1) * variance).sum() / df2
    statistic = between / within if within > 0.0 else np.inf
    return Contrast("ANOVA", statistic, df, df2, float(fdtrc(df, df2, statistic)) if within > 0.0 else 0.0)


def _welch_anova(n: Floats, mean: Floats, variance: Floats) -> Contrast:
    from scipy.special import fdtrc

    if (variance == 0.0).any():
        return Contrast()  # a group without spread would get all the weight
    weight = n / variance
    share = weight / weight.sum()
    centre = (share * mean).sum()
    df = n.size - 1.0
    lack = ((1 - share) ** 2 / (n - 1)).sum()
    between = (weight * (mean - centre) ** 2).sum() / df
    statistic = between / (1 + 2 * (n.size - 2) / (n.size**2 - 1) * lack)
    df2 = (n.size**2 - 1) / (3 * lack)
    return Contrast("Welch's ANOVA", statistic, df, df2, float(fdtrc(df, df2, statistic)))


def _of_ranks(parts: list[Floats]) -> Contrast:
    from scipy.stats import kruskal, mannwhitneyu

    if len(parts) == 2:
        statistic, p = mannwhitneyu(parts[0], parts[1], method="auto")
        return Contrast("Mann-Whitney", float(statistic), np.nan, np.nan, float(p))
    statistic, p = kruskal(*parts)
    return Contrast("Kruskal-Wallis", float(statistic), len(parts) - 1.0, np.nan, float(p))


def _of_counts(levels: Groups, groups: Groups) -> Contrast:
    from scipy.stats import MonteCarloMethod, chi2_contingency, fisher_exact

    if not levels.size:
        return Contrast()
    table = np.zeros((levels.max() + 1, groups.max() + 1), dtype=np.int64)
    np.add.at(table, (levels, groups), 1)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return Contrast()
    result = chi2_contingency(table, correction=False)
    if result.expected_freq.min() >= _LEAST_EXPECTED:
        return Contrast("chi-squared", float(result.statistic), float(result.dof), np.nan, float(result.pvalue))
    if table.shape == (2, 2):
        return Contrast("Fisher's exact", np.nan, np.nan, np.nan, float(fisher_exact(table).pvalue))
    method = MonteCarloMethod(n_resamples=_RESAMPLES, rng=np.random.default_rng(_SEED))
    return Contrast(
        "Fisher's exact (simulated)", np.nan, np.nan, np.nan, float(fisher_exact(table, method=method).pvalue)
    )
