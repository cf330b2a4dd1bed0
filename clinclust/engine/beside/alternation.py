"""Search and estimation in turns: the partition given the model, the model given the partition.

What rises is the extended joint, the log joint plus the log hyperpriors of what is estimated:

    ln p(X_obs, z | theta, N0) + ln h(theta) + ln h(N0)

The search raises its first term, and a new model is accepted only when it raises the sum. So it never falls, and since
the hyperpriors bound it, the turns end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from clinclust.engine.beside.concentration import concentration_mode, log_concentration_hyperprior
from clinclust.engine.beside.empirical import maximise_hyperparameters
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.restarts import index_of_best
from clinclust.engine.search.starts import starts_from

if TYPE_CHECKING:
    from clinclust.engine.beside.hyperprior import Hyperprior
    from clinclust.engine.kernels.partition import Partition
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.one_start import RestartResult
    from clinclust.engine.search.starts import Start

__all__ = ["MOST_ROUNDS", "Estimated", "Search", "alternate", "carry_on"]

Search = Callable[["Problem", list["Start"]], list["RestartResult"]]
"""`run_restarts` or `run_selecting_restarts` with the plan settled: what it finds of a problem from some starts."""

MOST_ROUNDS = 20
_LEAST_GAIN = 1e-6
"""Nats by which a new model must raise the extended joint; less is the precision of the maximisation."""


@dataclass(frozen=True)
class Estimated:
    """What is estimated beside the partition.

    Attributes
    ----------
    hyperprior : Hyperprior or None
        Of the hyperparameters, if they are.
    concentration : bool
        Whether the concentration is.
    """

    hyperprior: Hyperprior | None = None
    concentration: bool = False

    def log_hyperprior(self, problem: Problem) -> float:
        """Return the sum of the log hyperpriors."""
        total = 0.0
        if self.hyperprior is not None:
            total += self.hyperprior.log_density(problem.model.prior)
        if self.concentration:
            total += log_concentration_hyperprior(problem.model.concentration)
        return total

    def maximised(self, problem: Problem, partition: Partition) -> Problem:
        """Return the problem with the model that suits a partition best; its parts do not depend on each other."""
        if self.hyperprior is not None:
            problem = maximise_hyperparameters(problem, partition, self.hyperprior)
        if self.concentration:
            n_clusters = int(partition.n_clusters[0])
            mode = concentration_mode(problem.cohort.n_subjects, n_clusters, problem.model.discount)
            problem = replace(problem, model=problem.model._replace(concentration=mode))
        return problem


def alternate(
    problem: Problem, restarts: list[RestartResult], starts: list[Start], estimated: Estimated, search: Search
) -> tuple[Problem, list[RestartResult]]:
    """Estimate the model from the best partition, search on from there, and so on until neither changes.

    Parameters
    ----------
    problem : Problem
        With the model that the restarts searched under.
    restarts : list of RestartResult
    starts : list of Start
        Where the restarts began.
    estimated : Estimated
    search : callable

    Returns
    -------
    problem : Problem
        With the last model.
    restarts : list of RestartResult
        As many as before, all judged under the last model, with the best carried on. Their traces show the extended
        joint less the log hyperprior of the last model, a constant, so that they end at the log joint.
    """
    if estimated.hyperprior is None and not estimated.concentration:
        return problem, restarts  # their joints stay: those of a search that selects features count its prior as well
    for _ in range(MOST_ROUNDS):
        best = restarts[index_of_best(restarts)]
        partition = new_partition(problem.cohort.arrays, best.labels)
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
    """Judge all restarts under a new model, and search on from the partition that is then the best.

    Parameters
    ----------
    problem : Problem
        With the new model.
    restarts : list of RestartResult
    starts : list of Start
    search : callable
    fall : float
        Of the log hyperprior with the new model; traces rise by it, so that they go on without a step down.
    """
    arrays = problem.cohort.arrays
    restarts = [
        replace(
            restart,
            log_joint=log_joint(problem, new_partition(arrays, restart.labels)),
            trace=restart.trace + fall,
        )
        for restart in restarts
    ]
    lead = index_of_best(restarts)
    before = restarts[lead]
    after = search(problem, starts_from(before.labels, [starts[0].seed]))[0]
    restarts[lead] = replace(
        after,
        start=before.start,
        trace=np.concatenate([before.trace, after.trace]),
        n_sweeps=before.n_sweeps + after.n_sweeps,
        seconds=before.seconds + after.seconds,
    )
    return restarts
