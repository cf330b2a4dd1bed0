"""Where restarts of the search begin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.search.labels import compact

__all__ = ["Start", "search_starts", "single_starts", "starts_from"]

Labels = NDArray[np.int64]

_BISECTED, _SEATED = 4, 6
# Sizes of the random partitions that the search starts from, taken in turn. A start with too many clusters loses the
# superfluous ones within a sweep or two; one with too few rarely gains any, because a single value in a new cluster
# is scored by the vague prior. Hence mostly more clusters than cohorts have subtypes.
_RANDOM_SIZES = (8, 4, 12, 2, 20, 6, 16, 3, 10)


class Start(NamedTuple):
    """Where a restart begins."""

    name: str
    labels: Labels
    """(N,) clusters 0 .. K - 1."""
    seed: np.random.SeedSequence
    """Of everything random in this restart from here on."""
    order: Labels
    """(N,) the subjects in the order of their visit."""
    hasten: bool = False
    """Begin with a few rounds in which everybody moves at once."""
    seating: bool = False
    """Begin by seating one after the other, in the order of their visit (`seeding`)."""
    bisecting: bool = False
    """Begin with everybody cut in parts along principal axes (`seeding`)."""
    ignore_size: bool = False
    """Count cluster 0 as one subject in the first sweep (Raykov et al. 2016, appendix B)."""
    included: NDArray[np.bool_] | None = None
    """(D,) features to begin with when features are selected; None = all."""


def single_starts(n_subjects: int, seeds: list[np.random.SeedSequence]) -> list[Start]:
    """Return the paper's starts, one a seed: everybody in one cluster, visited in random orders (appendix C)."""
    together = np.zeros(n_subjects, dtype=np.int64)
    return [Start("single", together, seed, _visits(n_subjects, seed), ignore_size=True) for seed in seeds]


def starts_from(labels: Labels, seeds: list[np.random.SeedSequence]) -> list[Start]:
    """Return starts from one given partition, visited in random orders."""
    return [Start("given", labels, seed, _visits(labels.size, seed)) for seed in seeds]


def search_starts(n_subjects: int, seeds: list[np.random.SeedSequence]) -> list[Start]:
    """Return starts of several kinds, one a seed.

    Random partitions of different sizes, the paper's single cluster, everybody cut in parts along principal axes, and
    everybody seated one after the other.
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
