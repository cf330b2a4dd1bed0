"""Starts of the search: the partitions from which restarts begin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clinclust.arrays import Labels, Mask
from clinclust.engine.kernels.sweep import find_best, make_moves
from clinclust.engine.problem.numeric_columns import principal_axis
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import compact

_BISECTED, _SEATED = 4, 6
# Numbers of clusters of the random starting partitions, taken in turn. A start with too many clusters loses the
# superfluous ones within one or two sweeps. A start with too few clusters rarely gains any, because a subject alone in
# a new cluster is scored with the vague prior. Most numbers are therefore larger than the usual number of subtypes.
_RANDOM_SIZES = (8, 4, 12, 2, 20, 6, 16, 3, 10)
_MOST_CLUSTERS = 62
_SEATED_ONE_BY_ONE = 2_000
_BISECTIONS = 3


class Start(NamedTuple):
    """The partition from which a restart begins, and how the restart proceeds from it."""

    name: str
    labels: Labels
    """(N,) clusters 0 .. K - 1."""
    seed: np.random.SeedSequence
    """Seed of all further random numbers in this restart."""
    order: Labels
    """(N,) the subjects in the order of their visit."""
    hasten: bool = False
    """Whether to begin with a few rounds in which all subjects move at once (`hasten`)."""
    seating: bool = False
    """Whether to begin by assigning subjects one after the other, in the order of their visit (`seated`)."""
    bisecting: bool = False
    """Whether to begin with the subjects cut into parts along principal axes (`bisected`)."""
    ignore_size: bool = False
    """Whether the first sweep scores cluster 0 as if it held one subject (Raykov et al. 2016, appendix B)."""
    included: Mask | None = None
    """(D,) features to begin with when features are selected; None = all."""


def single_starts(n_subjects: int, seeds: list[np.random.SeedSequence]) -> list[Start]:
    """Return the starts of the paper, one per seed: a single cluster, with random orders of visit (appendix C)."""
    together = np.zeros(n_subjects, dtype=np.int64)
    return [Start("single", together, seed, _visits(n_subjects, seed), ignore_size=True) for seed in seeds]


def starts_from(labels: Labels, seeds: list[np.random.SeedSequence]) -> list[Start]:
    """Return starts from one given partition, one per seed, in random orders of visit."""
    return [Start("given", labels, seed, _visits(labels.size, seed)) for seed in seeds]


def search_starts(n_subjects: int, seeds: list[np.random.SeedSequence]) -> list[Start]:
    """Return starts of several kinds, one per seed.

    They are random partitions with different numbers of clusters, the single cluster of the paper, a partition cut
    along principal axes, and one built by assigning subjects one after the other.
    """
    starts = []
    for index, seed in enumerate(seeds):
        if index == 1:
            starts += single_starts(n_subjects, [seed])
            continue
        if index in (_BISECTED, _SEATED):
            together, visits = np.zeros(n_subjects, dtype=np.int64), _visits(n_subjects, seed)
            name = "bisected" if index == _BISECTED else "seated"
            starts.append(Start(name, together, seed, visits, bisecting=index == _BISECTED, seating=index == _SEATED))
            continue
        rng = np.random.default_rng(seed)
        n_clusters = min(_RANDOM_SIZES[index % len(_RANDOM_SIZES)], n_subjects)
        labels = compact(rng.integers(n_clusters, size=n_subjects))
        starts.append(Start(f"random {n_clusters}", labels, seed, rng.permutation(n_subjects), hasten=True))
    return starts


def _visits(n_subjects: int, seed: np.random.SeedSequence) -> Labels:
    return np.random.default_rng(seed).permutation(n_subjects)


def seated(problem: Problem, order: Labels) -> Labels:
    """Assign subjects one after the other to the best cluster given those assigned before; return labels, int64 (N,).

    Every subject may open a new cluster, up to 62. After two thousand subjects the clusters do not change.
    """
    arrays, model = problem.cohort.arrays, problem.model
    partition = problem.partition(np.full(order.size, -1), _MOST_CLUSTERS + 2)
    make_moves(arrays, model, partition, order[:_SEATED_ONE_BY_ONE], most_clusters=_MOST_CLUSTERS)
    best = partition.labels.copy()
    if order.size > _SEATED_ONE_BY_ONE:
        find_best(arrays, model, partition, best, most_clusters=int(partition.n_clusters[0]), up_to_date=True)
    return compact(np.where(partition.labels < 0, best, partition.labels))


def bisected(problem: Problem, rng: np.random.Generator) -> Labels:
    """Return labels of eight parts, int64 (N,): in three rounds, each is cut at the median of its principal axis."""
    labels = np.zeros(problem.cohort.n_subjects, dtype=np.int64)
    for _ in range(_BISECTIONS):
        halves = np.zeros_like(labels)
        for part in range(int(labels.max()) + 1):
            members = np.flatnonzero(labels == part)
            along = principal_axis(problem.restricted_to(members, 0).cohort.arrays, rng)
            halves[members] = along > np.median(along)
        labels = compact(2 * labels + halves)
    return labels
