"""The best division of subjects into two clusters, and sweeps that open no cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.partition import Partition, accumulate, new_partition
from clinclust.engine.kernels.sweep import make_moves
from clinclust.engine.problem.numeric_columns import principal_axis
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.settle import minimum_gain

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["Division", "best_division", "joint_of_one", "swept"]

Labels = NDArray[np.int64]

_CUTS = (0.5, 0.1, 0.9)
"""Quantiles of the principal axis at which a division begins: the middle, and small subtypes at either end."""
_SWEEPS = 8
_NO_NEW_CLUSTER = 1
"""Value of `most_clusters` at which no subject opens a cluster, however many there are."""


class Division(NamedTuple):
    """A division of subjects into two clusters."""

    gain: float
    """Log joint less that of one cluster, in nats; -inf if no two clusters were found."""
    labels: Labels
    """(M,) 0 or 1; all 0 if no two clusters were found."""


def swept(part: Problem, labels: Labels, most_sweeps: int) -> Partition:
    """Return the partition after sweeps that open no cluster; they end when nobody moves. Clusters may empty."""
    arrays = part.cohort.arrays
    partition, order, least = new_partition(arrays, labels), np.arange(labels.size), minimum_gain(part)
    for _ in range(most_sweeps):
        _, moves = make_moves(arrays, part.model, partition, order, minimum_gain=least, most_clusters=_NO_NEW_CLUSTER)
        if moves == 0:
            break
    accumulate(arrays, partition)  # moves add and subtract, which changes the last digits of sums
    return partition


def joint_of_one(part: Problem) -> float:
    """Return the log joint of one cluster of all subjects."""
    return log_joint(part, new_partition(part.cohort.arrays, np.zeros(part.cohort.n_subjects, dtype=np.int64)))


def best_division(part: Problem, rng: np.random.Generator, given: Labels | None = None) -> Division:
    """Divide subjects into the two clusters with the highest log joint that sweeps find, from cuts of their main axis.

    Parameters
    ----------
    part : Problem
        Problem of the M subjects alone.
    rng : numpy.random.Generator
        Draws the first direction of the power iteration that finds the principal axis.
    given : int64 (M,), optional
        A division, 0 or 1, from which to start as well.
    """
    n_subjects, best = part.cohort.n_subjects, Division(-np.inf, np.zeros(part.cohort.n_subjects, dtype=np.int64))
    if n_subjects < 2:
        return best
    along = np.argsort(principal_axis(part.cohort.arrays, rng), kind="stable")
    starts = [_cut(along, share) for share in _CUTS]
    if given is not None and 0 < given.sum() < n_subjects:
        starts.append(given)
    one = joint_of_one(part)
    for start in starts:
        partition = swept(part, start, _SWEEPS)
        if partition.n_clusters[0] == 2 and (gain := log_joint(part, partition) - one) > best.gain:
            best = Division(gain, partition.labels)
    return best


def _cut(along: NDArray[np.intp], share: float) -> Labels:
    """Return 1 for the subjects above this share of those sorted along the axis, at least one on each side."""
    n_below = min(max(round(share * along.size), 1), along.size - 1)
    labels = np.zeros(along.size, dtype=np.int64)
    labels[along[n_below:]] = 1
    return labels
