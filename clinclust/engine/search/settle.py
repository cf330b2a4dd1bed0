"""Iterated conditional modes: sweep until no subject moves in a full sweep."""

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
    """Result of the sweeps from one start."""

    partition: Partition
    trace: list[float]
    """Log joint after each sweep, or only after the last sweep."""
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
    """Sweep from labels 0 .. K - 1 until no subject moves in a full sweep.

    Parameters
    ----------
    problem : Problem
    labels : int64 (N,)
    order : int64 (N,)
        The subjects in the order of their visit.
    max_sweeps : int
    cancelled : threading.Event
        When it is set, the search stops at the end of the sweep.
    ignore_size : bool
        Whether the first sweep scores cluster 0 as if it held one subject. This sweep may then lower the log joint.
    traced : bool
        Whether to compute the log joint after each sweep; otherwise only after the last sweep.
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
        # Additions and subtractions change the last digits of the sums, which are therefore computed anew.
        accumulate(arrays, partition)
        n_sweeps += 1
        converged = moves == 0 and not ignore_size
        ignore_size = False
        if traced or converged or n_sweeps == max_sweeps:
            trace.append(log_joint(problem, partition))
    return SweepResult(partition, trace, converged)


def hasten(problem: Problem, labels: Labels, n_rounds: int = 12) -> Labels:
    """Move all subjects at once to their best clusters, in a few rounds, like K-means; return labels 0 .. K - 1.

    The log joint may fall. From a random partition, in which nearly all subjects move, this takes a tenth of the time
    of a sweep, because a sweep recomputes log predictives after every single move.
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
    """Return the smallest rise of the log joint, in nats, that counts as one and not as a rounding error.

    The rounding error of a sum grows with its number of terms, so the threshold grows with N D, and with the size of
    the terms: the log base measure of large counts is cancelled by the log marginals.
    """
    arrays = problem.cohort.arrays
    largest = float(np.abs(arrays.level_log_base).max())
    return 1e-9 + (1e-13 + 1e-15 * largest) * problem.cohort.n_subjects * len(problem.cohort.encoding.features)
