"""Alternation of search and estimation: the partition given the model, then the model given the partition.

The objective is the extended joint, with the log hyperpriors of the estimated parameters:

    ln p(X_obs, z | theta, N0) + ln h(theta) + ln h(N0)

The search raises the first term, and a new model is accepted only if it raises the sum, so that the alternation ends.
`choose_greedily` tries values without a hyperprior instead, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clinclust.arrays import Array
from clinclust.engine.joint_estimates.concentration import concentration_mode, log_concentration_hyperprior
from clinclust.engine.joint_estimates.empirical_bayes import Hyperprior, maximise_hyperparameters, with_prior
from clinclust.engine.kernels.partition import Partition
from clinclust.engine.problem.objective import joint_of, log_joint
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.plan import Budget, RestartResult, SearchPlan
from clinclust.engine.search.restarts import index_of_best
from clinclust.engine.search.settle import minimum_gain, settle
from clinclust.engine.search.starts import Start, starts_from

Search = Callable[[Problem, list[Start]], list[RestartResult]]
"""`run_restarts` or `run_selecting_restarts` with a fixed plan: it takes a problem and starts, and returns restarts."""

_MOST_ROUNDS = 20
_LEAST_GAIN = 1e-6
"""Nats by which a new model must raise the extended joint, above the error of the maximisation."""
_FACTORS = (1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0)
"""Factors by which a positive hyperparameter is multiplied; the paper does not give values."""
_STEPS = (-1.0, -0.5, 0.5, 1.0)
"""Steps of the prior mean of a Gaussian feature, in its standard deviations."""


@dataclass(frozen=True)
class Estimated:
    """The parts of the model that are estimated in addition to the partition."""

    hyperprior: Hyperprior | None = None
    """Hyperprior of the hyperparameters; None if they are not estimated."""
    concentration: bool = False
    """Whether the concentration is estimated."""

    def log_hyperprior(self, problem: Problem) -> float:
        """Return the sum of the log hyperpriors of the estimated parameters, in nats."""
        total = 0.0
        if self.hyperprior is not None:
            total += self.hyperprior.log_density(problem.model.prior)
        if self.concentration:
            total += log_concentration_hyperprior(problem.model.concentration)
        return total

    def maximised(self, problem: Problem, partition: Partition) -> Problem:
        """Return the problem with the model that maximises the extended joint given a partition."""
        if self.hyperprior is not None:
            problem = maximise_hyperparameters(problem, partition, self.hyperprior)
        if self.concentration:
            n_clusters = int(partition.n_clusters[0])
            mode = concentration_mode(problem.cohort.n_subjects, n_clusters, problem.model.discount)
            problem = replace(problem, model=problem.model._replace(concentration=mode))
        return problem


def alternate(
    problem: Problem,
    restarts: list[RestartResult],
    starts: list[Start],
    estimated: Estimated,
    search: Search,
    budget: Budget,
) -> tuple[Problem, list[RestartResult]]:
    """Estimate the model from the best partition and continue the search, in turns, until neither changes.

    Return the problem with the last model, and as many restarts, with log joints under the last model; the best one is
    continued. Traces show the extended joint less the log hyperprior of the last model.
    """
    if estimated.hyperprior is None and not estimated.concentration:
        return problem, restarts  # keep the log joints: after feature selection they include the prior of the selection
    for turn in range(_MOST_ROUNDS):
        if turn and budget.used_up():
            break
        best = restarts[index_of_best(restarts)]
        partition = problem.partition(best.labels)
        candidate = estimated.maximised(problem, partition)
        fall = estimated.log_hyperprior(problem) - estimated.log_hyperprior(candidate)
        if log_joint(candidate, partition) - fall - best.log_joint <= _LEAST_GAIN:
            break
        problem = candidate
        restarts = carry_on(problem, restarts, starts, search, fall)
    return problem, restarts


def carry_on(
    problem: Problem, restarts: list[RestartResult], starts: list[Start], search: Search, fall: float = 0.0
) -> list[RestartResult]:
    """Compute the log joint of all restarts under a new model, and continue the search from the best of them.

    `fall` is the decrease of the log hyperprior by the new model, in nats, which is added to the traces.
    """
    restarts = [
        replace(restart, log_joint=joint_of(problem, restart.labels), trace=restart.trace + fall)
        for restart in restarts
    ]
    lead = index_of_best(restarts)
    best = restarts[lead]
    restarts[lead] = best.followed_by(search(problem, starts_from(best.labels, [starts[0].seed]))[0])
    return restarts


def choose_greedily(
    problem: Problem, restarts: list[RestartResult], starts: list[Start], search: Search, plan: SearchPlan
) -> tuple[Problem, list[RestartResult]]:
    """Set one hyperparameter after the other to the value with the highest log joint (Raykov et al. 2016, app. G.2).

    Differences to the paper: results are compared by the log joint, not by eq. 12, which sweeps do not minimise; sweeps
    continue from the best partition so far, and clusters are merged and divided once, at the end; the first values are
    the defaults; each hyperparameter that the schema does not state is changed once, by `_FACTORS` or `_STEPS`.
    """
    hyperprior = Hyperprior.of(problem)
    lead = index_of_best(restarts)
    best = restarts[lead]
    for index in np.flatnonzero(hyperprior.free):
        if plan.budget.used_up():
            break
        here = problem
        for value in _values(problem.model.prior[index], bool(hyperprior.location[index])):
            prior = here.model.prior.copy()
            prior[index] = value
            candidate = with_prior(here, prior)
            settled = settle(candidate, best.labels, starts[0].order, plan.max_sweeps, plan.cancelled, traced=False)
            if settled.converged and settled.trace[-1] > best.log_joint + minimum_gain(problem):
                problem = candidate
                best = best.raised_to(settled.trace[-1], settled.partition.labels)
    restarts = [best if index == lead else restart for index, restart in enumerate(restarts)]
    return problem, carry_on(problem, restarts, starts, search)


def _values(default: float, location: bool) -> Array:
    return np.asarray(default + np.array(_STEPS) if location else default * np.array(_FACTORS))
