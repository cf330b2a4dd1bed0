"""Test every feature of a cohort against subtypes that were found without it, and grade what each test shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import BY_FEATURE, FRAME, LABELS, MODEL, NOTHING, NUMBER, TEXT, accepting, either
from clinclust.arrays import Array, Labels
from clinclust.associations.feature_test import NOT_FOUND_AGAIN, Found, TestRules, described, tested, whole_cohort
from clinclust.associations.refit import (
    OTHER_BELOW,
    AsReported,
    agreement,
    column_keys,
    effects,
    posed_as_fitted,
    refit,
    without,
)
from clinclust.comparisons.frame import is_missing
from clinclust.errors import InputError, refuse
from clinclust.estimators.cost import MOST_REFITS
from clinclust.estimators.fitted_cohort import cohort_of, cohort_problems, rows_of_the_fit
from clinclust.estimators.subtype_model import require_fitted
from clinclust.files.cell_text import canonical_text
from clinclust.files.selection.repeated_subjects import noted_several_rows
from clinclust.graded import graded, mid_ranks
from clinclust.nearest import did_you_mean

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from clinclust.engine.search.plan import SearchPlan
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.likelihoods.likelihood import ContrastKind
    from clinclust.schema import Feature, FeatureSchema


def persons_of(model: SubtypeModel, frame: pd.DataFrame, given: str | ArrayLike | None) -> NDArray[np.int64] | None:
    """Return the person of each subject, int64 (N,), in the order of the model; None if each row is of another."""
    if given is None:
        given = _column_of_persons(frame, model.schema_)
        if given is None or given not in frame.columns:
            return None
    if isinstance(given, str):
        if given not in frame.columns:
            raise InputError(
                f"persons: the table has no column {given!r}.{did_you_mean(given, map(str, frame.columns))}"
            )
        column = frame[given]
    else:
        column = pd.Series(np.asarray(given).ravel())
        if len(column) != len(frame):
            raise InputError(f"persons must name one person for each row: {len(frame)}, not {len(column)}")
    codes = _numbered(column)
    if np.unique(codes).size == codes.size:
        return None
    if model.fit_ is None:
        return codes
    rows = rows_of_the_fit(model.fit_, frame)
    return codes if rows is None else codes[rows]


def _column_of_persons(frame: pd.DataFrame, schema: FeatureSchema) -> str | None:
    """Return the column that `read_cohort` noted, or, of several identifiers, the repeating one with most values."""
    noted = noted_several_rows(frame)
    if noted is not None:
        return noted.column
    ids = [feature.name for feature in schema.ids if feature.name in frame.columns]
    counts = {name: int(frame[name].nunique()) for name in ids}
    repeating = [name for name in ids if counts[name] < int(frame[name].notna().sum())]
    return max(repeating, key=lambda name: counts[name], default=None) if len(ids) > 1 else None


def _numbered(column: pd.Series) -> NDArray[np.int64]:
    """Return the number of the person of each row, int64 (N,); a row without one is a person of its own."""
    texts = column.map(canonical_text, na_action="ignore")
    texts = texts.mask(texts.astype("string").str.strip().fillna("") == "")
    codes = texts.factorize()[0].astype(np.int64)
    unknown = codes < 0
    codes[unknown] = codes.max(initial=-1) + 1 + np.arange(int(unknown.sum()))
    return codes


_SUBJECTS_PER_COLUMN = 5
"""With more related columns than this allows, those that correlate most are adjusted for."""
_SUBJECTS_PER_FEATURE = 20
"""As many of the other features as this allows are adjusted for, related or not: the test is then exact where features
are jointly normal."""
_LEAST_RELATED = 1.0
"""Further columns with a smaller n r^2 inside subtypes are not adjusted for one by one: all of a wide table would
explain every subtype."""
_LEAST_DF = 3


class GivenOthers(NamedTuple):
    """The test of one feature given the others."""

    p: float
    """NaN = untestable; 1 if, given the others, the subtypes differ the other way."""
    strongest: int
    """The column of the others that correlates most with the feature inside subtypes; -1 if there is none."""
    correlation: float


UNTESTED = GivenOthers(np.nan, -1, np.nan)


def given_others(own: Array, others: Array, groups: Labels) -> GivenOthers:
    """Return the smallest p of the columns (N, C) of a feature, times C, given columns (N, D) of others; NaN = missing.

    Subjects of groups (N,) below 0 take no part. The N/20 others that correlate most are adjusted for, further ones and
    squares where n r^2 inside groups is above 1, and the sum of all others weighed by r (the first component of partial
    least squares). Their missing values are the means of the groups.
    """
    taking_part = groups >= 0
    member = np.eye(int(groups.max()) + 1)[groups[taking_part]]
    member = member[:, member.any(axis=0)]
    own, others = own[taking_part], others[taking_part]
    if member.shape[1] < 2 or not others.size:
        return UNTESTED
    centred = others - np.nanmean(np.where(np.isnan(others).all(axis=0), 0.0, others), axis=0)
    columns = np.column_stack([centred, centred**2])
    found = [_of_column(column, columns, member, others.shape[1]) for column in own.T]
    tested = [each for each in found if not is_missing(each.p)]
    if not tested:
        return UNTESTED
    best = min(tested)
    return best._replace(p=min(1.0, best.p * own.shape[1]))


def _inside(columns: Array, member: Array) -> tuple[Array, Array]:
    """Return the deviations of columns (n, D) from the means of groups, 0 where missing, and these means, (n, D)."""
    seen = ~np.isnan(columns)
    means = (member.T @ np.where(seen, columns, 0.0)) / np.maximum(member.T @ seen, 1.0)
    return np.where(seen, columns - member @ means, 0.0), member @ means


def _of_column(column: Array, others: Array, member: Array, n_others: int) -> GivenOthers:
    from scipy.special import fdtrc

    seen = ~np.isnan(column)
    if not seen.any():
        return UNTESTED
    member = member[seen][:, member[seen].any(axis=0)]
    values = column[seen]
    inside, means = _inside(others[seen], member)
    own, raw = _inside(values[:, None], member)
    lengths = np.sqrt((inside**2).sum(axis=0) * (own**2).sum())
    r = np.where(lengths > 0.0, (own.T @ inside)[0] / np.maximum(lengths, 1e-300), 0.0)
    most = max(values.size // _SUBJECTS_PER_COLUMN - member.shape[1], 1)
    strength = r**2 * values.size
    strength[np.argsort(-strength[:n_others], kind="stable")[: values.size // _SUBJECTS_PER_FEATURE]] = np.inf
    related = np.count_nonzero(strength > _LEAST_RELATED)
    at = np.sort(np.argsort(-strength, kind="stable")[: min(most, related)])
    adjusting = inside + means
    scales = np.sqrt((inside[:, :n_others] ** 2).sum(axis=0))
    along = adjusting[:, :n_others] @ (r[:n_others] / np.where(scales > 0.0, scales, 1.0))
    adjusting = np.column_stack([adjusting[:, at], along])
    adjusting = adjusting - adjusting.mean(axis=0)
    slopes, rank, left = _fitted(np.column_stack([member, adjusting]), values)
    _, rank_without, left_without = _fitted(np.column_stack([np.ones(values.size), adjusting]), values)
    df, df2 = rank - rank_without, values.size - rank
    if df < 1 or df2 < _LEAST_DF or left <= 0.0:
        return UNTESTED
    adjusted = member @ slopes[: member.shape[1]]
    same_way = float((raw[:, 0] - raw.mean()) @ (adjusted - adjusted.mean())) > 0.0
    p = float(fdtrc(df, df2, (left_without - left) / df / (left / df2))) if same_way else 1.0
    strongest = int(np.abs(r[:n_others]).argmax())
    return GivenOthers(p, strongest, float(r[strongest]))


def _fitted(columns: Array, values: Array) -> tuple[Array, int, float]:
    """Return the coefficients, the rank, and the squares left of a regression."""
    slopes, _, rank, _ = np.linalg.lstsq(columns, values)
    return np.asarray(slopes, dtype=np.float64), int(rank), float(((values - columns @ slopes) ** 2).sum())


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


class FeatureTests:
    """The tests of all features of one cohort, with the data that they share."""

    def __init__(self, model: MAPDP, frame: pd.DataFrame, plan: SearchPlan, rules: TestRules) -> None:
        self.problem = posed_as_fitted(model, frame)
        self.model, self.frame, self.plan, self.rules = model, frame, plan, rules
        self.encoded = self.problem.cohort.encoding.features
        self.places: dict[str, list[int]] = {}
        for place, feature in enumerate(self.encoded):  # both parts of a feature are left out together
            self.places.setdefault(feature.column, []).append(place)
        self.checks = ValidityChecks(self.encoded, frame, rules)
        self.reported = np.asarray(model.labels_)
        # Keys use raw values: standardised values depend on the order of summation, and so on the other features.
        order = self.problem.cohort.order
        scores = [feature.scores(frame[feature.column])[order] for feature in self.encoded]
        self.keys = column_keys(scores)

    def sharing_a_search(self, features: list[Feature]) -> list[list[Feature]]:
        """Return the features in groups that are left out together: those of one block, and more if there are many.

        These are dealt out in turns: neighbours in a table are often related.
        """
        blocks = {feature.block for feature in self.encoded}
        groups: dict[tuple[str, str], list[Feature]] = {}
        for feature in features:
            in_block = feature.block is not None and feature.block in blocks
            key = ("block", str(feature.block)) if in_block else ("feature", feature.name)
            groups.setdefault(key, []).append(feature)
        searched = [group for group in groups.values() if any(feature.name in self.places for feature in group)]
        n_searches = min(MOST_REFITS, len(searched))
        direct = [group for group in groups.values() if group not in searched]
        return direct + [list(chain.from_iterable(searched[first::n_searches])) for first in range(n_searches)]

    def rows(self, group: list[Feature]) -> list[dict[str, Any]]:
        """Return the row of each feature of a group of `sharing_a_search`, as a dict without q."""
        left_out = np.zeros(len(self.encoded), dtype=np.bool_)
        left_out[[place for feature in group for place in self.places.get(feature.name, [])]] = True
        method = "refit" if left_out.any() else "direct"
        found = None
        if not left_out.all():
            found = self._without(left_out) if left_out.any() else whole_cohort(self.model)
        return [self._row(feature, left_out, found, method) for feature in group]

    def _row(self, feature: Feature, left_out: NDArray[np.bool_], found: Found | None, method: str) -> dict[str, Any]:
        """Return the row of a feature, given the subtypes found without its group; None if no feature is left."""
        others = dict.fromkeys(self.encoded[place].column for place in np.flatnonzero(left_out))
        others.pop(feature.name, None)
        about = described(feature) | {"left_out": "; ".join(others) or None}
        if feature.name in self.model.uninformative_:
            return described(feature) | {"remark": f"not tested: it has {self.model.uninformative_[feature.name]}"}
        if found is None:
            return about | {"remark": "not tested: without it (and its block) no feature is left"}
        row = tested(feature, self.frame, found, method, self.rules)
        if row["method"] is None:
            return about | row
        validity, remarks = self.checks.of(feature, found, ~left_out, self.rules.significance_level)
        in_the_refit = {} if method == "direct" else self._in_the_refit(feature, found)
        remarks = [*self._on_the_refit(in_the_refit, found.n_found), *remarks]
        return about | row | validity | in_the_refit | {"remark": "; ".join(remarks) or None}

    def _in_the_refit(self, feature: Feature, found: Found) -> dict[str, Any]:
        """Return how the subtypes found without the feature agree with the reported ones, as columns."""
        groups = self.rules.groups(whole_cohort(self.model), self.reported.size)
        effect_reported, effect = effects(self.checks.columns_of(feature), self.reported, groups, found)
        return {"agreement": agreement(self.reported, found), "effect": effect, "effect_reported": effect_reported}

    def _on_the_refit(self, about: dict[str, Any], n_found: int) -> list[str]:
        """Return the remark that the subtypes found without the feature are other ones than the reported, or none."""
        if not about or about["agreement"] >= OTHER_BELOW:
            return []
        if n_found == 1:
            there = "there is one subtype, and its best division is another one"
        elif n_found < int(self.reported.max()) + 1:
            there = "there are fewer subtypes, and divided further they are other ones"
        else:
            there = "there are other subtypes"
        return [f"not tested: without it {there} (agreement {about['agreement']:.2f})"]

    def _without(self, left_out: NDArray[np.bool_]) -> Found:
        """Return the subtypes found without the features of `left_out`, bool (D,)."""
        problem, order = without(self.problem, left_out, self.keys)
        labels, n_found = refit(problem, self.plan, self._as_reported())
        return Found(self.problem.cohort.order[order], labels, n_found)

    def _as_reported(self) -> AsReported:
        """Return the numbers of reported subtypes and groups."""
        sizes, groups = np.bincount(self.reported), np.bincount(self.model.cluster_labels_)
        fewest = max(self.rules.min_size, self.rules.floor)
        large = sizes[sizes >= fewest]
        enough = max(fewest, int(large.min()) // 2) if large.size else fewest
        n_groups = int((groups >= enough).sum())
        return AsReported(sizes.size, large.size, n_groups, enough)


def rows_of_given(
    model: SubtypeModel, frame: pd.DataFrame, features: Sequence[Feature], rules: TestRules
) -> list[dict[str, Any]]:
    """Return a row for each feature if the subtypes do not come from a search."""
    given = whole_cohort(model)
    formed = [feature for feature in features if feature.is_clustered and feature.name not in model.uninformative_]
    checks = ValidityChecks(formed, frame, rules)

    def row(feature: Feature) -> dict[str, Any]:
        if not feature.is_described:
            return {"remark": NOT_FOUND_AGAIN}
        found = tested(feature, frame, given, "direct", rules)
        if found["method"] is None:
            return found
        validity, remarks = checks.of(feature, given, np.ones(len(formed), dtype=np.bool_), rules.significance_level)
        return found | validity | {"remark": "; ".join(remarks) or None}

    return [described(feature) | row(feature) for feature in features]


_DTYPES = {
    **dict.fromkeys(("feature", "label", "section", "role", "likelihood", "method"), "string"),
    "n_subtypes": "Int64",
    "test": "string",
    **dict.fromkeys(("statistic", "df", "df2", "p", "q"), "float64"),
    "n": "Int64",
    **dict.fromkeys(("agreement", "effect", "effect_reported"), "float64"),
    "left_out": "string",
    "seed": "string",
    "grade": "string",
    **dict.fromkeys(("p_given_others", "p_whatever_is_missing"), "float64"),
    "remark": "string",
}


@accepting(
    model=MODEL, frame=FRAME, contrasts=BY_FEATURE, significance_level=NUMBER, persons=either(TEXT, LABELS, NOTHING)
)
def validated_associations(
    model: SubtypeModel,
    frame: pd.DataFrame,
    *,
    n_restarts: int = 6,
    min_size: int = 3,
    contrasts: Mapping[str, ContrastKind] | None = None,
    persons: str | ArrayLike | None = None,
    significance_level: float = 0.01,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Test each feature for association with subtypes found without it.

    Subtypes found and tested in the same subjects differ in their features by construction. Here each feature with the
    role ``cluster`` is tested against as many subtypes found, by a search from scratch, without it, the other features
    of its `block`, and, of more than 24 features, every 24th other one. The null hypothesis is that it is independent
    of the features that these subtypes are found from. p is valid if rows are independent and values are not missing
    because of their size. Features with the role ``describe`` are tested against the subtypes of the model (in the
    `block` of a clustered feature, against subtypes found without this block). Of subtypes that no MAP-DP search found,
    only described features are tested.

    The test is the contrast of `compare_subtypes`. Where a subtype has too few values for its p, p is by up to 9,999
    permutations and `df` is missing. Where persons have several rows, whole persons are permuted.

    Parameters
    ----------
    model : MAPDP, Partition or another SubtypeModel
        A fitted model, whose settings the searches use, without hyperparameters that were estimated with the subtypes.
    frame : DataFrame, N rows
        The cohort of the fit. Rows in another order are put back into that of the fit; those of a `Partition` must be
        in the order of its labels.
    n_restarts : int
        Restarts of each search.
    min_size : int
        Subtypes with fewer subjects, or fewer than `MAPDP.min_size`, are not tested.
    contrasts : dict, optional
        As in `compare_subtypes`.
    persons : str or array-like (N,), optional
        Whose row each is: a column, or an array. By default the column in which `read_cohort` noted persons with
        several rows, or else, of several features with the role ``id``, the repeating one with most different values.
    significance_level : float
        For `grade`: a feature differs if q is at most this.
    random_state : int, optional
        Seed of the searches; by default that of the model. The smallest p over several seeds is not a valid p.
    n_jobs, progress
        As in `MAPDP`.

    Returns
    -------
    DataFrame
        One row for each feature with the role ``cluster`` or ``describe``, in the order of the schema.

        `method` is ``"refit"``, or ``"direct"`` for described features; `n_subtypes` is the number of subtypes found
        without the feature; `test`, `statistic`, `df`, `df2`, `p` and `n` (subjects) are of the test;
        `q` is p adjusted as by Benjamini and Hochberg (1995). `left_out` names the features left out with it.

        `agreement` is the adjusted Rand index of the subtypes found without the feature with those of the model.
        `effect_reported` is the difference between the two subtypes of the model that are farthest apart, in SDs of all
        subjects (on the scale of the transform; without order, in the share of the level that differs most). `effect`
        is that between the subtypes found without the feature that share most subjects with these two.

        `grade` says what the test shows. ``"differs"``: q is at most the level, between the subtypes found without the
        feature (of a described one, those of the model). ``"differs beyond dependence"``: it differs by more than its
        relation to the other features explains (`p_given_others` is at most the level), and p could not be above the
        level if the missing values were known. ``"not shown"``: q is above the level. ``"not tested"``: `remark` says
        why; also where other subtypes were found without the feature (agreement below 0.5).

        `p_given_others` is of an analysis of covariance of ranks, adjusted for the features that the subtypes were
        found from, and their squares, as far as they are related to it; 1 where the subtypes then differ the other
        way, missing where the test of the tree
        found one continuum, of which the subtypes are slices. `p_whatever_is_missing`, of features with missing values,
        is an upper bound of p over all values that these can have. Of persons with several rows, both take one row.
        `remark` gives the reasons in words.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not fitted, `frame` is not its cohort, or a parameter cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> model = cc.MAPDP(schema, random_state=0).fit(frame)
    >>> associations = cc.validated_associations(model, frame)
    >>> associations[["feature", "n_subtypes", "test", "p"]].round(3)
      feature  n_subtypes       test    p
    0    gait           2  Welch's t  0.0
    1    grip           2  Welch's t  0.0
    """
    import pandas as pd

    from clinclust.associations.feature_test import TestRules
    from clinclust.associations.refit import refit_plan
    from clinclust.comparisons.differences import adjusted, checked_choice
    from clinclust.compiled import announcing_compilation
    from clinclust.engine.search.threads import interruptible
    from clinclust.estimators.parameters import parameter_problems, seed_of
    from clinclust.estimators.subtype_model import fewest_subjects

    require_fitted(model)
    if not 0 < significance_level < 1:
        raise InputError(f"significance_level must lie between 0 and 1, not {significance_level!r}")
    parameters: dict[str, Any] = {"n_restarts": n_restarts, "min_size": min_size}
    parameters |= {"n_jobs": n_jobs, "random_state": random_state, "progress": progress}
    refuse([*parameter_problems(parameters), *cohort_problems(model, frame)])
    chosen = checked_choice(contrasts, model.schema_)
    of_persons = persons_of(model, frame, persons)
    frame = cohort_of(model, frame, stacklevel=3).table
    rules = TestRules(min_size, fewest_subjects(model), significance_level, chosen, of_persons)
    features = list(model.schema_.reported)
    seed: int | None = None
    if model.fit_ is None:
        found = rows_of_given(model, frame, features, rules)
    else:
        seed = model.fit_.random_seed_ if random_state is None else seed_of(random_state)
        searched = cast("MAPDP", model)
        plan = refit_plan(searched, seed, n_restarts)

        def search_and_test() -> list[dict[str, Any]]:
            with announcing_compilation():
                tests = FeatureTests(searched, frame, plan, rules)
                return _side_by_side(tests, features, n_jobs, progress)

        found = interruptible(search_and_test, plan.cancelled)
    if finds_one_population(model):
        mark_slices(found)
    rows = pd.DataFrame(found, columns=list(_DTYPES))
    rows["q"] = adjusted(rows["p"].to_numpy(dtype=np.float64))
    rows["grade"] = [grade_of(row, significance_level) for row in cast("list[dict[str, Any]]", rows.to_dict("records"))]
    rows["seed"] = None if seed is None else str(seed)
    return rows.astype(_DTYPES)


def _side_by_side(
    tests: FeatureTests, features: list[Feature], n_jobs: int | None, progress: bool
) -> list[dict[str, Any]]:
    from clinclust.engine.search.plan import n_threads
    from clinclust.engine.search.threads import workers_or_threads
    from clinclust.progress import Progress

    found = {}
    with (
        workers_or_threads(n_threads(n_jobs), tests.plan.cancelled) as pool,
        Progress(bool(progress)).stage("associations", len(features)) as advance,
    ):
        groups = tests.sharing_a_search(features)
        futures = [pool.submit(tests.rows, group) for group in groups]
        for group, future in zip(groups, futures, strict=True):
            for feature, row in zip(group, future.result(), strict=True):
                found[feature.name] = row
                advance()
    return [found[feature.name] for feature in features]
