"""Draws of the hyperparameters given a partition, under the weak hyperprior of `joint_estimates.hyperprior`.

Given a partition, the features are independent of each other. Every feature makes a random walk of its own (Metropolis
et al. 1953) in u, the offsets from the default, in which the hyperprior is standard normal; all features with the same
conjugate prior make their steps at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clinclust.engine.joint_estimates.empirical import objectives
from clinclust.engine.joint_estimates.hyperprior import Hyperprior, with_prior

if TYPE_CHECKING:
    from clinclust.engine.kernels.partition import Partition
    from clinclust.engine.problem.problem import Problem

__all__ = ["draw_hyperparameters"]

_STEPS = np.array([0.1, 0.3, 1.0])
"""Standard deviations of the steps in all hyperparameters of a feature together, of which each step draws one."""
_N_STEPS = 3


def draw_hyperparameters(
    problem: Problem, partition: Partition, hyperprior: Hyperprior, rng: np.random.Generator
) -> Problem:
    """Return the problem with the next hyperparameters of a chain that is at this problem and partition.

    Hyperparameters that are not free keep their values.
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
