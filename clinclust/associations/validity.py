"""What the test of a feature shows: its grade, by its relation to others and by what missing values could be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.associations.as_reported import OTHER_BELOW
from clinclust.associations.given_others import given_others
from clinclust.associations.tested_association import Found, TestRules
from clinclust.comparisons.frame import is_missing
from clinclust.graded import graded, mid_ranks

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature


Grade: TypeAlias = Literal["differs beyond dependence", "differs", "not shown", "not tested"]


def grade_of(row: Mapping[str, Any], level: float) -> Grade:
    """Return what the test of a feature shows, by its row of `validated_associations` and the level for q and p."""
    agreement = row.get("agreement")
    is_of_others = agreement is not None and not is_missing(agreement) and agreement < OTHER_BELOW
    if is_missing(row.get("p")) or is_of_others:
        return "not tested"
    if not row["q"] <= level:
        return "not shown"
    given_others = row.get("p_given_others")
    is_beyond = given_others is not None and not is_missing(given_others) and given_others <= level
    return "differs beyond dependence" if is_beyond and not may_be_undone(row, level) else "differs"


def may_be_undone(row: Mapping[str, Any], level: float) -> bool:
    """Return whether p could be above the level if the missing values were known."""
    bound = row.get("p_whatever_is_missing")
    return bound is not None and not is_missing(bound) and not bound <= level


_QUARTILES = (0.25, 0.5, 0.75)
_LEAST_EXPECTED = 5.0
_GRID = 2001


def p_whatever_is_missing(values: Array, found: Found, rules: TestRules, *, is_nominal: bool) -> float:
    """Return an upper bound of p over all values that the missing ones can have; 1 if expected counts are too small.

    Values (N,) are cut in two at each quartile, or into each nominal level and all others. p is that of the smallest
    chi-squared, with shares between all missing values below and all above the cut, times the number of cuts
    (worst-case bounds: Horowitz and Manski 2000, Journal of the American Statistical Association 95). Rows must be
    independent. Subtypes of fewer than 20 subjects take no part.
    """
    own, groups = values[found.rows], rules.groups(found, values.size)
    p = [_least_p(own, above, groups) for above in _cuts(own, is_nominal=is_nominal)]
    usable = [each for each in p if not np.isnan(each)]
    return min(1.0, len(usable) * min(usable)) if usable else 1.0


def _cuts(values: Array, *, is_nominal: bool) -> list[NDArray[np.bool_]]:
    """Return whether each value is above each cut, bool (N,); False where it is missing."""
    observed = values[~np.isnan(values)]
    if not observed.size:
        return []
    if is_nominal:
        return [values == level for level in np.unique(observed)]
    at = np.unique(np.quantile(observed, _QUARTILES, method="lower"))
    return [values > cut for cut in at if cut < observed.max()]


def _least_p(values: Array, above: NDArray[np.bool_], groups: Labels) -> float:
    """Return p of the smallest chi-squared of one cut over all values that the missing ones can have."""
    from scipy.special import chdtrc

    taking_part = groups >= 0
    where = groups[taking_part]
    n = np.bincount(where, minlength=1).astype(np.float64)
    is_group = n * min(_QUARTILES) >= _LEAST_EXPECTED
    if is_group.sum() < 2:
        return float("nan")
    low = np.bincount(where, above[taking_part])[is_group]
    high = low + np.bincount(where, np.isnan(values[taking_part]))[is_group]
    n = n[is_group]
    # For a common share q, the shares nearest to it within their bounds give the smallest statistic.
    q = np.linspace(0.0, 1.0, _GRID)[1:-1, None]
    nearest = np.clip(q, low / n, high / n)
    statistic = (n * (nearest - q) ** 2 / (q * (1.0 - q))).sum(axis=1)
    best = int(statistic.argmin())
    if n.min() * min(q[best, 0], 1.0 - q[best, 0]) < _LEAST_EXPECTED:
        return float("nan")
    return float(chdtrc(n.size - 1.0, statistic[best]))


class ValidityChecks:
    """The checks of the features of a cohort; `clustered` are those that the subtypes were found from."""

    def __init__(self, clustered: Sequence[Feature], frame: pd.DataFrame, rules: TestRules) -> None:
        self.frame, self.rules, self.clustered = frame, rules, clustered
        scores = ((feature.scores(frame[feature.column]), feature.traits.is_nominal) for feature in clustered)
        self.graded = graded(scores, mid_ranks)

    def columns_of(self, feature: Feature) -> Array:
        """Return the feature on the scale of its model, or indicators of its levels, or with point masses both."""
        if feature.point_masses:
            first, second = feature.parts
            at = graded([(first.scores(self.frame[feature.name]), True)], mid_ranks).columns
            return np.column_stack([at, second.transformed(self.frame[feature.name])])
        if feature.traits.is_nominal:
            return graded([(feature.scores(self.frame[feature.name]), True)], mid_ranks).columns
        return feature.transformed(self.frame[feature.name])[:, None]

    def of(
        self, feature: Feature, found: Found, included: NDArray[np.bool_], level: float
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the columns `p_given_others` and `p_whatever_is_missing` of the result, and remarks on them.

        `included`, (D,), are the features that the subtypes were found from.
        """
        values = feature.scores(self.frame[feature.name])
        is_nominal, remarks = feature.traits.is_nominal, []
        columns, _, owners = self.graded
        kept = np.flatnonzero(included[owners])
        own = graded([(values, is_nominal)], mid_ranks).columns
        found = one_row_each(found, self.rules)
        groups = self.rules.groups(found, values.size)
        related = given_others(own[found.rows], columns[np.ix_(found.rows, kept)], groups)
        row = {"p_given_others": related.p}
        if related.p > level:
            other = self.clustered[owners[kept[related.strongest]]].title
            remarks.append(
                f"its relation to other features, most to {other} (r = {related.correlation:.2f}), may explain it"
            )
        if np.isnan(values).any():
            bound = p_whatever_is_missing(values, found, self.rules, is_nominal=is_nominal)
            row["p_whatever_is_missing"] = bound
            if may_be_undone(row, level):
                remarks.append(f"could be undone by what is missing: whatever the values are, p is at most {bound:.2g}")
        return row, remarks


def one_row_each(found: Found, rules: TestRules) -> Found:
    """Return the subtypes with the first row of each person, so that rows are independent."""
    if rules.persons is None:
        return found
    first = np.isin(np.arange(rules.persons.size), np.unique(rules.persons, return_index=True)[1])[found.rows]
    return found._replace(rows=found.rows[first], labels=found.labels[first])


def finds_one_population(model: SubtypeModel) -> bool:
    """Return whether the test of the tree found one continuous population, so that subtypes are slices of it."""
    fit = model.fit_
    if fit is None or fit.tree_test_ is None or not len(fit.tree_test_.joins):
        return False
    return int(fit.tree_test_.parted_of(fit.tree_).max()) == 0


def mark_slices(rows: list[dict[str, Any]]) -> None:
    """Take back the tests given the others, in place: the subtypes are slices of one continuum of these."""
    for row in rows:
        if not is_missing(row.get("p")):
            row["p_given_others"] = np.nan
            row["remark"] = "; ".join(filter(None, ["these subtypes are slices of one continuum", row.get("remark")]))
