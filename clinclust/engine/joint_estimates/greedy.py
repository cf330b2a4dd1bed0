"""Greedy coordinate search over the hyperparameters (Raykov et al. 2016, appendix G, point 2).

The paper changes one hyperparameter while the others are fixed, runs MAP-DP again, keeps the value with the best
result, and continues with the next hyperparameter. This module does so once for every hyperparameter that the schema
does not state, with these differences:

- Results are compared by the log joint, not by eq. 12, which sweeps do not minimise.
- Each run continues from the best partition so far, by sweeps, and not from one cluster that holds all subjects. Whole
  clusters are merged and divided once, after the last hyperparameter.
- The first hyperparameters are the defaults. Maximum likelihood estimates would make the prior as strong as the cohort.
- The paper does not say which values to try. Here they are the default times 1/8, 1/4, 1/2, 2, 4 and 8, and for the
  prior mean of a Gaussian feature the default plus or minus 1/2 and 1 standard deviation of the feature.
- The concentration is not changed; a separate option tries a grid of concentrations.

There is no hyperprior. The grid of values keeps each hyperparameter near its default.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.alternation import Search, carry_on
from clinclust.engine.joint_estimates.hyperprior import Hyperprior, with_prior
from clinclust.engine.search.restarts import index_of_best
from clinclust.engine.search.settle import minimum_gain, settle

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.one_start import RestartResult
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.engine.search.starts import Start

__all__ = ["FACTORS", "STEPS", "choose_greedily"]

FACTORS = (1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0)
"""Factors by which a positive hyperparameter is multiplied."""
STEPS = (-1.0, -0.5, 0.5, 1.0)
"""Steps that are added to the prior mean of a Gaussian feature, in standard deviations of the feature."""


def choose_greedily(
    problem: Problem, restarts: list[RestartResult], starts: list[Start], search: Search, plan: SearchPlan
) -> tuple[Problem, list[RestartResult]]:
    """Set one hyperparameter after the other to the value with the highest log joint at convergence.

    Parameters
    ----------
    problem : Problem
        Problem with the default hyperparameters, under which the restarts searched.
    restarts : list of RestartResult
    starts : list of Start
        Starts of these restarts.
    search : callable
        Search under the chosen hyperparameters, as in `alternate`.
    plan : SearchPlan
        Its `max_sweeps` and `cancelled` apply to each run of sweeps.

    Returns
    -------
    problem : Problem
        Problem with the chosen hyperparameters.
    restarts : list of RestartResult
        The same number of restarts. Their log joints are computed under these hyperparameters, and the best one is
        continued. The trace of the best one shows the log joint after each change that was kept.
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
                best = replace(
                    best,
                    labels=settled.partition.labels,
                    log_joint=settled.trace[-1],
                    trace=np.append(best.trace, settled.trace[-1]),
                )
    restarts = [best if index == lead else restart for index, restart in enumerate(restarts)]
    return problem, carry_on(problem, restarts, starts, search)


def _values(default: float, location: bool) -> NDArray[np.float64]:
    """Return the values to try in addition to the default, float64 (V,)."""
    return np.asarray(default + np.array(STEPS) if location else default * np.array(FACTORS))
