"""The greedy coordinate search over the hyperparameters of Raykov et al. (2016, appendix G, point 2).

The paper changes one hyperparameter, holding the rest, runs MAP-DP anew, keeps the value whose result is best, and
proceeds in the same way to the next. So here, once for every hyperparameter that nobody stated, with these departures:

- results are compared by the log joint, not by eq. 12, which sweeps do not minimise;
- each run goes on from the best partition so far, by sweeps, instead of from one cluster that holds everybody; whole
  clusters merge and divide once, after the last hyperparameter;
- the first hyperparameters are the default ones, not maximum likelihood estimates, which would make the prior as
  strong as the cohort;
- the paper does not say which values to try: here the default times 1/8 .. 8, and for the prior mean of a Gaussian
  feature the default less or more 1/2 and 1 standard deviation of the feature;
- the concentration is left alone: a grid for it is a choice of its own.

There is no hyperprior: the values tried are what keeps the hyperparameters in reach of their defaults.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.beside.alternation import Search, carry_on
from clinclust.engine.beside.hyperprior import Hyperprior, with_prior
from clinclust.engine.search.restarts import index_of_best
from clinclust.engine.search.settle import minimum_gain, settle

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.one_start import RestartResult
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.engine.search.starts import Start

__all__ = ["FACTORS", "STEPS", "choose_greedily"]

FACTORS = (1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0)
"""What a positive hyperparameter is multiplied by."""
STEPS = (-1.0, -0.5, 0.5, 1.0)
"""What is added to the prior mean of a Gaussian feature, in standard deviations of the feature."""


def choose_greedily(
    problem: Problem, restarts: list[RestartResult], starts: list[Start], search: Search, plan: SearchPlan
) -> tuple[Problem, list[RestartResult]]:
    """Set one hyperparameter after the other to the value with the highest joint at convergence.

    Parameters
    ----------
    problem : Problem
        With the default hyperparameters, under which the restarts searched.
    restarts : list of RestartResult
    starts : list of Start
        Where the restarts began.
    search : callable
        As in `alternate`.
    plan : SearchPlan
        For the runs of sweeps.

    Returns
    -------
    problem : Problem
        With the chosen hyperparameters.
    restarts : list of RestartResult
        As many as before, all judged under them, with the best carried on. Its trace shows the joint after each
        change that was kept.
    """
    hyperprior = Hyperprior.of(problem)
    lead = index_of_best(restarts)
    best = restarts[lead]
    for index in np.flatnonzero(hyperprior.free):
        here = problem
        for value in _values(problem.model.prior[index], bool(hyperprior.location[index])):
            prior = here.model.prior.copy()
            prior[index] = value
            candidate = with_prior(here, prior)
            settled = settle(candidate, best.labels, starts[0].order, plan.max_sweeps, plan.cancelled, traced=False)
            if settled.converged and settled.trace[-1] > best.log_joint + minimum_gain(problem):
                problem = candidate
                best = replace(
                    best,
                    labels=settled.partition.labels,
                    log_joint=settled.trace[-1],
                    trace=np.append(best.trace, settled.trace[-1]),
                )
    restarts = [best if index == lead else restart for index, restart in enumerate(restarts)]
    return problem, carry_on(problem, restarts, starts, search)


def _values(default: float, location: bool) -> NDArray[np.float64]:
    """Return the values to try beside the default one."""
    return np.asarray(default + np.array(STEPS) if location else default * np.array(FACTORS))
