"""Subtypes found without some features, whose values cannot influence the search, as many as the reported ones."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.associations.feature_test import Found
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.search.labels import adjusted_rand_index, by_decreasing_size
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.split_merge import divisions, merge_tree
from clinclust.estimators.search import search
from clinclust.estimators.settings import Settings, stated_hyperparameters
from clinclust.estimators.subtype_tree import SubtypeTree

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP


Keys = NDArray[np.uint64]

_FINISHERS = 2  # number of restarts that are searched to the end


def column_keys(columns: Sequence[Array]) -> Keys:
    """Return a pseudo-random key of each value, uint64 (D, N); equal values of one column have equal keys."""
    from pandas.util import hash_array

    keys = np.empty((len(columns), columns[0].size), dtype=np.uint64)
    for place, column in enumerate(columns):
        # Each column has its own odd factor, so that equal values in two columns have different keys.
        factor = np.uint64(2 * int(np.random.SeedSequence(place).generate_state(1)[0]) + 1)
        keys[place] = hash_array(column) * factor
    return keys


def without(problem: Problem, left_out: NDArray[np.bool_], keys: Keys) -> tuple[Problem, Labels]:
    """Return the problem without the features of `left_out`, (D,), and the rows of its subjects, (N,), by `keys`."""
    order = np.argsort(keys[~left_out].sum(axis=0, dtype=np.uint64), kind="stable")
    return problem.with_features(~left_out).restricted_to(order, 0), order


def refit_plan(model: MAPDP, seed: int, n_restarts: int) -> SearchPlan:
    """Return the plan of a search like that of the model, but from scratch, on one thread and not refined."""
    select_features, fill_modes = model.select_features, Settings.of(model).fills_modes
    return SearchPlan(
        seed=seed,
        start="single" if fill_modes else "search",
        n_restarts=n_restarts,
        max_sweeps=model.max_sweeps,
        n_jobs=1,
        refine=False,
        divide=select_features,
        look_back=select_features,
        finishers=None if select_features or fill_modes else _FINISHERS,
        select_features=select_features,
        outlying_share=model.outlying_share_,
        fill_modes=fill_modes,
    )


def posed_as_fitted(model: MAPDP, frame: pd.DataFrame) -> Problem:
    """Return the problem of a cohort with the stated prior of a model and the resolution that its fit chose."""
    hyperparameters = stated_hyperparameters(model.hyperparameters)
    prior = model.concentration_, model.discount_
    return pose(frame, model.schema_, hyperparameters, *prior, model.coarsening_, model.block_weights_)


def refit(problem: Problem, plan: SearchPlan, reported: AsReported) -> tuple[Labels, int]:
    """Search for subtypes of a problem, as many as in the reported partition where that can be (`as_many`).

    Return the subtype of each subject, 0 to K - 1 by decreasing size, (N,), and the number of clusters that were found
    before mergers and divisions.
    """
    if reported.n_subtypes == 1:
        return np.zeros(problem.cohort.n_subjects, dtype=np.int64), 1
    found = search(problem, plan)
    problem, included = found.problem, found.winner.included
    if included is not None and included.any():
        problem = problem.with_features(included)
    clusters, subtype_of = as_many(problem, found.winner.labels, reported, plan.seed, plan.cancelled)
    return subtype_of[clusters], int(found.winner.labels.max()) + 1


_MOST_GROUPS = 8
"""No more groups are made by divisions: they take long, and leave little between the features to explain."""


class AsReported(NamedTuple):
    """The numbers of groups and subtypes of a reported partition."""

    n_subtypes: int
    n_large: int
    """Subtypes of at least `enough` subjects."""
    n_groups: int
    """Groups of at least `enough` subjects that the subtypes are made of."""
    enough: int


def as_many(
    problem: Problem, clusters: Labels, reported: AsReported, seed: int, cancelled: Event
) -> tuple[Labels, Labels]:
    """Return clusters by decreasing size, (N,), and the subtype of each, (J,): as many as were reported if possible."""
    n_groups = max(reported.n_large, min(reported.n_groups, _MOST_GROUPS))
    divided = _divided(problem, clusters, n_groups, reported.enough, np.random.default_rng(seed), cancelled)
    clusters = by_decreasing_size(divided)
    return clusters, merged(problem, clusters, reported.n_subtypes, reported.n_large, reported.enough)


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


class _Division(NamedTuple):
    gain: float
    members: Labels
    labels: Labels


def _divided(
    problem: Problem, clusters: Labels, n_groups: int, enough: int, rng: np.random.Generator, cancelled: Event
) -> Labels:
    missing = n_groups - int((np.bincount(clusters) >= enough).sum())
    if missing <= 0:
        return clusters
    clusters = clusters.copy()
    possible = [
        _best_division(problem, np.flatnonzero(clusters == k), enough, rng, cancelled)
        for k in range(int(clusters.max()) + 1)
    ]
    for _ in range(missing):
        best = max((found for found in possible if found is not None), key=lambda found: found.gain, default=None)
        if best is None or cancelled.is_set():
            break
        possible = [found for found in possible if found is not best]
        clusters[best.members] = best.labels + clusters.max() + 1
        possible += [
            _best_division(problem, best.members[best.labels == part], enough, rng, cancelled)
            for part in range(int(best.labels.max()) + 1)
        ]
    return clusters


def _best_division(
    problem: Problem, members: Labels, enough: int, rng: np.random.Generator, cancelled: Event
) -> _Division | None:
    """Return the division with the highest log joint of those of which two parts have enough subjects, if any."""
    if members.size < 2 * enough:
        return None
    part = problem.restricted_to(members, 0)
    found = [each for each in divisions(part, rng, cancelled) if (np.bincount(each[1]) >= enough).sum() >= 2]
    if not found:
        return None
    joint, labels = max(found, key=lambda division: division[0])
    undivided = log_joint(part, new_partition(part.cohort.arrays, np.zeros_like(members)))
    return _Division(joint - undivided, members, labels)


OTHER_BELOW = 0.5
"""With a lower agreement, the subtypes found without a feature are called other ones than the reported."""


def agreement(reported: Labels, found: Found) -> float:
    """Return the adjusted Rand index of subtypes found without a feature with the reported ones."""
    return adjusted_rand_index(reported[found.rows], found.labels)


class Effects(NamedTuple):
    """Differences, in SDs of all subjects, between the two reported subtypes that are farthest apart in a feature."""

    reported: float
    """At least 0."""
    found: float
    """Between the subtypes found without it that share most subjects with these two; it can have the other sign."""


def effects(columns: Array, reported: Labels, groups: Labels, found: Found) -> Effects:
    """Return the effects of a feature in that of its columns, (N, C), with the largest reported one, or NaN."""
    best = Effects(np.nan, np.nan)
    for column in columns.T:
        seen = ~np.isnan(column)
        spread = float(column[seen].std()) if seen.any() else 0.0
        if spread == 0.0:
            continue
        means = _means(column, groups)
        if np.isfinite(means).sum() < 2:
            continue
        high, low = int(np.nanargmax(means)), int(np.nanargmin(means))
        difference = float(means[high] - means[low]) / spread
        if not difference <= best.reported:
            best = Effects(difference, _found(column, reported, found, high, low) / spread)
    return best


def _found(column: Array, reported: Labels, found: Found, high: int, low: int) -> float:
    """Return the difference between the subtypes matched with two reported ones."""
    from scipy.optimize import linear_sum_assignment

    shared = np.zeros((int(reported.max()) + 1, int(found.labels.max()) + 1))
    np.add.at(shared, (reported[found.rows], found.labels), 1.0)
    matched = dict(zip(*(axis.tolist() for axis in linear_sum_assignment(shared, maximize=True)), strict=True))
    if high not in matched or low not in matched:
        return float("nan")
    means = _means(column[found.rows], found.labels)
    return float(means[matched[high]] - means[matched[low]])


def _means(column: Array, groups: Labels) -> Array:
    seen = ~np.isnan(column) & (groups >= 0)
    n_groups = int(groups.max()) + 1
    n = np.bincount(groups[seen], minlength=n_groups)
    sums = np.bincount(groups[seen], column[seen], minlength=n_groups)
    return np.where(n > 0, sums / np.maximum(n, 1), np.nan)
