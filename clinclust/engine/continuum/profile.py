"""What the best divisions of subjects into 2, 3, ... clusters gain over one cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.continuum.divisions import best_division, joint_of_one, swept
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["profile"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_POLISHING_SWEEPS = 4


def profile(part: Problem, most_clusters: int, rng: np.random.Generator) -> Array:
    """Return the gains G_2, G_3, ... in log joint over one cluster, in nats, float64 (most_clusters - 1,).

    The cluster whose best division gains most is divided, again and again. From the third cluster on, this ends when
    nothing is gained any more, and the last gain is carried on: G does not decrease. The last gain is that after a few
    sweeps through all clusters, if it is higher. Two-way divisions alone would be blind to several subtypes of equal
    size, of which no two together are set apart from the others.

    Parameters
    ----------
    part : Problem
        Problem of the subjects alone.
    most_clusters : int
        At least 2.
    rng : numpy.random.Generator
    """
    labels, one = np.zeros(part.cohort.n_subjects, dtype=np.int64), joint_of_one(part)
    gains: list[float] = []
    divisions = [best_division(part, rng)]
    while len(gains) < most_clusters - 1:
        cluster = max(range(len(divisions)), key=lambda k: divisions[k].gain)
        if divisions[cluster].gain == -np.inf:
            break
        divided = _divided(labels, cluster, divisions[cluster].labels)
        gain = log_joint(part, new_partition(part.cohort.arrays, divided)) - one
        if gains and gain <= gains[-1]:
            break
        labels = divided
        gains.append(gain)
        if len(gains) < most_clusters - 1:
            halves = [_part_of(part, labels, half) for half in (cluster, len(gains))]
            divisions[cluster], after = (best_division(half, rng) for half in halves)
            divisions.append(after)
    found = np.array(gains or [0.0])
    found = np.concatenate([found, np.full(most_clusters - 1 - found.size, found[-1])])
    if gains:
        found[-1] = max(found[-1], log_joint(part, swept(part, labels, _POLISHING_SWEEPS)) - one)
    return found


def _divided(labels: Labels, cluster: int, halves: Labels) -> Labels:
    """Return labels in which the second half of a cluster is a new cluster, the last."""
    divided = labels.copy()
    divided[np.flatnonzero(labels == cluster)[halves == 1]] = labels.max() + 1
    return divided


def _part_of(part: Problem, labels: Labels, cluster: int) -> Problem:
    return part.restricted_to(np.flatnonzero(labels == cluster), 0)
