"""Test every feature of a cohort against subtypes that were found without it, and grade what each test shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, combinations, product
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import chdtrc, expit, fdtrc, ndtri

import clinclust.associations.refit as searches
from clinclust.arguments import accepting
from clinclust.arrays import Array, Graded, Labels, graded, mid_ranks
from clinclust.associations.refit import Subtypes, TestRules
from clinclust.comparisons.differences import adjusted, contrasted
from clinclust.comparisons.frame import is_missing
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.search.plan import SearchPlan, Threads, interruptible, n_threads
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.errors import InputError, did_you_mean, refuse
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.parameters import parameter_problems, seed_of
from clinclust.estimators.settings import MOST_REFITS
from clinclust.estimators.subtype_model import (
    FittedCohort,
    SubtypeModel,
    clustered_features,
    cohort_of,
    cohort_problems,
    fewest_subjects,
    require_fitted,
)
from clinclust.files.cell_text import canonical_text
from clinclust.files.row_choice import noted_several_rows
from clinclust.progress import Progress
from clinclust.schema import Feature, FeatureSchema


def number_persons(frame: pd.DataFrame, schema: FeatureSchema, persons: str | None = None) -> Labels | None:
    """Return the number of the person of each row, int64 (N,); None if each row is of another person.

    By default of the column that `read_cohort` noted, or, of several identifiers, the repeating one with most values.
    """
    column, noted = persons, noted_several_rows(frame)
    if column is None and noted is not None:
        column = noted.column
    elif column is None and len(ids := [feature.name for feature in schema.ids if feature.name in frame.columns]) > 1:
        counts = {name: int(frame[name].nunique()) for name in ids}
        repeating = [name for name in ids if counts[name] < int(frame[name].notna().sum())]
        column = max(repeating, key=lambda name: counts[name], default=None)
    if column not in frame.columns:
        if persons is None:
            return None
        near = did_you_mean(persons, map(str, frame.columns))
        raise InputError(f"persons: the table has no column {persons!r}.{near}")
    texts = frame[column].map(canonical_text, na_action="ignore")
    texts = texts.mask(texts.astype("string").str.strip().fillna("") == "")
    codes = texts.factorize()[0].astype(np.int64)
    is_unnamed = codes < 0  # each such row is a person of its own
    codes[is_unnamed] = codes.max(initial=-1) + 1 + np.arange(int(is_unnamed.sum()))
    return None if np.unique(codes).size == codes.size else codes


_PER_COLUMN = 5  # subjects, or of a yes/no column those with its rarer value, needed for each column adjusted for
_PER_FEATURE = 20
"""As many of the other features as this allows are adjusted for, related or not: the test is then exact where features
are jointly normal."""
_MOST_COLUMNS = 150  # a likelihood ratio of 5,000 subjects takes about two seconds
_LEAST_RELATED = 1.0
"""Further columns with a smaller n r^2 inside subtypes are not adjusted for one by one: all of a wide table would
explain every subtype."""
_MOST_MULTIPLIED = 20
"""Products are of pairs of so many others, the strongest. Curves and products are adjusted for where n r^2 is above 2
ln(their number), below which chance mostly stays (Donoho and Johnstone 1994, Biometrika 81, 425-455)."""
_FEWEST_CURVES = 20  # of few, n r^2 is to be above 6 as well: p .014
_LEAST_DF = 3
_CURVES = 4
"""Columns of a spline. With 3, a sigmoid of the mean of five features passed for a difference in half of the cohorts of
1,500, and a cut-off of either of two features in 17% of 58 cohorts of 400 in three groups; with 4, in 5% of 100."""
_IN_TWO_CLUMPS = 0.8
"""The share of the variance between the two parts of the best cut from which on a measurement is two clumps, such as 0
or 1 with a noise of .1: it is 64% of a normal distribution, 75% of a uniform one, 67% of an exponential one."""
_LEAST_CLUMP = 0.05  # a smaller one is a tail
_RIDGE = 1e-3
"""The penalty of logistic coefficients (of columns of SD 1) keeps them finite where a column is a cut-off of others."""


class GivenOthers(NamedTuple):
    """The test of a feature given the others (p is 1 if subtypes then differ the other way), and the nearest other."""

    p: float
    strongest: int
    correlation: float


UNTESTED = GivenOthers(np.nan, -1, np.nan)


def splines_of(columns: Array) -> list[Array]:
    """Return the splines (N, D, 4) of columns (N, D), NaN = missing: of the values, and of their normal scores."""
    scales: tuple[Callable[[Array], Array], ...] = np.asarray, normal_scores
    by_scale = ([natural_spline(scale(column), _CURVES) for column in columns.T] for scale in scales)
    return [np.reshape(splines, (*columns.T.shape, _CURVES)).swapaxes(0, 1) for splines in by_scale]


def given_others(columns: Array, others: Sequence[Array], groups: Labels) -> GivenOthers:
    """Return the smallest p of the columns (N, C) of a feature, times C, given the `splines_of` others.

    A column of two values has the likelihood-ratio test of a logistic regression, another one the F test. Adjusted for
    are the N/20 others that correlate most inside groups; further ones, curves (natural cubic splines) and products, as
    far as they are related; a spline of the regression on the N/20 inside groups (of two values a line, as a logistic
    regression bends); and the sum of all others weighed by r (the first component of partial least squares). p is the
    largest one of the column and of the others as values and as normal scores: three groups bend what is straight in
    one of them, so that 15% to 40% of columns that are linear in the mean of six others, and 40% of products of two,
    differed by normal scores alone. Missing values of others are the means of groups.
    """
    taking_part = groups >= 0
    member = np.eye(int(groups.max()) + 1)[groups[taking_part]]
    member = member[:, member.any(axis=0)]
    columns, splines = columns[taking_part], [of_scale[taking_part] for of_scale in others]
    if member.shape[1] < 2 or not splines[0].size:
        return UNTESTED
    tested = []
    for column in columns.T:
        seen, values = ~np.isnan(column), _scales_of(column[~np.isnan(column)])
        cases = product(values, (of_scale[seen] for of_scale in splines))
        tested.append(max((_test_column(*case, member[seen]) for case in cases), default=UNTESTED))
    tests = [test for test in tested if not np.isnan(test.p)]
    return min(tests)._replace(p=min(1.0, min(tests).p * columns.shape[1])) if tests else UNTESTED


def _scales_of(values: Array) -> list[Array]:
    """Return observed values (n,) as they are tested: two of them as 0 and 1, others in SDs and as normal scores.

    A measurement in two clumps is tested as the clump, too: like yes and no, it may follow a cut-off of others.
    """
    levels, codes = np.unique(values, return_inverse=True)
    if levels.size <= 2:
        return [codes.astype(np.float64)] * (levels.size > 0)
    values = np.clip(values, *levels[np.isfinite(levels)][[0, -1]])
    n, low, cumulated = values.size, np.arange(1, values.size), np.cumsum(np.sort(values) - values.mean())[:-1]
    between = cumulated**2 / (low * (n - low) * max(values.var(), 1e-300))
    cut, fewest = int(between.argmax()), _LEAST_CLUMP * n
    scales = [(values - values.mean()) / max(values.std(), 1e-300), normal_scores(values)]
    if between[cut] > _IN_TWO_CLUMPS and fewest <= low[cut] <= n - fewest:
        scales.append((values > np.sort(values)[cut]).astype(np.float64))
    return scales


def _test_column(values: Array, splines: Array, member: Array) -> GivenOthers:
    """Return the analysis of covariance of a column (n,) without missing values, given the splines of others."""
    member, counts = member[:, member.any(axis=0)], np.unique(values, return_counts=True)[1]
    is_yes_no = counts.size == 2
    deviations, means = _centre_groups(values[:, None], member)
    straight, r = _relate(splines[:, :, 0], deviations, member)
    curves, r_of_curves = _relate(splines[:, :, 1:].reshape(values.size, -1), deviations, member)
    first = np.argsort(-(r**2), kind="stable")
    pairs = np.array(list(combinations(first[:_MOST_MULTIPLIED], 2)), dtype=np.int64).reshape(-1, 2)
    products, r_of_products = _relate(straight[:, pairs[:, 0]] * straight[:, pairs[:, 1]], deviations, member)

    strength, of_curves, of_products = (inside**2 * values.size for inside in (r, r_of_curves, r_of_products))
    is_related = [
        strength > _LEAST_RELATED,
        *(n_r2 > 2.0 * np.log(max(n_r2.size, _FEWEST_CURVES)) for n_r2 in (of_curves, of_products)),
    ]
    always = first[: max(values.size // _PER_FEATURE, 1)]
    strength[always], is_related[0][always] = np.inf, True
    most = (int(counts.min()) if is_yes_no else values.size) // _PER_COLUMN - member.shape[1]
    order = np.argsort(-np.concatenate([strength, of_curves, of_products]), kind="stable")
    at = order[np.concatenate(is_related)[order]][: min(max(most, 1), _MOST_COLUMNS)]
    slopes = _regress(_centre_groups(straight[:, always], member)[0], deviations[:, 0])[0]
    fit = natural_spline(straight[:, always] @ slopes, 1 if is_yes_no else _CURVES)
    adjusting = np.column_stack([np.column_stack([straight, curves, products])[:, at], straight @ r, fit])
    adjusting = adjusting - adjusting.mean(axis=0)

    p, levels_of_groups = _compare(values, member, adjusting, is_yes_no=is_yes_no)
    if np.isnan(p):
        return UNTESTED
    adjusted_means = member @ levels_of_groups
    same_way = float((means[:, 0] - means.mean()) @ (adjusted_means - adjusted_means.mean())) > 0.0
    return GivenOthers(p if same_way else 1.0, int(first[0]), float(r[first[0]]))


def _relate(columns: Array, deviations: Array, member: Array) -> tuple[Array, Array]:
    """Return columns (n, D) in SDs inside groups, missing values as means of groups, and r with deviations (n, 1)."""
    inside, means = _centre_groups(columns, member)
    lengths = np.sqrt((inside**2).sum(axis=0))
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    r = (deviations.T @ inside)[0] / lengths / max(float(np.linalg.norm(deviations)), 1e-300)
    return (inside + means) / lengths * np.sqrt(len(columns)), r


def _compare(values: Array, member: Array, adjusting: Array, *, is_yes_no: bool) -> tuple[float, Array]:
    """Return p of the test that groups (n, K) add nothing to the columns adjusted for, and the level of each group.

    F test, or ratio of likelihoods: with q columns that of n subjects is about n / (n - q) times chi-squared, and is
    divided by this (Sur and Candes 2019, Proceedings of the National Academy of Sciences 116, 14516-14525).
    """
    regress = _regress_logistically if is_yes_no else _regress
    slopes, rank, loss = regress(np.column_stack([member, adjusting]), values)
    _, rank_without, loss_without = regress(np.column_stack([np.ones(values.size), adjusting]), values)
    df, df2, scale = rank - rank_without, values.size - rank, values.size if is_yes_no else loss
    levels = slopes[: member.shape[1]]
    if df < 1 or df2 < _LEAST_DF or scale <= 0.0:
        return np.nan, levels
    return float(fdtrc(df, df2, max(loss_without - loss, 0.0) / df / (scale / df2))), levels


def _regress_logistically(columns: Array, values: Array) -> tuple[Array, int, float]:
    """Return the coefficients, the rank, and -2 times the largest penalised log likelihood of 0 and 1."""

    def evaluate(slopes: Array) -> tuple[float, Array]:
        scores = columns @ slopes
        loss = 2.0 * (np.logaddexp(0.0, scores) - values * scores).sum() + _RIDGE * (slopes @ slopes)
        return float(loss), 2.0 * (columns.T @ (expit(scores) - values) + _RIDGE * slopes)

    def bend(slopes: Array) -> Array:
        share = expit(columns @ slopes)
        return 2.0 * ((columns.T * (share * (1.0 - share))) @ columns + _RIDGE * np.eye(slopes.size))

    fit = minimize(evaluate, np.zeros(columns.shape[1]), jac=True, hess=bend, method="trust-exact")
    return np.asarray(fit.x, dtype=np.float64), int(np.linalg.matrix_rank(columns)), float(fit.fun)


def natural_spline(values: Array, n_columns: int) -> Array:
    """Return a natural cubic spline of values (n,), NaN = missing: the values, then curves, orthogonal and of SD 1."""
    seen = ~np.isnan(values)
    spline = np.where(seen, 0.0, np.nan)[:, None].repeat(n_columns, axis=1)
    if not seen.any() or np.ptp(values[seen]) == 0.0:
        return spline
    knots = np.unique(np.quantile(values[seen], np.linspace(0.05, 0.95, n_columns + 1)))
    cubes = np.maximum(values[seen][:, None] - knots, 0.0) ** 3
    terms = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    columns = np.column_stack([values[seen], terms[:, :-1] - terms[:, -1:]])[:, :n_columns]
    q, r = np.linalg.qr(np.column_stack([np.ones(len(columns)), columns]))
    has_spread = np.abs(np.diag(r))[1:] > 1e-9 * np.linalg.norm(columns, axis=0)
    signs = np.where(has_spread, np.sign(np.diag(r))[1:], 0.0)
    spline[seen, : columns.shape[1]] = q[:, 1:] * signs * len(columns) ** 0.5
    return spline


def normal_scores(values: Array) -> Array:
    """Return the normal quantiles of the mid-ranks of values (n,), NaN = missing (van der Waerden scores)."""
    n = max(int((~np.isnan(values)).sum()), 1)
    return np.asarray(ndtri((mid_ranks(values) - 0.5) / n), dtype=np.float64)


def _centre_groups(columns: Array, member: Array) -> tuple[Array, Array]:
    """Return the deviations of columns (n, D) from the means of groups, 0 where missing, and these means, (n, D)."""
    seen = ~np.isnan(columns)
    means = (member.T @ np.where(seen, columns, 0.0)) / np.maximum(member.T @ seen, 1.0)
    return np.where(seen, columns - member @ means, 0.0), member @ means


def _regress(columns: Array, values: Array) -> tuple[Array, int, float]:
    """Return the coefficients, the rank, and the residual sum of squares of a regression."""
    slopes, _, rank, _ = np.linalg.lstsq(columns, values)
    return np.asarray(slopes, dtype=np.float64), int(rank), float(((values - columns @ slopes) ** 2).sum())


Grade: TypeAlias = Literal["differs beyond dependence", "differs", "not shown", "not tested"]


def grade_of(row: Mapping[str, Any], level: float) -> Grade:
    """Return what the test of a feature shows, by its row of `validated_associations` and the level for q and p."""
    p, agreement, p_given_others = (_number(row, name) for name in ("p", "agreement", "p_given_others"))
    if math.isnan(p) or agreement < searches.OTHER_BELOW:
        return "not tested"
    if not row["q"] <= level:
        return "not shown"
    return "differs beyond dependence" if p_given_others <= level and not may_be_undone(row, level) else "differs"


def may_be_undone(row: Mapping[str, Any], level: float) -> bool:
    """Return whether p could be above the level if the missing values were known."""
    return _number(row, "p_whatever_is_missing") > level


def _number(row: Mapping[str, Any], name: str) -> float:
    """Return a number of a row, NaN if it is missing or the frame has no such column."""
    return math.nan if is_missing(row.get(name)) else float(row[name])


_QUARTILES = (0.25, 0.5, 0.75)
_LEAST_EXPECTED = 5.0
_GRID = 2001


def p_whatever_is_missing(values: Array, subtypes: Subtypes, rules: TestRules, *, is_nominal: bool) -> float:
    """Return an upper bound of p over all values that the missing ones can have; 1 if expected counts are too small.

    Values (N,) are cut in two at each quartile, or into each nominal level and all others. p is that of the smallest
    chi-squared, with shares between all missing values below and all above the cut, times the number of cuts
    (worst-case bounds: Horowitz and Manski 2000, Journal of the American Statistical Association 95). Rows must be
    independent. Subtypes of fewer than 20 subjects take no part.
    """
    members, groups = values[subtypes.rows], rules.groups(subtypes, values.size)
    is_missing_value, taking_part = np.isnan(members), groups >= 0
    sizes = np.bincount(groups[taking_part], minlength=1).astype(np.float64)
    is_group = sizes * min(_QUARTILES) >= _LEAST_EXPECTED
    if is_missing_value.all() or is_group.sum() < 2:
        return 1.0
    cuts = np.unique(members[~is_missing_value])
    if not is_nominal:
        quartiles = np.unique(np.quantile(members[~is_missing_value], _QUARTILES, method="lower"))
        cuts = quartiles[quartiles < cuts[-1]]
    bounds, n = [], sizes[is_group]
    for cut in cuts:
        above = members == cut if is_nominal else members > cut
        low, missing = (np.bincount(groups[taking_part], of[taking_part])[is_group] for of in (above, is_missing_value))
        # For a common share q, the shares nearest to it within their bounds give the smallest statistic.
        q = np.linspace(0.0, 1.0, _GRID)[1:-1, None]
        nearest = np.clip(q, low / n, (low + missing) / n)
        statistic = (n * (nearest - q) ** 2 / (q * (1.0 - q))).sum(axis=1)
        best = int(statistic.argmin())
        if n.min() * min(q[best, 0], 1.0 - q[best, 0]) >= _LEAST_EXPECTED:
            bounds.append(float(chdtrc(n.size - 1.0, statistic[best])))
    return min(1.0, len(bounds) * min(bounds)) if bounds else 1.0


class ValidityChecks:
    """The checks of the features of a cohort; `clustered` are the parts of those that the subtypes were found from."""

    def __init__(self, table: pd.DataFrame, clustered: Sequence[Feature], rules: TestRules) -> None:
        self.table, self.rules, self.clustered = table, rules, clustered
        self.graded = self.grade(clustered)
        self.splines = splines_of(self.graded.columns)

    def grade(self, parts: Iterable[Feature]) -> Graded:
        """Return parts of features on the scale of their model, or as indicators of their levels."""
        values = ((part.transformed(self.table[part.column]), part.traits.is_nominal) for part in parts)
        return graded(values, np.asarray)

    def check(
        self, feature: Feature, subtypes: Subtypes, included: NDArray[np.bool_]
    ) -> tuple[dict[str, Any], list[str]]:
        """Return columns of the result and remarks on them; subtypes were found from the `included` features, (D,)."""
        values, level = feature.scores(self.table[feature.name]), self.rules.significance_level
        is_nominal, remarks = feature.traits.is_nominal, []
        owners, subtypes = self.graded.owners, one_row_each(subtypes, self.rules)
        rows, others, groups = subtypes.rows, np.flatnonzero(included[owners]), self.rules.groups(subtypes, values.size)
        on_scale = values if feature.point_masses else feature.transformed(self.table[feature.name])
        columns = graded([(on_scale, is_nominal)], np.asarray).columns
        splines = [spline[np.ix_(rows, others)] for spline in self.splines]
        if rows.size < values.size or (groups < 0).any():  # who takes no part has no influence on the splines
            splines = splines_of(np.where(groups[:, None] < 0, np.nan, self.graded.columns[np.ix_(rows, others)]))
        related = given_others(columns[rows], splines, groups)
        row = {"p_given_others": related.p}
        if related.p > level:
            other = self.clustered[owners[others[related.strongest]]].title
            remarks.append(
                f"its relation to other features, most to {other} (r = {related.correlation:.2f}), may explain it"
            )
        if np.isnan(values).any():
            bound = p_whatever_is_missing(values, subtypes, self.rules, is_nominal=is_nominal)
            row["p_whatever_is_missing"] = bound
            if may_be_undone(row, level):
                remarks.append(f"could be undone by what is missing: whatever the values are, p is at most {bound:.2g}")
        return row, remarks


def one_row_each(subtypes: Subtypes, rules: TestRules) -> Subtypes:
    """Return the subtypes with the first row of each person, so that rows are independent."""
    if rules.persons is None:
        return subtypes
    first = np.isin(np.arange(rules.persons.size), np.unique(rules.persons, return_index=True)[1])[subtypes.rows]
    return subtypes._replace(rows=subtypes.rows[first], labels=subtypes.labels[first])


def finds_one_population(model: SubtypeModel) -> bool:
    """Return whether the test of the tree found one continuous population, so that subtypes are slices of it."""
    fit = model.fit_
    if fit is None or fit.tree_test_ is None or not len(fit.tree_test_.joins):
        return False
    return int(fit.tree_test_.parted_of(fit.tree_).max()) == 0


class FeatureTests:
    """The tests of all features of one cohort, with the data that they share."""

    def __init__(self, cohort: FittedCohort, plan: SearchPlan, rules: TestRules) -> None:
        self.problem = searches.pose_as_fitted(cohort)
        self.cohort, self.plan, self.rules = cohort, plan, rules
        self.encoded = self.problem.cohort.encoding.features
        self.places: dict[str, list[int]] = {}
        for place, feature in enumerate(self.encoded):  # both parts of a feature are left out together
            self.places.setdefault(feature.column, []).append(place)
        self.checks = ValidityChecks(cohort.table, self.encoded, rules)
        # Raw ones: standardised values depend on the order of summation, and so on the other features.
        scores = [feature.scores(cohort.table[feature.column])[self.problem.cohort.order] for feature in self.encoded]
        self.values = pd.DataFrame(np.column_stack(scores))

    def sharing_a_search(self, features: list[Feature]) -> list[list[Feature]]:
        """Return the features in groups that are left out together: those of one block, and more if there are many."""
        blocks = {feature.block for feature in self.encoded}
        groups: dict[tuple[str, str], list[Feature]] = {}
        for feature in features:
            in_block = feature.block is not None and feature.block in blocks
            key = ("block", str(feature.block)) if in_block else ("feature", feature.name)
            groups.setdefault(key, []).append(feature)
        searched = [group for group in groups.values() if any(feature.name in self.places for feature in group)]
        n_searches = min(MOST_REFITS, len(searched))
        direct = [group for group in groups.values() if group not in searched]
        # Dealt out in turns, because neighbours in a table are often related.
        return direct + [list(chain.from_iterable(searched[first::n_searches])) for first in range(n_searches)]

    def rows(self, group: list[Feature]) -> list[dict[str, Any]]:
        """Return the row of each feature of a group of `sharing_a_search`, as a dict without q."""
        left_out = np.zeros(len(self.encoded), dtype=np.bool_)
        left_out[[place for feature in group for place in self.places.get(feature.name, [])]] = True
        subtypes = None
        if not left_out.any():
            subtypes = searches.whole_cohort(self.cohort)
        elif not left_out.all():
            problem, order = searches.without(self.problem, left_out, self.values)
            sizes, groups = np.bincount(self.cohort.labels), np.bincount(self.cohort.fit.cluster_labels_)
            fewest = max(self.rules.min_size, self.rules.floor)
            enough = max(fewest, int(sizes[sizes >= fewest].min(initial=sizes.max())) // 2)
            numbers = sizes.size, int((sizes >= fewest).sum()), int((groups >= enough).sum())
            reported = searches.AsReported(*numbers, enough)
            subtypes = Subtypes(self.problem.cohort.order[order], searches.refit(problem, self.plan, reported))
        return [_describe(feature) | self._row(feature, left_out, subtypes) for feature in group]

    def _row(self, feature: Feature, left_out: NDArray[np.bool_], subtypes: Subtypes | None) -> dict[str, Any]:
        """Return the row of a feature, given the subtypes found without its group; None if no feature is left."""
        if feature.name in self.cohort.model.uninformative_:
            return {"remark": f"not tested: it has {self.cohort.model.uninformative_[feature.name]}"}
        others = dict.fromkeys(self.encoded[place].column for place in np.flatnonzero(left_out))
        others.pop(feature.name, None)
        row: dict[str, Any] = {"left_out": "; ".join(others) or None}
        if subtypes is None:
            return row | {"remark": "not tested: without it (and its block) no feature is left"}
        row |= _test_feature(feature, subtypes, self.checks, ~left_out, "refit" if left_out.any() else "direct")
        if row["method"] != "refit":
            return row
        reported = self.cohort.labels
        groups = self.rules.groups(searches.whole_cohort(self.cohort), reported.size)
        effect_reported, effect = searches.effects(self.checks.grade(feature.parts).columns, reported, groups, subtypes)
        agreement = adjusted_rand_index(reported[subtypes.rows], subtypes.labels)
        row |= {"agreement": agreement, "effect": effect, "effect_reported": effect_reported}
        if agreement < searches.OTHER_BELOW:
            _add_remark(row, f"not tested: without it there are other subtypes (agreement {agreement:.2f})")
        return row


def _describe(feature: Feature) -> dict[str, Any]:
    names = {"feature": feature.name, "label": feature.title}
    return names | {name: getattr(feature, name) for name in ("section", "role", "likelihood")}


def _add_remark(row: dict[str, Any], remark: str) -> None:
    row["remark"] = "; ".join(filter(None, [remark, row.get("remark")]))


def _test_feature(
    feature: Feature, subtypes: Subtypes, checks: ValidityChecks, included: NDArray[np.bool_], method: str
) -> dict[str, Any]:
    """Return the test of a feature against subtypes and the checks of its validity, as columns of the result."""
    column, rules = checks.table[feature.name], checks.rules
    contrast, n = searches.association_of(contrasted(feature, column), subtypes, rules)
    row: dict[str, Any] = {"method": method, "n_subtypes": np.unique(subtypes.labels).size}
    if np.isnan(contrast.p):
        why = searches.why_untested(method, feature.described(column), subtypes, rules)
        return row | {"method": None, "remark": why}
    validity, remarks = checks.check(feature, subtypes, included)
    differs = contrast.p <= rules.significance_level  # or there is nothing to explain
    return row | contrast._asdict() | {"n": n} | validity | {"remark": "; ".join(remarks if differs else []) or None}


_NOT_FOUND_AGAIN = "not tested: the subtypes may have been made from it, and given subtypes cannot be found again "
_NOT_FOUND_AGAIN += "without it; give it the role describe if it had no part in them"
_DTYPES = {
    **dict.fromkeys(("feature", "label", "section", "role", "likelihood", "method"), "string"),
    "n_subtypes": "Int64",
    "test": "string",
    **dict.fromkeys(("statistic", "df", "df2", "p", "q"), "float64"),
    "n": "Int64",
    **dict.fromkeys(("agreement", "effect", "effect_reported"), "float64"),
    **dict.fromkeys(("left_out", "seed", "grade"), "string"),
    **dict.fromkeys(("p_given_others", "p_whatever_is_missing"), "float64"),
    "remark": "string",
}


@accepting()
def validated_associations(
    model: SubtypeModel,
    frame: pd.DataFrame,
    *,
    n_restarts: int = 6,
    min_size: int = 3,
    persons: str | None = None,
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
        The cohort of the fit; of a `Partition`, in the order of its labels.
    n_restarts : int
        Restarts of each search.
    min_size : int
        Subtypes with fewer subjects, or fewer than `MAPDP.min_size`, are not tested.
    persons : str, optional
        The column that says whose row each is. By default that in which `read_cohort` noted persons with several rows,
        or else, of several features with the role ``id``, the repeating one with most different values.
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
        without the feature; `test`, `statistic`, `df`, `df2`, `p` and `n` (subjects) are of the test; `q` is p adjusted
        as by Benjamini and Hochberg (1995). `left_out` names the features left out with it. `remark` gives reasons.

        `agreement` is the adjusted Rand index of the subtypes found without the feature with those of the model.
        `effect_reported` is the difference between the two subtypes of the model that are farthest apart, in SDs of all
        subjects (on the scale of the transform; without order, in the share of the level that differs most). `effect`
        is that between the subtypes found without the feature that share most subjects with these two.

        `grade` says what the test shows. ``"differs"``: q is at most the level. ``"differs beyond dependence"``: it
        differs by more than its relation to the other features explains (`p_given_others` is at most the level), and p
        could not be above the level if the missing values were known. ``"not shown"``: q is above the level. ``"not
        tested"``: also where other subtypes were found without the feature (agreement below 0.5).

        `p_given_others` is the larger p of the analyses of covariance of the values and of their normal scores (of two
        values, two clumps or each level, of the ratio of likelihoods in logistic regression), adjusted for the features
        that the subtypes were found from, with curves and products as far as they are related to it. It is 1 where the
        subtypes then differ the other way, and missing where the test of the tree found one continuum, of which the
        subtypes are slices. `p_whatever_is_missing`, of features with missing values, is an upper bound of p over all
        values that these can have. Of persons with several rows, both take one row.

    Raises
    ------
    CohortError, ValueError
        If `frame` does not fit the schema or is not the cohort of the fit, or a parameter cannot be used.

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
    require_fitted(model)
    if not 0 < significance_level < 1:
        raise InputError(f"significance_level must lie between 0 and 1, not {significance_level!r}")
    parameters: dict[str, Any] = {"n_restarts": n_restarts, "min_size": min_size}
    parameters |= {"n_jobs": n_jobs, "random_state": random_state, "progress": progress}
    refuse([*parameter_problems(parameters), *cohort_problems(model, frame)])
    numbers = number_persons(frame, model.schema_, persons)
    cohort = cohort_of(model, frame)
    if numbers is not None and cohort.rows is not None:
        numbers = numbers[cohort.rows]
    rules = TestRules(min_size, fewest_subjects(model), significance_level, numbers)
    return associate_cohort(cohort, rules, n_restarts, random_state=random_state, n_jobs=n_jobs, progress=progress)


def associate_cohort(
    cohort: FittedCohort,
    rules: TestRules,
    n_restarts: int = 6,
    *,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Return the frame of `validated_associations`; the persons of the rules are in the order of the cohort."""
    features = list(cohort.schema.reported)
    seed: int | None = None
    if cohort.model.fit_ is None:
        names, subtypes = clustered_features(cohort.model), searches.whole_cohort(cohort)
        formed = [part for feature in features if feature.name in names for part in feature.parts]
        checks, included = ValidityChecks(cohort.table, formed, rules), np.ones(len(formed), dtype=np.bool_)
        rows = []
        for feature in features:
            row: dict[str, Any] = {"remark": _NOT_FOUND_AGAIN}
            if feature.is_described:
                row = _test_feature(feature, subtypes, checks, included, "direct")
            rows.append(_describe(feature) | row)
    else:
        seed = cohort.fit.random_seed_ if random_state is None else seed_of(random_state)
        plan = searches.refit_plan(cast("MAPDP", cohort.model), seed, n_restarts)

        def search_and_test() -> list[dict[str, Any]]:
            row_of = {}
            with (
                announcing_compilation(),
                Threads(n_threads(n_jobs), plan.cancelled) as pool,
                Progress(bool(progress)).stage("associations", len(features)) as advance,
            ):
                tests = FeatureTests(cohort, plan, rules)
                groups = tests.sharing_a_search(features)
                futures = [pool.submit(tests.rows, group) for group in groups]
                for group, future in zip(groups, futures, strict=True):
                    for feature, row in zip(group, future.result(), strict=True):
                        row_of[feature.name] = row
                        advance()
            return [row_of[feature.name] for feature in features]

        rows = interruptible(search_and_test, plan.cancelled)
    if finds_one_population(cohort.model):  # the subtypes are slices of one continuum of the other features
        for row in rows:
            if not is_missing(row.get("p")):
                row["p_given_others"] = np.nan
                _add_remark(row, "these subtypes are slices of one continuum")
    table = pd.DataFrame(rows, columns=list(_DTYPES))
    table["q"] = adjusted(table["p"].to_numpy(dtype=np.float64))
    records = cast("list[dict[str, Any]]", table.to_dict("records"))
    table["grade"] = [grade_of(row, rules.significance_level) for row in records]
    table["seed"] = None if seed is None else str(seed)
    return table.astype(_DTYPES)
