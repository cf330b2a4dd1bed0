"""A shard: some rows of a large cohort, as they lie on disk or on a worker, and what is asked of them there.

Every function here runs where a shard lies, and returns new labels, which stay there, or sums and a few subjects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels, Whole
from clinclust.engine.kernels.partition import (
    CohortArrays,
    Model,
    Partition,
    add_up,
    clusters_without_subjects,
    make_missing,
)
from clinclust.engine.kernels.sweep import bring_up_to_date
from clinclust.engine.search import settle
from clinclust.engine.search.settle import scan, write_best
from clinclust.engine.search.stored import Stored

Sums = tuple[Array, Array]
"""Sizes (K,) and statistics (K, S) of clusters."""
Numbers = NDArray[np.int32]


class Shard(NamedTuple):
    """A shard as it lies."""

    tables: CohortArrays
    """The tables of levels, the same in every partition, with one subject whose values are missing where any are."""
    codes: NDArray[np.integer[Any]] | Stored
    """(n, D_table) codes of `CohortArrays` in few bytes."""
    values: Array | Stored
    """(n, D_value) values of `CohortArrays`."""
    n_subjects: int

    def some(self, rows: Whole) -> Shard:
        """Return a shard of some subjects, in ascending order, in memory."""
        taken = self.taken(rows, np.empty(0, dtype=np.int64))
        return self._replace(codes=taken.codes, values=taken.values, n_subjects=rows.size)

    def taken(self, rows: slice | Whole, aside: Whole) -> CohortArrays:
        """Return some subjects, as a slice or in ascending order, without the values that are set aside (`blocks`)."""
        codes, values = (it.mapped() if isinstance(it, Stored) else it for it in (self.codes, self.values))
        taken = self.tables._replace(codes=codes[rows].astype(np.int32), values=np.array(values[rows]))
        if aside.size:
            n_features = taken.kinds.size
            own = aside - rows.start * n_features if isinstance(rows, slice) else places_among(aside, rows, n_features)
            make_missing(taken, own)
        return taken

    def blocks(self, aside: Whole) -> Iterator[tuple[slice, CohortArrays]]:
        """Yield rows and arrays of some subjects after the other.

        `aside`, int64, are the values that are set aside in ascending order: subject D + feature.
        """
        for start in range(0, self.n_subjects, settle.CHUNK):
            rows = slice(start, min(start + settle.CHUNK, self.n_subjects))
            ends = np.searchsorted(aside, np.array([rows.start, rows.stop]) * self.tables.kinds.size)
            yield rows, self.taken(rows, aside[ends[0] : ends[1]])


def places_among(aside: Whole, rows: Whole, n_features: int) -> Whole:
    """Return values (`Shard.blocks`) of some subjects, in ascending order, with the numbers of these among themselves.

    Values of other subjects are left out.
    """
    if not rows.size:
        return aside[:0]
    subjects, features = np.divmod(aside, n_features)
    places = np.minimum(np.searchsorted(rows, subjects), rows.size - 1)
    among = rows[places] == subjects
    return np.asarray(places[among] * n_features + features[among])


def up_to_date(tables: CohortArrays, model: Model, sums: Sums) -> Partition:
    """Return clusters with these sums, and their log predictives."""
    clusters = clusters_without_subjects(tables, *sums)
    bring_up_to_date(tables, model, clusters)
    return clusters


def sums_of(clusters: Partition) -> Sums:
    """Return the sums of the clusters 0 .. K - 1."""
    n_clusters = int(clusters.n_clusters[0])
    return clusters.sizes[:n_clusters], clusters.statistics[:n_clusters]


class ShardScan(NamedTuple):
    """Result of a scan of one shard."""

    best: Numbers
    """(n,) best cluster of each subject; K = a new cluster."""
    n_candidates: int
    sums: Sums


def scan_shard(shard: Shard, labels: Numbers, aside: Whole, model: Model, sums: Sums, least: float) -> ShardScan:
    """Find the best cluster of every subject, given clusters with these sums (`settle.scan`)."""
    clusters = up_to_date(shard.tables, model, sums)
    best, n_candidates = np.empty_like(labels), 0
    sizes, statistics = np.zeros_like(clusters.sizes), np.zeros_like(clusters.statistics)
    for rows, block in shard.blocks(aside):
        found = scan(block, labels[rows].astype(np.int64), model, clusters, least)
        best[rows] = found.labels
        n_candidates += found.n_candidates
        sizes += found.sizes
        statistics += found.statistics
    return ShardScan(best, n_candidates, (sizes, statistics))


def assign(shard: Shard, aside: Whole, model: Model, sums: Sums) -> Numbers:
    """Return the best cluster of every subject, given the sums of clusters of other subjects."""
    clusters = up_to_date(shard.tables, model, sums)
    labels = np.empty(shard.n_subjects, dtype=np.int32)
    for rows, block in shard.blocks(aside):
        labels[rows] = _assigned(block, model, clusters)
    return labels


def _assigned(block: CohortArrays, model: Model, clusters: Partition) -> Labels:
    best = np.empty(block.codes.shape[0], dtype=np.int64)
    write_best(block, np.full_like(best, -1), model, clusters, 0.0, int(clusters.n_clusters[0]), best)
    return best


def count(shard: Shard, labels: Numbers, aside: Whole, n_clusters: int) -> Sums:
    """Return the sums of clusters by the labels of their subjects."""
    sizes, statistics = np.zeros(n_clusters), np.zeros((n_clusters, int(shard.tables.statistic_start[-1])))
    for rows, block in shard.blocks(aside):
        add_up(block, labels[rows].astype(np.int64), sizes, statistics)
    return sizes, statistics


def candidates(
    shard: Shard, labels: Numbers, aside: Whole, found: ShardScan, at_most: int
) -> tuple[CohortArrays, Labels]:
    """Return the first subjects whose best cluster is not their present one, and the latter."""
    rows = np.flatnonzero(found.best != labels)[:at_most]
    return shard.taken(rows, aside), labels[rows].astype(np.int64)


def after_moves(labels: Numbers, found: ShardScan, moved: Numbers, renamed: Numbers) -> Numbers:
    """Return labels after the first candidates have moved, and the clusters have been renamed."""
    after = renamed[labels]
    after[np.flatnonzero(found.best != labels)[: moved.size]] = moved
    return after


def rename(labels: Numbers, renamed: Numbers) -> Numbers:
    """Return labels with new numbers of the clusters."""
    return renamed[labels]


def sizes_of(labels: Numbers, n_clusters: int) -> Whole:
    """Return the number of subjects of each cluster, int64 (K,)."""
    return np.bincount(labels, minlength=n_clusters)


def members(shard: Shard, labels: Numbers, aside: Whole, ranks: Sequence[Whole]) -> list[CohortArrays]:
    """Return some members of each cluster, by their ranks among its members."""
    return [shard.taken(np.flatnonzero(labels == cluster)[some], aside) for cluster, some in enumerate(ranks)]


class ShardDivision(NamedTuple):
    """Divided clusters of one shard."""

    halves: Numbers
    """(n,) new cluster in the division of the own cluster; -1 without a division."""
    sums: dict[int, Sums]


def divide(shard: Shard, labels: Numbers, aside: Whole, model: Model, divisions: Mapping[int, Sums]) -> ShardDivision:
    """Assign the members of clusters to those of their divisions, which have these sums."""
    halves = np.full(shard.n_subjects, -1, dtype=np.int32)
    clusters = {cluster: up_to_date(shard.tables, model, sums) for cluster, sums in divisions.items()}
    sums = {cluster: (np.zeros_like(own[0]), np.zeros_like(own[1])) for cluster, own in divisions.items()}
    for rows, block in shard.blocks(aside):
        for cluster, division in clusters.items():
            members = np.flatnonzero(labels[rows] == cluster)
            among = block._replace(codes=block.codes[members], values=block.values[members])
            best = _assigned(among, model, division)
            add_up(among, best, *sums[cluster])
            halves[rows][members] = best
    return ShardDivision(halves, sums)


def after_division(labels: Numbers, found: ShardDivision, renamed: NDArray[np.int32]) -> Numbers:
    """Return labels by cluster and its part in the division."""
    return renamed[labels, found.halves]
