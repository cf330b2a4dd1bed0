"""Searches without a feature, and the tests of features against their subtypes."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels, graded, mid_ranks
from clinclust.comparisons.differences import Contrast, Contrasted, combined, contrast_of
from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.problem.problem import Problem, log_joint, pose
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.settle import by_decreasing_size, divisions, merge_tree
from clinclust.estimators.fit import SubtypeTree
from clinclust.estimators.fitting import search
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.settings import Settings, stated_hyperparameters
from clinclust.estimators.subtype_model import FittedCohort, parameters_of, with_selected
from clinclust.likelihoods.likelihood import ContrastKind

# The test of one feature against subtypes found without it: permutations, p, effect, and what is reported.

BY_PERSON, BY_VALUE = ", persons permuted", ", values permuted"  # the ends of the names of such tests
_PERMUTATIONS, _ENOUGH, _SEED = 9999, 100, 20161007
"""At most so many permutations; fewer when so many gave as large a statistic (Besag and Clifford 1991)."""
_ROUNDING = 1e-10
_LEAST_PERMUTATIONS, _MOST_DRAWS = 999, 200_000_000
"""Large cohorts get fewer permutations: so many values at most, but no fewer permutations than this."""
_MOST_SHAPE, _LEAST_OBSERVED = 0.2, 2
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
    contrast = contrast_of(values, groups, kind)
    if kind == "counts" or np.isnan(contrast.p):
        return contrast
    taking_part = (groups >= 0) & ~np.isnan(values)
    sizes = np.bincount(groups[taking_part])
    taking_part[taking_part] = sizes[groups[taking_part]] >= _LEAST_OBSERVED
    values, groups = values[taking_part], groups[taking_part]
    scores = _scores(values, kind)
    scaled, smallest = scores[:, 0] / np.abs(scores[:, 0]).max(), int(sizes[sizes >= _LEAST_OBSERVED].min())
    second, third, fourth = ((scaled**power).mean() for power in (2, 3, 4))
    skew = third**2 / second**3
    is_accurate = skew + max(fourth / second**2 - 3.0, 0.0) <= _MOST_SHAPE * smallest
    if kind == "welch":
        is_accurate = smallest >= _LEAST_FOR_WELCH and skew <= _MOST_SKEW * smallest
    if is_accurate:
        return contrast
    return _permute(contrast, scores, groups, kind, [np.arange(values.size)[:, None]], BY_VALUE)


def contrast_by_person(values: Array, groups: Labels, kind: ContrastKind, persons: Labels) -> Contrast:
    """Return `contrast_of` with p by permutations of whole persons, int64 (N,), among those with as many rows."""
    contrast, order = contrast_of(values, groups, kind), np.argsort(persons, kind="stable")
    _, start, counts = np.unique(persons[order], return_index=True, return_counts=True)
    exchanges = [order[start[counts == count][:, None] + np.arange(count)] for count in np.unique(counts)]
    if np.isnan(contrast.p) or not any(rows.shape[0] > 1 for rows in exchanges):
        return Contrast()
    return _permute(contrast, _scores(values, kind), groups, kind, exchanges, BY_PERSON)


def _permute(
    contrast: Contrast, scores: Array, groups: Labels, kind: ContrastKind, exchanges: list[Labels], suffix: str
) -> Contrast:
    """Return the contrast with p by permutations, in each array of rows (persons, rows of each), of the persons."""
    seen = (~np.isnan(scores[:, 0])).astype(np.float64)
    columns = np.where(seen[:, None] > 0.0, scores, 0.0).T.copy()
    is_complete = seen.all() and (groups >= 0).all()

    def sum_groups(values: Array) -> Array:  # group 0 takes no part
        return np.bincount(groups + 1, values, int(groups.max()) + 2)[1:].astype(np.float64)

    def measure_distance(order: Labels) -> float:
        """Return how far groups lie apart if row i has the values of row ``order[i]``."""
        of_all = sizes if is_complete else sum_groups(seen[order])
        n, total = of_all[of_all > 0.0], 0.0
        for column in columns:
            values, weights = column[order], n
            sums = sum_groups(values)[of_all > 0.0]
            if kind == "welch":
                squares = sum_groups(values**2)[of_all > 0.0]
                variance = (squares - sums**2 / n) / np.maximum(n - 1.0, 1.0)
                # Groups without spread get a little, as otherwise all that have none would be as far apart.
                weights = np.where(n >= _LEAST_OBSERVED, n / np.maximum(variance, _ROUNDING * squares.sum()), 0.0)
            means = sums / n
            centre = (weights * means).sum() / max(weights.sum(), 1e-300)
            total += float((weights * (means - centre) ** 2).sum())
        return total

    rng, order, sizes = np.random.default_rng(_SEED), np.arange(groups.size), sum_groups(seen)
    observed, as_large, drawn = measure_distance(order), 0, 0
    for _ in range(min(_PERMUTATIONS, max(_LEAST_PERMUTATIONS, _MOST_DRAWS // groups.size))):
        for rows in exchanges:
            order[rows] = rows[rng.permutation(rows.shape[0])]
        drawn += 1
        as_large += measure_distance(order) >= observed * (1.0 - _ROUNDING)
        if as_large == _ENOUGH:
            break
    p = as_large / drawn if as_large == _ENOUGH else (1 + as_large) / (1 + drawn)
    return contrast._replace(test=contrast.test + suffix, df=np.nan, df2=np.nan, p=p)


def _scores(values: Array, kind: ContrastKind) -> Array:
    """Return the columns whose means are compared between the groups, (N, C), NaN = missing."""
    if kind == "counts":
        _, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        return np.asarray(graded([(values, True)], mid_ranks).columns / np.sqrt(counts / counts.sum()))
    column = mid_ranks(values) if kind == "rank" else values
    return (column - np.nanmean(column))[:, None]


class Subtypes(NamedTuple):
    """Subtypes found without the tested feature, or those of the model, 0 to K - 1; `rows` (n,) are in the table."""

    rows: Labels
    labels: Labels


@dataclass(frozen=True, eq=False)
class TestRules:
    """What is the same for the tests of all features: the fewest subjects of a subtype, and the person of each row."""

    __test__ = False  # no test of pytest

    min_size: int
    floor: int = 1
    significance_level: float = 0.01
    persons: Labels | None = None

    def fewest(self, subtypes: Subtypes, n_subjects: int) -> int:
        """Return the fewest subjects of a tested subtype; of one row of each person, their share of all subjects."""
        return max(self.min_size, -(-self.floor * subtypes.rows.size // n_subjects))

    def groups(self, subtypes: Subtypes, n_subjects: int) -> Labels:
        """Return the subtype of each subject, int64 (n,); -1 where it has too few subjects."""
        sizes = np.bincount(subtypes.labels)
        return np.where(sizes[subtypes.labels] >= self.fewest(subtypes, n_subjects), subtypes.labels, -1)


def association_of(parts: list[Contrasted], subtypes: Subtypes, rules: TestRules) -> tuple[Contrast, int]:
    """Return the test of a feature against subtypes, of its parts by Fisher's method (1932), and its subjects."""
    contrasts, n_tested = [], 0
    for values, kind in parts:
        groups, members = rules.groups(subtypes, values.size), values[subtypes.rows]
        if rules.persons is None:
            contrast = contrast_of_few(members, groups, kind)
        else:
            contrast = contrast_by_person(members, groups, kind, rules.persons[subtypes.rows])
        if not np.isnan(contrast.p):
            contrasts.append(contrast)
            n_tested = max(n_tested, int((~np.isnan(members[groups >= 0])).sum()))
    return combined(contrasts), n_tested


def whole_cohort(cohort: FittedCohort) -> Subtypes:
    """Return all subjects with their subtypes in the model."""
    return Subtypes(np.arange(cohort.labels.size), cohort.labels)


def why_untested(method: str, values: Array, subtypes: Subtypes, rules: TestRules) -> str:
    """Return the remark on a feature without a p."""
    if np.unique(subtypes.labels).size < 2:
        return f"not tested: {'' if method == 'direct' else 'without it '}there is one subtype only"
    groups = rules.groups(subtypes, values.size)
    if np.unique(groups[groups >= 0]).size < 2:
        return f"not tested: fewer than two subtypes have {rules.fewest(subtypes, values.size)} subjects"
    return "not tested: the observed values of the subtypes do not vary, or are too few"


# Subtypes found without some features, whose values cannot influence the search, as many as the reported ones.

_FINISHERS = 2  # number of restarts that are searched to the end


def without(problem: Problem, left_out: NDArray[np.bool_], values: pd.DataFrame) -> tuple[Problem, Labels]:
    """Return the problem without the features of `left_out`, (D,), and the rows of its subjects, (N,).

    They are in a pseudo-random order by the values (N, D) of the other features.
    """
    order = np.argsort(pd.util.hash_pandas_object(values.loc[:, ~left_out], index=False).to_numpy(), kind="stable")
    return problem.with_features(~left_out).restricted_to(order), order


def refit_plan(model: MAPDP, seed: int, n_restarts: int) -> SearchPlan:
    """Return the plan of a search like that of the model, but from scratch, on one thread and not refined."""
    settings = Settings.of(model)
    return SearchPlan(
        seed=seed,
        start="single" if settings.fills_modes else "search",
        n_restarts=n_restarts,
        max_sweeps=model.max_sweeps,
        n_jobs=1,
        refine=False,
        divide=settings.selects_features,
        finishers=None if settings.selects_features or settings.fills_modes else _FINISHERS,
        select_features=settings.selects_features,
        selects_first=settings.selects_first,
        prior_strength=model.prior_strength_,  # one number for all features; which of them differ is found anew
        outlying_share=model.outlying_share_,
        fill_modes=settings.fills_modes,
    )


def pose_as_fitted(cohort: FittedCohort) -> Problem:
    """Return the problem of a cohort with the stated prior of its model and the resolution that the fit chose."""
    fit, stated = cohort.fit, stated_hyperparameters(parameters_of(cohort.model)["hyperparameters"])
    coarsening, weights = fit.coarsening_, fit.block_weights_
    return pose(cohort.table, cohort.schema, stated, fit.concentration_, coarsening=coarsening, block_weights=weights)


def refit(problem: Problem, plan: SearchPlan, reported: AsReported) -> Labels:
    """Search for subtypes, (N,), by decreasing size, as many as in the reported partition where that can be."""
    if reported.n_subtypes == 1:
        return np.zeros(problem.cohort.n_subjects, dtype=np.int64)
    clusters, subtype_of = as_many(*search_clusters(problem, plan), reported, plan.seed, plan.cancelled)
    return subtype_of[clusters]


def search_clusters(problem: Problem, plan: SearchPlan) -> tuple[Problem, Labels]:
    """Return the problem with the features that a search selects, and the cluster of each subject, int64 (N,)."""
    result = search(problem, plan)
    problem, winner = result.problem, result.winner
    return problem if winner.included is None else with_selected(problem, winner.included), winner.labels


_MOST_GROUPS = 8  # made by divisions, which take long, and leave little between the features to explain


class AsReported(NamedTuple):
    """The numbers of subtypes, and of those and of the groups that they are made of with `enough` subjects."""

    n_subtypes: int
    n_large: int
    n_groups: int
    enough: int


def as_many(
    problem: Problem, clusters: Labels, reported: AsReported, seed: int, cancelled: Event
) -> tuple[Labels, Labels]:
    """Return clusters by decreasing size, (N,), and the subtype of each, (J,): as many as were reported if possible."""
    n_subtypes, n_large, n_groups, enough = reported
    missing = max(n_large, min(n_groups, _MOST_GROUPS)) - int((np.bincount(clusters) >= enough).sum())
    clusters = by_decreasing_size(_divide(problem, clusters, missing, enough, np.random.default_rng(seed), cancelled))
    return clusters, merged(problem, clusters, n_subtypes, n_large, enough)


def merged(problem: Problem, clusters: Labels, n_subtypes: int, n_large: int, enough: float) -> Labels:
    """Return the subtype of each cluster, int64 (J,): `n_subtypes`, or more until `n_large` have `enough` subjects."""
    sizes = np.bincount(clusters)
    if sizes.size > n_subtypes:
        tree = SubtypeTree(clusters, *merge_tree(problem, clusters))
        # The tree first undoes divisions that lowered the joint, before it merges a few odd subjects with others.
        for number in range(n_subtypes, sizes.size):
            subtype_of = tree.subtype_of(number)
            if (np.bincount(subtype_of, sizes) >= enough).sum() >= n_large:
                return subtype_of
    return np.arange(sizes.size)


def _divide(
    problem: Problem, clusters: Labels, times: int, enough: int, rng: np.random.Generator, cancelled: Event
) -> Labels:
    """Return clusters (N,) divided so many times, each time by the division with the largest gain in the log joint.

    Two parts of a division have enough subjects.
    """

    def find_best(members: Labels) -> list[tuple[float, Labels, Labels]]:
        if members.size < 2 * enough:
            return []
        part = problem.restricted_to(members)
        tried = divisions(part, rng, cancelled)
        usable = [division for division in tried if (np.bincount(division[1]) >= enough).sum() >= 2]
        if not usable:
            return []
        joint, labels = max(usable, key=lambda division: division[0])
        undivided = log_joint(part, new_partition(part.cohort.arrays, np.zeros_like(members)))
        return [(joint - undivided, members, labels)]

    clusters, possible = clusters.copy(), []
    if times > 0:
        possible = [best for k in range(int(clusters.max()) + 1) for best in find_best(np.flatnonzero(clusters == k))]
    for _ in range(times):
        if not possible or cancelled.is_set():
            break
        place = max(range(len(possible)), key=lambda place: possible[place][0])
        _, members, labels = possible.pop(place)
        clusters[members] = labels + clusters.max() + 1
        possible += [best for part in range(int(labels.max()) + 1) for best in find_best(members[labels == part])]
    return clusters


OTHER_BELOW = 0.5  # a lower agreement with the reported subtypes makes those found without a feature other ones


def effects(columns: Array, reported: Labels, groups: Labels, subtypes: Subtypes) -> tuple[float, float]:
    """Return the difference, in SDs, between the two reported subtypes farthest apart in one of the columns (N, C).

    And that, perhaps with another sign, between the subtypes without the feature that share most subjects with them.
    """
    from scipy.optimize import linear_sum_assignment

    shared = np.zeros((int(reported.max()) + 1, int(subtypes.labels.max()) + 1))
    np.add.at(shared, (reported[subtypes.rows], subtypes.labels), 1.0)
    matched = dict(zip(*(axis.tolist() for axis in linear_sum_assignment(shared, maximize=True)), strict=True))
    best = np.nan, np.nan
    for column in columns.T:
        seen, means = ~np.isnan(column), _means(column, groups)
        spread = float(column[seen].std()) if seen.any() else 0.0
        if spread == 0.0 or np.isfinite(means).sum() < 2:
            continue
        high, low = int(np.nanargmax(means)), int(np.nanargmin(means))
        difference, refit_difference = float(means[high] - means[low]) / spread, np.nan
        if high in matched and low in matched:
            of_refit = _means(column[subtypes.rows], subtypes.labels)
            refit_difference = float(of_refit[matched[high]] - of_refit[matched[low]]) / spread
        if not difference <= best[0]:
            best = difference, refit_difference
    return best


def _means(column: Array, groups: Labels) -> Array:
    seen = ~np.isnan(column) & (groups >= 0)
    n_groups = int(groups.max()) + 1
    n = np.bincount(groups[seen], minlength=n_groups)
    return np.where(n > 0, np.bincount(groups[seen], column[seen], minlength=n_groups) / np.maximum(n, 1), np.nan)
