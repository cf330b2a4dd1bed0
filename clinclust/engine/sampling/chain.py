"""One Markov chain of partitions: sweeps of Gibbs sampling, with divisions and mergers of clusters between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.kernels.draws import draw_moves
from clinclust.engine.kernels.partition import Partition, accumulate, grow, new_partition
from clinclust.engine.kernels.sweep import UNLIMITED
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.sampling.division import divide_or_merge, far_first

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["Chain", "Draw"]

Labels = NDArray[np.int64]

_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Draw:
    """One state of a chain: its labels, int64 (N,), and its log joint in nats."""

    labels: Labels
    log_joint: float


class Chain:
    """A chain that goes on from where it was.

    Parameters
    ----------
    problem : Problem
    labels : int64 (N,)
        Clusters 0 .. K - 1 at which the chain begins.
    rng : numpy.random.Generator
        All draws of the chain; no other chain may use it.
    proposals : int
        Divisions or mergers proposed after each sweep.
    """

    def __init__(self, problem: Problem, labels: Labels, rng: np.random.Generator, *, proposals: int = 2) -> None:
        self._problem, self._rng, self._proposals = problem, rng, proposals
        self._partition: Partition = new_partition(problem.cohort.arrays, labels)
        self._drawn_first = far_first(problem)
        self.n_proposed = self.n_accepted = 0

    def step(self) -> Draw:
        """Make one sweep in random order, and propose divisions or mergers; return the state."""
        problem, arrays = self._problem, self._problem.cohort.arrays
        order = self._rng.permutation(problem.cohort.n_subjects)
        uniforms, position = self._rng.random(order.size), 0
        while position < order.size:
            position, _ = draw_moves(
                arrays, problem.model, self._partition, order, position, uniforms, _NOBODY, UNLIMITED, 1.0
            )
            if position < order.size:
                self._partition = grow(arrays, self._partition)
        # Additions and subtractions change the last digits of the sums, which are therefore computed anew.
        accumulate(arrays, self._partition)
        for _ in range(self._proposals):
            self.n_proposed += 1
            proposed = divide_or_merge(problem, self._partition, self._drawn_first, self._rng)
            if proposed is not None:
                self.n_accepted += 1
                self._partition = new_partition(arrays, proposed, self._partition.sizes.size)
        return Draw(self._partition.labels.copy(), log_joint(problem, self._partition))
