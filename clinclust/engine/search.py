"""Search for the partition with the highest log joint: restarts from different places, each to a fixed point."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.objective import log_joint
from clinclust.engine.partition import Partition, grow, new_partition, rebuild
from clinclust.engine.sweep import sweep

if TYPE_CHECKING:
    from clinclust.engine.encoding import EncodedCohort

__all__ = [
    "Restart",
    "Start",
    "by_decreasing_size",
    "run_restarts",
    "search_starts",
    "settle",
    "single_starts",
]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

# Sizes of the random partitions that the search starts from, taken in turn. A start with too many clusters loses the
# superfluous ones within a sweep or two; one with too few rarely gains any, because a single value in a new cluster
# is scored by the vague prior. Hence mostly more clusters than cohorts have subtypes.
_RANDOM_SIZES = (8, 4, 12, 2, 20, 6, 16, 3, 10)


class Start(NamedTuple):
    """Where a restart begins."""

    name: str
    labels: Labels
    order: Labels
    """(N,) the subjects in the order of their visit."""
    ignore_size: bool = False
    """Count cluster 0 as one subject in the first sweep (Raykov et al. 2016, appendix B)."""


@dataclass(frozen=True)
class Restart:
    """What one restart found."""

    start: str
    labels: Labels
    log_joint: float
    trace: Array
    """Log joint before the first sweep (after it, where the start ignores sizes) and after every other."""
    n_sweeps: int
    converged: bool
    seconds: float


def single_starts(n_subjects: int, n_restarts: int, seeds: list[np.random.SeedSequence]) -> list[Start]:
    """Return the paper's starts: everybody in one cluster, visited in random orders (appendices B and C)."""
    together = np.zeros(n_subjects, dtype=np.int64)
    return [
        Start("single", together, np.random.default_rng(seed).permutation(n_subjects), ignore_size=True)
        for seed in seeds[:n_restarts]
    ]


def search_starts(n_subjects: int, n_restarts: int, seeds: list[np.random.SeedSequence]) -> list[Start]:
    """Return starts of several kinds: random partitions of different sizes, and the paper's single cluster."""
    starts = []
    for index, seed in enumerate(seeds[:n_restarts]):
        if index == 1:
            starts += single_starts(n_subjects, 1, [seed])
            continue
        rng = np.random.default_rng(seed)
        n_clusters = min(_RANDOM_SIZES[index % len(_RANDOM_SIZES)], n_subjects)
        labels = np.unique(rng.integers(n_clusters, size=n_subjects), return_inverse=True)[1]
        starts.append(Start(f"random {n_clusters}", labels.astype(np.int64), rng.permutation(n_subjects)))
    return starts


def settle(
    cohort: EncodedCohort, prior: Array, concentration: float, start: Start, max_sweeps: int, cancelled: Event
) -> Restart:
    """Sweep from a start until a full sweep moves nobody."""
    began = time.perf_counter()
    log_concentration = float(np.log(concentration))
    minimum_gain = _minimum_gain(cohort)
    arrays = cohort.arrays
    partition = new_partition(arrays, start.labels)
    rebuild(arrays, prior, log_concentration, partition)
    trace = [] if start.ignore_size else [_joint(cohort, prior, concentration, partition)]
    n_sweeps, converged = 0, False
    while not converged and n_sweeps < max_sweeps and not cancelled.is_set():
        ignore_size = start.ignore_size and n_sweeps == 0
        position = moves = 0
        while position < start.order.size:
            position, made = sweep(
                arrays, prior, log_concentration, partition, start.order, position, minimum_gain, ignore_size
            )
            moves += made
            if position < start.order.size:
                partition = grow(arrays, partition)
                rebuild(arrays, prior, log_concentration, partition)
        n_sweeps += 1
        # Sums that were added to and taken from drift in the last digits; from here they are exact again.
        rebuild(arrays, prior, log_concentration, partition)
        trace.append(_joint(cohort, prior, concentration, partition))
        converged = moves == 0 and not ignore_size
    return Restart(
        start=start.name,
        labels=partition.labels,
        log_joint=trace[-1],
        trace=np.array(trace),
        n_sweeps=n_sweeps,
        converged=converged,
        seconds=time.perf_counter() - began,
    )


def run_restarts(
    cohort: EncodedCohort,
    prior: Array,
    concentration: float,
    starts: list[Start],
    *,
    max_sweeps: int,
    n_jobs: int | None = None,
    finished: Callable[[Restart], object] = lambda restart: None,
) -> list[Restart]:
    """Settle from every start, on threads; the results come in the order of the starts, whatever the threads did.

    Parameters
    ----------
    n_jobs : int, optional
        Threads; by default one for each processor that this process may use.
    finished : callable
        Called with each restart when it is done, in no particular order, on the caller's thread.
    """
    n_jobs = (
        n_jobs or len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else n_jobs or os.cpu_count()
    )
    cancelled = Event()
    with ThreadPoolExecutor(max_workers=n_jobs) as pool:
        futures = [
            pool.submit(settle, cohort, prior, concentration, start, max_sweeps, cancelled)
            for start in starts
        ]
        try:
            for future in as_completed(futures):
                finished(future.result())
        except BaseException:
            # Ctrl-C reaches this thread only: the others stop at the end of their sweep.
            cancelled.set()
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


def by_decreasing_size(labels: Labels) -> Labels:
    """Rename clusters 0 .. K - 1 by decreasing size; of two as large, the one whose first member comes first."""
    _, first, inverse, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(sizes.size, dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(sizes.size)
    return rank[inverse]


def _joint(cohort: EncodedCohort, prior: Array, concentration: float, partition: Partition) -> float:
    k = int(partition.n_clusters[0])
    return log_joint(cohort, prior, concentration, partition.sizes[:k], partition.statistics[:k])


def _minimum_gain(cohort: EncodedCohort) -> float:
    """Return the smallest rise of the log joint that is not rounding: the error of a sum grows with its terms."""
    return 1e-9 + 1e-13 * cohort.n_subjects * len(cohort.encoding.features)
