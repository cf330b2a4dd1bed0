"""Alternation of search and estimation: the partition given the model, then the model given the partition.

The objective is the extended joint, the log joint plus the log hyperpriors of the estimated parameters:

    ln p(X_obs, z | theta, N0) + ln h(theta) + ln h(N0)

The search raises the first term. A new model is accepted only if it raises the sum. The extended joint therefore never
falls, and the hyperpriors bound it from above, so the alternation ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from clinclust.engine.joint_estimates.concentration import concentration_mode, log_concentration_hyperprior
from clinclust.engine.joint_estimates.empirical import maximise_hyperparameters
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.search.restarts import index_of_best
from clinclust.engine.search.starts import starts_from

if TYPE_CHECKING:
    from clinclust.engine.joint_estimates.hyperprior import Hyperprior
    from clinclust.engine.kernels.partition import Partition
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.one_start import RestartResult
    from clinclust.engine.search.starts import Start
    from clinclust.engine.search.stopping import Budget

__all__ = ["MOST_ROUNDS", "Estimated", "Search", "alternate", "carry_on"]

Search = Callable[["Problem", list["Start"]], list["RestartResult"]]
"""`run_restarts` or `run_selecting_restarts` with a fixed plan: it takes a problem and starts, and returns restarts."""

MOST_ROUNDS = 20
_LEAST_GAIN = 1e-6
"""Nats by which a new model must raise the extended joint. A smaller gain is within the error of the maximisation."""


@dataclass(frozen=True)
class Estimated:
    """The parts of the model that are estimated in addition to the partition.

    Attributes
    ----------
    hyperprior : Hyperprior or None
        Hyperprior of the hyperparameters; None if they are not estimated.
    concentration : bool
        Whether the concentration is estimated.
    """

    hyperprior: Hyperprior | None = None
    concentration: bool = False

    def log_hyperprior(self, problem: Problem) -> float:
        """Return the sum of the log hyperpriors of the estimated parameters, in nats."""
        total = 0.0
        if self.hyperprior is not None:
            total += self.hyperprior.log_density(problem.model.prior)
        if self.concentration:
            total += log_concentration_hyperprior(problem.model.concentration)
        return total

    def maximised(self, problem: Problem, partition: Partition) -> Problem:
        """Return the problem with the model that maximises the extended joint given a partition.

        Given the partition, the hyperparameters and the concentration are independent and are maximised separately.
        """
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

    Parameters
    ----------
    problem : Problem
        Problem with the model under which the restarts searched.
    restarts : list of RestartResult
    starts : list of Start
        Starts of these restarts.
    estimated : Estimated
    search : callable
        Search under the new model (`Search`).
    budget : Budget
        When it is used up, the turns end.

    Returns
    -------
    problem : Problem
        Problem with the last model.
    restarts : list of RestartResult
        The same number of restarts. Their log joints are computed under the last model, and the best one is continued.
        Their traces show the extended joint minus the log hyperprior of the last model, which is a constant. Each trace
        therefore ends at the log joint.
    """
    if estimated.hyperprior is None and not estimated.concentration:
        return problem, restarts  # keep the log joints: after feature selection they include the prior of the selection
    for turn in range(MOST_ROUNDS):
        if turn and budget.used_up():
            break
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
    """Compute the log joint of all restarts under a new model, and continue the search from the best of them.

    Parameters
    ----------
    problem : Problem
        Problem with the new model.
    restarts : list of RestartResult
    starts : list of Start
    search : callable
    fall : float
        Decrease of the log hyperprior, in nats, from the old model to the new one. It is added to the traces, so that
        they do not fall where the model changes.

    Returns
    -------
    list of RestartResult
        The same number of restarts in the same order.
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
