"""Whether the p of a feature is valid: dependence that the subtypes do not explain, and uneven missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.associations.residual_dependence import Dependence, residual_dependence
from clinclust.associations.tested_association import Part, TestRules, association_of
from clinclust.comparisons.contrasts import Contrast, Contrasted, combined
from clinclust.graded import Graded, graded, mid_ranks

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

UNEVEN_BELOW = 0.01  # an association is doubtful if the p of `p_of_missingness` is below this
_QUARTILES = (0.25, 0.5, 0.75)
_LEAST_EXPECTED = 5.0
_GRID = 2001


def p_of_missingness(values: Array, parts: list[Part], rules: TestRules) -> float:
    """Return p of the test whether the share of missing values differs between subtypes; NaN if it cannot be tested."""
    tested = [Contrasted(np.isnan(values).astype(np.float64), "counts")]
    return association_of(tested, parts, rules)[0].p


def p_whatever_is_missing(values: Array, parts: list[Part], rules: TestRules, *, is_nominal: bool) -> float:
    """Return an upper bound of p over all values that the missing ones can have; NaN if expected counts are too small.

    Values (N,) are cut in two at each quartile, or into each nominal level and all others. p is that of the smallest
    chi-squared, with shares between all missing values below and all above the cut, times the number of cuts
    (worst-case bounds: Horowitz and Manski 2000, Journal of the American Statistical Association 95). Rows must be
    independent.
    """
    found = []
    for part in parts:
        own, groups = values[part.rows], rules.groups(part, values.size)
        p = [_least_p(own, above, groups) for above in _cuts(own, is_nominal=is_nominal)]
        usable = [each for each in p if not np.isnan(each)]
        if usable:
            found.append(Contrast("chi-squared", p=min(1.0, len(usable) * min(usable))))
    return combined(found).p


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
    if not taking_part.any():
        return float("nan")
    where = groups[taking_part]
    n = np.bincount(where).astype(np.float64)
    is_group = n > 0
    low = np.bincount(where, above[taking_part])[is_group]
    high = low + np.bincount(where, np.isnan(values[taking_part]))[is_group]
    n = n[is_group]
    # For a common share q, the shares nearest to it within their bounds give the smallest statistic.
    q = np.linspace(0.0, 1.0, _GRID)[1:-1, None]
    nearest = np.clip(q, low / n, high / n)
    statistic = (n * (nearest - q) ** 2 / (q * (1.0 - q))).sum(axis=1)
    best = int(statistic.argmin())
    if n.size < 2 or n.min() * min(q[best, 0], 1.0 - q[best, 0]) < _LEAST_EXPECTED:
        return float("nan")
    return float(chdtrc(n.size - 1.0, statistic[best]))


_DOUBTFUL_BELOW = 0.01  # an association is doubtful if the p of the residual dependence is below this
_EVERYWHERE, _FEWEST = 0.5, 4  # all are doubtful if more than this share of at least so many features depend on others


class Validity(NamedTuple):
    """What speaks against the p of one feature."""

    depends: bool | None
    """Whether it depends on others inside subtypes; None if untestable."""
    is_uneven: bool
    """Whether its values are missing more often in some subtypes."""
    p_whatever_is_missing: float
    """NaN unless missing values are uneven."""
    remarks: list[str]

    def columns(self) -> dict[str, Any]:
        """Return the columns of the result but for the remark, and `depends` for `mark_dependence_everywhere`."""
        is_unsure = self.is_uneven and not self.p_whatever_is_missing < UNEVEN_BELOW
        return {
            "doubtful": True if is_unsure else self.depends,
            "p_whatever_is_missing": self.p_whatever_is_missing,
            "depends": self.depends,
        }


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

    def of(self, feature: Feature, parts: list[Part], included: NDArray[np.bool_]) -> Validity:
        """Return what speaks against the p of a feature, for subtypes found from the features in `included`, (D,)."""
        values = feature.scores(self.frame[feature.name])
        dependence = self._dependence(feature, values, parts, included)
        depends = None if np.isnan(dependence.p) else dependence.p < _DOUBTFUL_BELOW
        remarks = []
        if depends:
            remarks.append(
                "doubtful: inside subtypes it depends on others, most on "
                f"{self.clustered[dependence.strongest].title} (r = {dependence.correlation:.2f}); "
                "declare what belongs together as a block"
            )
        if not p_of_missingness(values, parts, self.rules) < UNEVEN_BELOW:
            return Validity(depends, False, np.nan, remarks)
        bound = (
            p_whatever_is_missing(values, parts, self.rules, is_nominal=feature.traits.is_nominal)
            if self.rules.persons is None
            else np.nan
        )
        return Validity(depends, True, bound, [*remarks, _why_uneven(bound)])

    def _dependence(
        self, feature: Feature, values: Array, parts: list[Part], included: NDArray[np.bool_]
    ) -> Dependence:
        from scipy.linalg import block_diag

        rows = np.concatenate([part.rows for part in parts])
        columns, weights, owners = self.graded
        kept = included[owners]
        others = Graded(columns[np.ix_(rows, np.flatnonzero(kept))], weights[kept], owners[kept])
        own = graded([(values[rows], feature.traits.is_nominal)], mid_ranks)
        persons = None if self.rules.persons is None else self.rules.persons[rows]
        return residual_dependence(own, others, block_diag(*(part.membership for part in parts)), persons)


def _why_uneven(bound: float) -> str:
    if np.isnan(bound):
        return "doubtful: its values are missing more often in some subtypes, perhaps because of their size"
    doubtful = "" if bound < UNEVEN_BELOW else "doubtful: "
    return f"{doubtful}its values are missing more often in some subtypes; whatever they are, p is at most {bound:.2g}"


def finds_one_population(model: SubtypeModel) -> bool:
    """Return whether the test of the tree found one continuous population, so that subtypes are slices of it."""
    fit = model.fit_
    if fit is None or fit.tree_test_ is None or not len(fit.tree_test_.joins):
        return False
    return int(fit.tree_test_.distinct_of(fit.tree_).max()) == 0


def mark_slices(rows: list[dict[str, Any]]) -> None:
    """Mark all tests as doubtful, in place: the subtypes are slices of one continuous population."""
    _mark(rows, "doubtful: by the test of the tree these subtypes are slices of one continuum")


def mark_dependence_everywhere(rows: list[dict[str, Any]]) -> None:
    """Mark all tests as doubtful, in place, if most features depend on others: subtypes then follow this dependence."""
    checked = [row["depends"] for row in rows if row.get("depends") is not None and row["role"] == "cluster"]
    if len(checked) >= _FEWEST and sum(checked) > _EVERYWHERE * len(checked):
        others = [row for row in rows if not row.get("depends")]
        _mark(others, "doubtful: most features depend on others inside subtypes")


def _mark(rows: list[dict[str, Any]], why: str) -> None:
    for row in rows:
        if not np.isnan(row.get("p", np.nan)):
            row["doubtful"] = True
            row["remark"] = "; ".join(filter(None, [why, row.get("remark")]))
