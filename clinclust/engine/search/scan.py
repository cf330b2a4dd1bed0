"""Scan, then move: sweeps over cohorts so large that hardly anybody moves.

A scan finds everybody's best cluster while the clusters stand still. It is a function of some subjects and the clusters
(`scan`), so that subjects can be scanned in chunks: on threads here, from disk or on other machines elsewhere. Those
whom the scan would move are then visited one by one, each scored anew, so that every move raises the joint; and a scan
that would move nobody proves a fixed point, the same as a sweep does.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.arrays import CohortArrays
from clinclust.engine.kernels.model import Model
from clinclust.engine.kernels.partition import Partition, add_up, grow, new_partition
from clinclust.engine.kernels.sweep import UNLIMITED, bring_up_to_date, find_best, make_moves
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.labels import compact
from clinclust.engine.search.settle import SweepResult, minimum_gain

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import SearchPlan

__all__ = ["CHUNK", "ScanResult", "assigned", "chunks", "scan", "settle_by_scans"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

CHUNK = 8192
"""Subjects scanned at a time. Sums are added up by chunks, so that their digits do not depend on the threads."""
_HASTY_ROUNDS = 8
_FEW = 1e-3
"""Share of subjects below which those who move are moved one by one."""


class ScanResult(NamedTuple):
    """What a scan of some subjects found."""

    labels: Labels
    """(n,) the best cluster of each; K = one that nobody is in yet."""
    candidates: Labels
    """Positions of those whose best cluster is not the one they are in."""
    sizes: Array
    """(C,) subjects by best cluster."""
    statistics: Array
    """(C, S) their sufficient statistics, by best cluster."""


def scan(chunk: CohortArrays, labels: Labels, model: Model, partition: Partition, minimum_gain: float) -> ScanResult:
    """Find the best cluster of some subjects while the clusters stand still.

    Parameters
    ----------
    chunk : CohortArrays
        Of these n subjects alone.
    labels : int64 (n,)
        Which clusters they are in.
    model : Model
    partition : Partition
        The clusters, their log predictives up to date; it is only read.
    minimum_gain : float
        Smallest rise of the log joint, in nats, that makes a candidate.
    """
    best = np.empty(labels.size, dtype=np.int64)
    sizes, statistics = np.zeros_like(partition.sizes), np.zeros_like(partition.statistics)
    _find_best(chunk, labels, model, partition, minimum_gain, UNLIMITED, best)
    add_up(chunk, best, sizes, statistics)
    return ScanResult(best, np.flatnonzero(best != labels), sizes, statistics)


def _find_best(
    chunk: CohortArrays, labels: Labels, model: Model, partition: Partition, least: float, most: int, best: Labels
) -> None:
    """Write the best cluster of each subject to `best`; the partition, which others read meanwhile, stays as it is."""
    own = partition._replace(labels=labels, work=partition.work.copy())
    find_best(chunk, model, own, best, minimum_gain=least, most_clusters=most, up_to_date=True)


def chunks(arrays: CohortArrays) -> Iterator[tuple[slice, CohortArrays]]:
    """Yield the subjects of each chunk."""
    for start in range(0, arrays.codes.shape[0], CHUNK):
        rows = slice(start, start + CHUNK)
        yield rows, arrays._replace(codes=arrays.codes[rows], values=arrays.values[rows])


def _scan_all(problem: Problem, partition: Partition, least: float, pool: Executor) -> ScanResult:
    """Scan everybody, chunks on threads; sums are taken in the order of the chunks."""
    arrays, model = problem.cohort.arrays, problem.model
    bring_up_to_date(arrays, model, partition)
    futures = [
        (rows, pool.submit(scan, chunk, partition.labels[rows], model, partition, least))
        for rows, chunk in chunks(arrays)
    ]
    best = np.empty_like(partition.labels)
    sizes, statistics = np.zeros_like(partition.sizes), np.zeros_like(partition.statistics)
    for rows, future in futures:
        found = future.result()
        best[rows] = found.labels
        sizes += found.sizes
        statistics += found.statistics
    return ScanResult(best, np.flatnonzero(best != partition.labels), sizes, statistics)


def _add_up_all(problem: Problem, partition: Partition, pool: Executor) -> None:
    """Compute sizes and statistics from the labels alone."""

    def of_chunk(rows: slice, chunk: CohortArrays) -> tuple[Array, Array]:
        sizes, statistics = np.zeros_like(partition.sizes), np.zeros_like(partition.statistics)
        add_up(chunk, partition.labels[rows], sizes, statistics)
        return sizes, statistics

    futures = [pool.submit(of_chunk, rows, chunk) for rows, chunk in chunks(problem.cohort.arrays)]
    partition.sizes[:] = 0.0
    partition.statistics[:] = 0.0
    for future in futures:
        sizes, statistics = future.result()
        partition.sizes[:] += sizes
        partition.statistics[:] += statistics


def assigned(problem: Problem, partition: Partition, pool: Executor) -> Labels:
    """Return the most probable cluster of everybody, int64 (N,), given clusters that other subjects form.

    `partition` holds their sizes and statistics; its labels do not matter.
    """
    arrays = problem.cohort.arrays
    bring_up_to_date(arrays, problem.model, partition)
    best = np.empty(arrays.codes.shape[0], dtype=np.int64)

    def of_chunk(rows: slice, chunk: CohortArrays) -> None:
        nowhere = np.full(chunk.codes.shape[0], -1)
        _find_best(chunk, nowhere, problem.model, partition, 0.0, int(partition.n_clusters[0]), best[rows])

    for future in [pool.submit(of_chunk, rows, chunk) for rows, chunk in chunks(arrays)]:
        future.result()
    return best


def settle_by_scans(problem: Problem, labels: Labels, plan: SearchPlan, pool: Executor) -> SweepResult:
    """Move subjects from labels 0 .. K - 1 until a scan would move nobody; like `settle`, for many subjects.

    As long as many would move, all of them do so at once, and what comes of it is kept if the joint has risen.
    """
    arrays, least = problem.cohort.arrays, minimum_gain(problem)
    partition = new_partition(arrays, compact(labels))
    trace = [log_joint(problem, partition)]
    converged, hasty = False, _HASTY_ROUNDS
    while not converged and len(trace) <= plan.max_sweeps and not plan.cancelled.is_set():
        found = _scan_all(problem, partition, least, pool)
        n_clusters = int(partition.n_clusters[0])
        converged = found.candidates.size == 0
        if converged:
            break
        many = found.candidates.size > _FEW * labels.size
        if hasty and many and found.sizes[n_clusters] == 0.0 and (found.sizes[:n_clusters] > 0.0).all():
            hasty -= 1
            moved = partition._replace(labels=found.labels, sizes=found.sizes, statistics=found.statistics)
            joint = log_joint(problem, moved)
            if joint > trace[-1]:
                partition = moved
                trace.append(joint)
                continue
        position = 0
        while position < found.candidates.size:
            position, _ = make_moves(arrays, problem.model, partition, found.candidates, position, minimum_gain=least)
            if position < found.candidates.size:
                partition = grow(arrays, partition)
        # Sums that were added to and taken from drift in the last digits; from here they are exact again.
        _add_up_all(problem, partition, pool)
        trace.append(log_joint(problem, partition))
    return SweepResult(partition, trace, converged)
