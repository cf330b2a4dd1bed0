"""As many subtypes without a feature as with it: merge along the tree, or divide even where the log joint falls.

Where a few features make the subtypes together, the log joint prefers one subtype as soon as one of them is left out.
The subjects can still be divided by the others, and that division is as independent of the feature as any partition
found without it. To test against it is as valid, and it keeps the power that a single subtype has not.
"""

from __future__ import annotations

from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import by_decreasing_size
from clinclust.engine.search.split_merge import divisions, merge_tree
from clinclust.estimators.subtype_tree import SubtypeTree

__all__ = ["AsReported", "as_many"]

Labels = NDArray[np.int64]


_MOST_GROUPS = 8
"""Groups are divided up to this number only: more take long, and leave little between the features to explain."""


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
    """Return clusters and the subtype of each, as many as were reported where that can be.

    Where too few clusters have enough subjects, the one whose division lowers the log joint least (or raises it most)
    is divided, again and again. Then they are merged along their tree, as in `MAPDP.cut`, as long as enough subtypes of
    enough subjects are left.

    Parameters
    ----------
    problem : Problem
    clusters : int64 (N,)
        The clusters that a search found, 0 to J - 1.
    reported : AsReported
    seed : int
        Seed of the random starts of the divisions.
    cancelled : threading.Event

    Returns
    -------
    clusters : int64 (N,)
        0 to J' - 1 by decreasing size.
    subtype_of : int64 (J',)
        The subtype of each, from 0.
    """
    n_groups = max(reported.n_large, min(reported.n_groups, _MOST_GROUPS))
    divided = _divided(problem, clusters, n_groups, reported.enough, np.random.default_rng(seed), cancelled)
    clusters = by_decreasing_size(divided)
    sizes = np.bincount(clusters)
    if sizes.size <= reported.n_subtypes:
        return clusters, np.arange(sizes.size)
    tree = SubtypeTree(clusters, *merge_tree(problem, clusters))
    # The tree first undoes divisions that lowered the joint, before it merges a few odd subjects with others.
    for n_subtypes in range(reported.n_subtypes, sizes.size):
        subtype_of = tree.subtype_of(n_subtypes)
        n_large = int((np.bincount(subtype_of, sizes) >= reported.enough).sum())
        if n_large >= reported.n_large:
            return clusters, subtype_of
    return clusters, np.arange(sizes.size)


class _Division(NamedTuple):
    gain: float
    members: Labels
    labels: Labels


def _divided(
    problem: Problem, clusters: Labels, n_groups: int, enough: int, rng: np.random.Generator, cancelled: Event
) -> Labels:
    """Return the clusters after as many divisions as are needed, or can be made, int64 (N,)."""
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
    """Return the division of a cluster with the highest log joint of which two parts have enough subjects, if any."""
    if members.size < 2 * enough:
        return None
    part = problem.restricted_to(members, 0)
    found = [
        _Division(joint, members, labels)
        for joint, labels in divisions(part, rng, cancelled)
        if (np.bincount(labels) >= enough).sum() >= 2
    ]
    if not found:
        return None
    best = max(found, key=lambda division: division.gain)
    return best._replace(gain=best.gain - log_joint(part, new_partition(part.cohort.arrays, np.zeros_like(members))))
