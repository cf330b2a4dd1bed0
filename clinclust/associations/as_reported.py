"""Subtypes found without a feature, as many as the reported ones, and how they agree with these."""

from __future__ import annotations

from threading import Event
from typing import NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.associations.tested_association import Found
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import adjusted_rand_index, by_decreasing_size
from clinclust.engine.search.split_merge import divisions, merge_tree
from clinclust.estimators.subtype_tree import SubtypeTree

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
