"""Iterated conditional modes: sweep until a full sweep moves nobody."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import Partition, accumulate, grow, new_partition
from clinclust.engine.kernels.sweep import find_best, make_moves
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.labels import compact

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["SweepResult", "hasten", "minimum_gain", "settle"]

Labels = NDArray[np.int64]


class SweepResult(NamedTuple):
    """Where the sweeps ended."""

    partition: Partition
    trace: list[float]
    """Log joint after each sweep, or only after the last."""
    converged: bool


def settle(
    problem: Problem,
    labels: Labels,
    order: Labels,
    max_sweeps: int,
    cancelled: Event,
    *,
    ignore_size: bool = False,
    traced: bool = True,
) -> SweepResult:
    """Sweep from labels 0 .. K - 1 until a full sweep moves nobody.

    Parameters
    ----------
    problem : Problem
    labels : int64 (N,)
    order : int64 (N,)
        The subjects in the order of their visit.
    max_sweeps : int
    cancelled : threading.Event
        Stop at the end of the sweep when it is set.
    ignore_size : bool
        Count cluster 0 as one subject in the first sweep, which may therefore lower the joint.
    traced : bool
        Whether to compute the log joint after each sweep, and not only after the last.
    """
    arrays = problem.cohort.arrays
    least = minimum_gain(problem)
    partition = new_partition(arrays, labels)
    trace: list[float] = []
    n_sweeps, converged = 0, False
    while not converged and n_sweeps < max_sweeps and not cancelled.is_set():
        position = moves = 0
        while position < order.size:
            position, made = make_moves(
                arrays, problem.model, partition, order, position, minimum_gain=least, ignore_size=ignore_size
            )
            moves += made
            if position < order.size:
                partition = grow(arrays, partition)
        # Sums that were added to and taken from drift in the last digits; from here they are exact again.
        accumulate(arrays, partition)
        n_sweeps += 1
        converged = moves == 0 and not ignore_size
        ignore_size = False
        if traced or converged or n_sweeps == max_sweeps:
            trace.append(log_joint(problem, partition))
    return SweepResult(partition, trace, converged)


def hasten(problem: Problem, labels: Labels, n_rounds: int = 12) -> Labels:
    """Move everybody at once to the best cluster, a few times, as K-means does; return labels 0 .. K - 1.

    The joint may fall on the way. From a random partition, where nearly everybody moves, this costs a tenth of a
    sweep, which brings the log predictives up to date after each single move.
    """
    arrays = problem.cohort.arrays
    partition = new_partition(arrays, labels)
    best = np.empty_like(partition.labels)
    for _ in range(n_rounds):
        find_best(arrays, problem.model, partition, best, most_clusters=int(partition.n_clusters[0]))
        moved = bool((best != partition.labels).any())
        partition.labels[:] = compact(best)
        partition.n_clusters[0] = partition.labels.max() + 1
        accumulate(arrays, partition)
        if not moved:
            break
    return partition.labels


def minimum_gain(problem: Problem) -> float:
    """Return the smallest rise of the log joint that is not rounding: the error of a sum grows with its terms."""
    return 1e-9 + 1e-13 * problem.cohort.n_subjects * len(problem.cohort.encoding.features)
