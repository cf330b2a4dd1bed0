"""The test of one feature against subtypes found without it: permutations, p, effect, and what is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.comparisons.differences import Contrast, Contrasted, combined, contrast_of, contrasted
from clinclust.graded import graded, mid_ranks
from clinclust.likelihoods.likelihood import ContrastKind

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature


BY_PERSON, BY_VALUE = ", persons permuted", ", values permuted"
"""The ends of the names of tests by permutations of whole persons, or of single values."""
_PERMUTATIONS, _ENOUGH, _SEED = 9999, 100, 20161007
"""At most so many permutations; fewer when so many gave as large a statistic (Besag and Clifford 1991)."""
_ROUNDING = 1e-10
_LEAST_PERMUTATIONS, _MOST_DRAWS = 999, 200_000_000
"""Large cohorts get fewer permutations: so many values at most, but no fewer permutations than this."""
_MOST_SHAPE, _LEAST_OBSERVED, _MOST_CELLS = 0.2, 2, 500
_LEAST_FOR_WELCH, _MOST_SKEW = 20, 0.02
"""Welch's p of .001 comes up at most twice as often, with so many values in each group and squared skewness below so
much of their number."""


def contrast_of_few(values: Array, groups: Labels, kind: ContrastKind) -> Contrast:
    """Return `contrast_of`, (N,) values and groups, with p by permutations where its p is not accurate.

    With n in the smallest group, values are permuted where squared skewness plus excess kurtosis exceeds 0.2 n (Hall
    1992, The Bootstrap and Edgeworth Expansion, chapter 2); for Welch's test where n is below 20, or squared skewness
    exceeds 0.02 n. Its own statistic is permuted, so that p stays valid where spreads differ (Janssen 1997, Statistics
    and Probability Letters 36).
    """
    found = contrast_of(values, groups, kind)
    if kind == "counts" or np.isnan(found.p):
        return found
    taking_part = (groups >= 0) & ~np.isnan(values)
    values, groups = values[taking_part], groups[taking_part]
    sizes = np.bincount(groups)
    large = sizes[groups] >= _LEAST_OBSERVED
    values, groups = values[large], groups[large]
    scores = _scores(values, kind)
    if _is_accurate(scores[:, 0], kind, int(sizes[sizes >= _LEAST_OBSERVED].min())):
        return found
    levels, codes = np.unique(scores[:, 0], return_inverse=True)
    if levels.size * np.unique(groups).size <= _MOST_CELLS:
        p = _p_by_tables(levels, codes, groups, kind)
        return found._replace(test=found.test + BY_VALUE, df=np.nan, df2=np.nan, p=p)
    return _with_p(found, _Between(scores, groups, kind), [np.arange(values.size)[:, None]], BY_VALUE)


def _is_accurate(scores: Array, kind: ContrastKind, smallest: int) -> bool:
    """Return whether the usual p is accurate for these centred scores, with so many in the smallest group."""
    scaled = scores / np.abs(scores).max()
    second, third, fourth = ((scaled**power).mean() for power in (2, 3, 4))
    skew = third**2 / second**3
    if kind == "welch":
        return bool(smallest >= _LEAST_FOR_WELCH and skew <= _MOST_SKEW * smallest)
    return bool(skew + max(fourth / second**2 - 3.0, 0.0) <= _MOST_SHAPE * smallest)


def _between(n: Array, sums: Array, squares: Array, kind: ContrastKind) -> Array:
    """Return how far groups (last axis) lie apart: Welch's weighted sum of squares, or that of one variance.

    `n`, `sums` and `squares` are of the values, centred at 0, in each group.
    """
    if kind == "welch":
        variance = (squares - sums**2 / np.maximum(n, 1.0)) / np.maximum(n - 1.0, 1.0)
        # Groups without spread get a little, as otherwise all that have none would be as far apart.
        least = _ROUNDING * squares.sum(-1, keepdims=True)
        weights = np.where(n >= _LEAST_OBSERVED, n / np.maximum(variance, least), 0.0)
    else:
        weights = n
    means = sums / np.maximum(n, 1.0)
    centre = (weights * means).sum(-1, keepdims=True) / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
    return np.asarray((weights * (means - centre) ** 2).sum(-1))


def _p_by_tables(levels: Array, codes: Labels, groups: Labels, kind: ContrastKind) -> float:
    """Return p by random tables of levels by groups with given margins: the permutations, at a cost without N."""
    from scipy.stats import random_table

    n_of_level, n_of_group = (counts[counts > 0] for counts in (np.bincount(codes), np.bincount(groups)))
    observed = np.zeros((levels.size, n_of_group.size))
    np.add.at(observed, (codes, np.unique(groups, return_inverse=True)[1]), 1.0)
    tables = random_table(n_of_level, n_of_group).rvs(
        _PERMUTATIONS, method="patefield", random_state=np.random.default_rng(_SEED)
    )
    between, least = (
        _between(n_of_group.astype(np.float64), levels @ counts, levels**2 @ counts, kind)
        for counts in (tables, observed)
    )
    return float((1 + (between >= least * (1.0 - _ROUNDING)).sum()) / (1 + _PERMUTATIONS))


def contrast_by_person(values: Array, groups: Labels, kind: ContrastKind, persons: Labels) -> Contrast:
    """Return `contrast_of` with p by permutations of whole persons, int64 (N,)."""
    found = contrast_of(values, groups, kind)
    exchanges = _exchanges(persons)
    if np.isnan(found.p) or not any(rows.shape[0] > 1 for rows in exchanges):
        return Contrast()
    return _with_p(found, _Between(_scores(values, kind), groups, kind), exchanges, BY_PERSON)


def without_permutation(test: str) -> str:
    """Return the name of a test without what is permuted."""
    return test.removesuffix(BY_PERSON).removesuffix(BY_VALUE)


def _with_p(found: Contrast, between: _Between, exchanges: list[Labels], named: str) -> Contrast:
    """Return the contrast with p by permutations of the rows of each array of `exchanges`."""
    observed = between.of(np.arange(between.n_rows))
    as_large = drawn = 0
    for order in _orders(exchanges, between.n_rows):
        drawn += 1
        as_large += between.of(order) >= observed * (1.0 - _ROUNDING)
        if as_large == _ENOUGH:
            break
    p = as_large / drawn if as_large == _ENOUGH else (1 + as_large) / (1 + drawn)
    return found._replace(test=found.test + named, df=np.nan, df2=np.nan, p=p)


def _exchanges(persons: Labels) -> list[Labels]:
    """Return the rows of the persons with equally many rows, (persons, rows of each); one array per number of rows."""
    order = np.argsort(persons, kind="stable")
    _, start, counts = np.unique(persons[order], return_index=True, return_counts=True)
    return [order[start[counts == count][:, None] + np.arange(count)] for count in np.unique(counts)]


def _orders(exchanges: list[Labels], n_rows: int) -> Iterator[Labels]:
    """Yield random orders of the rows, int64 (N,), in which each person has the rows of another."""
    rng = np.random.default_rng(_SEED)
    for _ in range(min(_PERMUTATIONS, max(_LEAST_PERMUTATIONS, _MOST_DRAWS // n_rows))):
        order = np.empty(n_rows, dtype=np.int64)
        for rows in exchanges:
            order[rows] = rows[rng.permutation(rows.shape[0])]
        yield order


def _scores(values: Array, kind: ContrastKind) -> Array:
    """Return the columns whose means are compared between the groups, (N, C), NaN = missing."""
    if kind == "counts":
        _, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        return np.asarray(graded([(values, True)], mid_ranks).columns / np.sqrt(counts / counts.sum()))
    column = mid_ranks(values) if kind == "rank" else values
    return (column - np.nanmean(column))[:, None]


class _Between:
    """How far the groups lie apart, over all columns, where they have the values of other rows."""

    def __init__(self, scores: Array, groups: Labels, kind: ContrastKind) -> None:
        self._kind: ContrastKind = kind
        self.n_rows = groups.size
        self._seen = (~np.isnan(scores[:, 0])).astype(np.float64)
        self._columns = np.where(self._seen[:, None] > 0.0, scores, 0.0).T.copy()
        self._groups, self._n_groups = groups + 1, int(groups.max()) + 2  # group 0 takes no part
        is_complete = self._seen.all() and (groups >= 0).all()
        self._sizes = self._sums(self._seen) if is_complete else None

    def of(self, order: Labels) -> float:
        """Return the statistic if row i has the values of row ``order[i]``."""
        sizes = self._sums(self._seen[order]) if self._sizes is None else self._sizes
        filled = sizes > 0.0
        total = 0.0
        for column in self._columns:
            own = column[order]
            squares = self._sums(own**2)[filled] if self._kind == "welch" else sizes
            total += float(_between(sizes[filled], self._sums(own)[filled], squares, self._kind))
        return total

    def _sums(self, values: Array) -> Array:
        return np.asarray(np.bincount(self._groups, values, self._n_groups)[1:], dtype=np.float64)


class Found(NamedTuple):
    """Subtypes found without the tested feature."""

    rows: Labels
    """(n,) the rows of subjects in the table."""
    labels: Labels
    """(n,) the subtype of each, 0 to K - 1."""
    n_found: int
    """The number of clusters that the search found, before mergers and divisions."""


@dataclass(frozen=True, eq=False)
class TestRules:
    """What is the same for the tests of all features of a cohort.

    Subtypes of fewer than `min_size` or `floor` subjects are not tested. `persons` is the person of each row, int64
    (N,), if persons have several rows.
    """

    __test__ = False  # no test of pytest

    min_size: int
    floor: int = 1
    significance_level: float = 0.01
    contrasts: Mapping[str, ContrastKind] = field(default_factory=dict)
    persons: Labels | None = None

    def fewest(self, found: Found, n_subjects: int) -> int:
        """Return the fewest subjects of a tested subtype; of one row of each person, their share of all subjects."""
        return max(self.min_size, -(-self.floor * found.rows.size // n_subjects))

    def groups(self, found: Found, n_subjects: int) -> Labels:
        """Return the subtype of each subject, int64 (n,); -1 where it has too few subjects."""
        sizes = np.bincount(found.labels)
        return np.where(sizes[found.labels] >= self.fewest(found, n_subjects), found.labels, -1)


def association_of(tested: list[Contrasted], found: Found, rules: TestRules) -> tuple[Contrast, int]:
    """Return the test of a feature against subtypes, of its parts by Fisher's method (1932), and its subjects."""
    contrasts, n_tested = [], 0
    for values, kind in tested:
        groups, own = rules.groups(found, values.size), values[found.rows]
        if rules.persons is None:
            contrast = contrast_of_few(own, groups, kind)
        else:
            contrast = contrast_by_person(own, groups, kind, rules.persons[found.rows])
        if not np.isnan(contrast.p):
            contrasts.append(contrast)
            n_tested = max(n_tested, int((~np.isnan(own[groups >= 0])).sum()))
    return combined(contrasts), n_tested


NOT_FOUND_AGAIN = (
    "not tested: the subtypes may have been made from it, and given subtypes cannot be found again without it; give it "
    "the role describe if it had no part in them"
)


def described(feature: Feature) -> dict[str, Any]:
    """Return the columns of the result that describe the feature."""
    about: dict[str, Any] = {name: getattr(feature, name) for name in ("section", "role", "likelihood")}
    return about | {"feature": feature.name, "label": feature.title}


def whole_cohort(model: SubtypeModel) -> Found:
    """Return all subjects with their subtypes in the model."""
    labels = np.asarray(model.labels_)
    return Found(np.arange(labels.size), labels, int(labels.max()) + 1)


def tested(feature: Feature, frame: pd.DataFrame, found: Found, method: str, rules: TestRules) -> dict[str, Any]:
    """Return the test of a feature against subtypes, as columns of the result."""
    values = feature.described(frame[feature.name])
    chosen = rules.contrasts.get(feature.name)
    contrast, n = association_of(contrasted(feature, frame[feature.name], chosen), found, rules)
    about = {"method": method, "n_subtypes": np.unique(found.labels).size}
    if np.isnan(contrast.p):
        return about | {"method": None, "remark": _why_untested(method, values, found, rules)}
    return about | contrast._asdict() | {"n": n}


def _why_untested(method: str, values: Array, found: Found, rules: TestRules) -> str:
    if np.unique(found.labels).size < 2:
        return f"not tested: {'' if method == 'direct' else 'without it '}there is one subtype only"
    groups = rules.groups(found, values.size)
    if np.unique(groups[groups >= 0]).size < 2:
        return f"not tested: fewer than two subtypes have {rules.fewest(found, values.size)} subjects"
    observed = groups[~np.isnan(values[found.rows])]
    if np.unique(observed[observed >= 0]).size < 2:
        return "not tested: all its values are missing, but in one subtype at most"
    return "not tested: the observed values of the subtypes do not vary, or are too few"
