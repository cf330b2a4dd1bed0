"""One Markov chain of partitions: sweeps of Gibbs sampling, with divisions and mergers of clusters between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.concentration import log_concentration_hyperprior
from clinclust.engine.joint_estimates.hyperprior import Hyperprior
from clinclust.engine.kernels.draws import draw_moves
from clinclust.engine.kernels.partition import Partition, accumulate, grow, new_partition
from clinclust.engine.kernels.sweep import UNLIMITED
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.sampling.concentration_draws import draw_concentration
from clinclust.engine.sampling.division import divide_or_merge, far_first
from clinclust.engine.sampling.hyperparameter_draws import draw_hyperparameters

if TYPE_CHECKING:
    from clinclust.engine.kernels.model import Model
    from clinclust.engine.problem.problem import Problem

__all__ = ["FIXED", "Chain", "Draw", "Unknown"]

Labels = NDArray[np.int64]

_NOBODY = np.empty(0, dtype=np.int64)
_OFTEN = 100
"""Sweeps after each of which something is proposed, because a chain begins far from where it belongs.

A proposal takes as long as ten sweeps. Proposed after every eighth sweep, rather than twice after each, the effective
draws in a second were 2.5 to 4 times as many (527 subjects with 12 features, 300 with 6)."""


@dataclass(frozen=True)
class Draw:
    """One state of a chain.

    Attributes
    ----------
    labels : int64 (N,)
        Clusters 0 .. K - 1.
    log_joint : float
        In nats; what is drawn beside the partition adds its log hyperprior.
    model : Model
        The concentration and the hyperparameters, on the encoded scale.
    """

    labels: Labels
    log_joint: float
    model: Model


@dataclass(frozen=True)
class Unknown:
    """What a chain draws beside the partition; all else stays as the problem has it.

    Attributes
    ----------
    concentration : bool
        Whether the concentration is drawn, under the hyperprior of `clinclust.engine.joint_estimates.concentration`.
    hyperprior : Hyperprior or None
        The hyperprior under which the hyperparameters are drawn.
    """

    concentration: bool = False
    hyperprior: Hyperprior | None = None


FIXED = Unknown()
"""Only the partition is drawn."""


class Chain:
    """A chain that goes on from where it was.

    Parameters
    ----------
    problem : Problem
        The concentration and hyperparameters at which the chain begins.
    labels : int64 (N,)
        Clusters 0 .. K - 1 at which the chain begins.
    rng : numpy.random.Generator
        All draws of the chain; no other chain may use it.
    unknown : Unknown
    sweeps_a_proposal : int
        A division or a merger is proposed after the first hundred sweeps each, and later after every so-many-th.
    """

    def __init__(
        self,
        problem: Problem,
        labels: Labels,
        rng: np.random.Generator,
        unknown: Unknown = FIXED,
        *,
        sweeps_a_proposal: int = 8,
    ) -> None:
        self.problem, self._rng, self._sweeps_a_proposal = problem, rng, sweeps_a_proposal
        self._partition: Partition = new_partition(problem.cohort.arrays, labels)
        self._drawn_first = far_first(problem)
        self._unknown = unknown
        self._n_sweeps = self.n_proposed = self.n_accepted = 0

    def step(self) -> Draw:
        """Make one sweep in random order, perhaps propose a division or a merger, and draw what else is unknown."""
        self._sweep()
        if self._n_sweeps < _OFTEN or self._n_sweeps % self._sweeps_a_proposal == 0:
            self.n_proposed += 1
            proposed = divide_or_merge(self.problem, self._partition, self._drawn_first, self._rng)
            if proposed is not None:
                self.n_accepted += 1
                self._partition = new_partition(self.problem.cohort.arrays, proposed, self._partition.sizes.size)
        self._n_sweeps += 1
        self._draw_unknown()
        return Draw(self._partition.labels.copy(), self._log_joint(), self.problem.model)

    def _sweep(self) -> None:
        arrays, model = self.problem.cohort.arrays, self.problem.model
        order = self._rng.permutation(self.problem.cohort.n_subjects)
        uniforms, position = self._rng.random(order.size), 0
        while position < order.size:
            position, _ = draw_moves(arrays, model, self._partition, order, position, uniforms, _NOBODY, UNLIMITED, 1.0)
            if position < order.size:
                self._partition = grow(arrays, self._partition)
        # Additions and subtractions change the last digits of the sums, which are therefore computed anew.
        accumulate(arrays, self._partition)

    def _draw_unknown(self) -> None:
        if self._unknown.concentration:
            model, n_clusters = self.problem.model, int(self._partition.n_clusters[0])
            n_subjects = self.problem.cohort.n_subjects
            drawn = draw_concentration(model.concentration, n_subjects, n_clusters, model.discount, self._rng)
            self.problem = replace(self.problem, model=model._replace(concentration=drawn))
        if self._unknown.hyperprior is not None:
            self.problem = draw_hyperparameters(self.problem, self._partition, self._unknown.hyperprior, self._rng)

    def _log_joint(self) -> float:
        found = log_joint(self.problem, self._partition)
        if self._unknown.concentration:
            found += log_concentration_hyperprior(self.problem.model.concentration)
        if self._unknown.hyperprior is not None:
            found += self._unknown.hyperprior.log_density(self.problem.model.prior)
        return found
