"""One Markov chain of partitions: sweeps of Gibbs sampling, with divisions and mergers of clusters between them.

The concentration and the hyperparameters may be drawn too, under the hyperpriors of `joint_estimates`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from clinclust.arrays import Labels
from clinclust.engine.joint_estimates.concentration import log_concentration_hyperprior
from clinclust.engine.joint_estimates.empirical_bayes import Hyperprior, objectives, with_prior
from clinclust.engine.kernels.partition import Model, Partition, accumulate, grow
from clinclust.engine.kernels.sweep import UNLIMITED, draw_moves
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import Problem
from clinclust.engine.sampling.division import divide_or_merge, far_first
from clinclust.priors.conjugate import log_gamma_ratio

_WIDTH = 1.0
_LEAST, _MOST = math.log(1e-12), math.log(1e12)
"""Bounds of u, beyond which the log joint has fewer digits, and the hyperprior practically no mass."""
_STEPS = np.array([0.1, 0.3, 1.0])
"""Standard deviations of the steps in all hyperparameters of a feature together, of which each step draws one."""
_N_STEPS = 3
_NOBODY = np.empty(0, dtype=np.int64)
_OFTEN = 100
"""Sweeps after each of which something is proposed, because a chain begins far from the posterior. Later proposals are
rarer: one takes as long as ten sweeps."""


@dataclass(frozen=True)
class Draw:
    """One state of a chain."""

    labels: Labels
    """(N,) clusters 0 .. K - 1."""
    log_joint: float
    """In nats, with the log hyperpriors of what is drawn in addition to the partition."""
    model: Model


@dataclass(frozen=True)
class Unknown:
    """What a chain draws in addition to the partition."""

    concentration: bool = False
    hyperprior: Hyperprior | None = None
    """The hyperprior under which the hyperparameters are drawn; None if they are not."""


FIXED = Unknown()
"""Only the partition is drawn."""


class Chain:
    """A chain that continues from its last state; after a hundred sweeps, every `sweeps_a_proposal`-th one proposes."""

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
        self._partition: Partition = problem.partition(labels)
        self._drawn_first = far_first(problem)
        self._unknown = unknown
        self._n_sweeps = self.n_accepted = 0

    def step(self) -> Draw:
        """Make one sweep in random order, perhaps propose a division or a merger, and draw what else is unknown."""
        self._sweep()
        if self._n_sweeps < _OFTEN or self._n_sweeps % self._sweeps_a_proposal == 0:
            proposed = divide_or_merge(self.problem, self._partition, self._drawn_first, self._rng)
            if proposed is not None:
                self.n_accepted += 1
                self._partition = self.problem.partition(proposed, self._partition.sizes.size)
        self._n_sweeps += 1
        self._draw_unknown()
        return Draw(self._partition.labels.copy(), self._log_joint(), self.problem.model)

    def _sweep(self) -> None:
        arrays, model = self.problem.cohort.arrays, self.problem.model
        order = self._rng.permutation(self.problem.cohort.n_subjects)
        uniforms, position = self._rng.random(order.size), 0
        while position < order.size:
            position, _ = draw_moves(arrays, model, self._partition, order, position, uniforms, _NOBODY, UNLIMITED)
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


def draw_concentration(
    concentration: float, n_subjects: int, n_clusters: int, discount: float, rng: np.random.Generator
) -> float:
    """Return the next concentration of a chain, by slice sampling of the log-concave density of ln N0 (Neal 2003)."""
    at = math.log(concentration)
    level = _log_density(at, n_subjects, n_clusters, discount) + math.log1p(-rng.random())
    low = at - _WIDTH * rng.random()
    high = low + _WIDTH
    while low > _LEAST and _log_density(low, n_subjects, n_clusters, discount) > level:
        low -= _WIDTH
    while high < _MOST and _log_density(high, n_subjects, n_clusters, discount) > level:
        high += _WIDTH
    low, high = max(low, _LEAST), min(high, _MOST)
    while True:
        drawn = low + (high - low) * rng.random()
        if _log_density(drawn, n_subjects, n_clusters, discount) >= level:
            return math.exp(drawn)
        low, high = (drawn, high) if drawn < at else (low, drawn)


def _log_density(u: float, n_subjects: int, n_clusters: int, discount: float) -> float:
    """Return ln p(u | N, K) up to a constant."""
    concentration = math.exp(u)
    opened = float(np.log(concentration + discount * np.arange(n_clusters)).sum())
    seated = float(log_gamma_ratio(concentration, n_subjects))
    return opened - seated + log_concentration_hyperprior(concentration)


def draw_hyperparameters(
    problem: Problem, partition: Partition, hyperprior: Hyperprior, rng: np.random.Generator
) -> Problem:
    """Return the problem with the next hyperparameters of a chain that is at this problem and partition.

    Every feature makes a random walk of its own (Metropolis et al. 1953) in the offsets from the default, in which the
    hyperprior is standard normal.
    """
    prior = problem.model.prior.copy()
    for places, objective in objectives(problem, partition, hyperprior):
        free = hyperprior.free[places]
        at = hyperprior.offsets(prior[places], places)
        values, _ = objective(at)
        for _ in range(_N_STEPS):
            size = rng.choice(_STEPS, (len(at), 1)) / np.sqrt(np.maximum(free.sum(axis=1, keepdims=True), 1))
            proposed = np.where(free, at + size * rng.normal(size=at.shape), at)
            proposed_values, _ = objective(proposed)
            is_accepted = np.log1p(-rng.random(len(at))) < proposed_values - values
            at = np.where(is_accepted[:, None], proposed, at)
            values = np.where(is_accepted, proposed_values, values)
        prior[places] = np.where(free, hyperprior.prior_at(at, places), prior[places])
    return with_prior(problem, prior)
