"""Search for the partition, and estimate the hyperparameters and the concentration if the plan asks for it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clinclust.engine.joint_estimates.alternation import Estimated, alternate, carry_on, choose_greedily
from clinclust.engine.joint_estimates.concentration import (
    deal_folds,
    held_out_log_density,
    starts_among,
)
from clinclust.engine.joint_estimates.empirical_bayes import Hyperprior
from clinclust.engine.joint_estimates.selection import run_selecting_restarts
from clinclust.engine.search.restarts import index_of_best, run_restarts

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.one_start import RestartResult
    from clinclust.engine.search.plan import SearchPlan
    from clinclust.engine.search.starts import Start

__all__ = ["CONCENTRATIONS", "N_FOLDS", "search_and_tune", "tried_once"]

CONCENTRATIONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""The concentrations among which cross-validation chooses."""
N_FOLDS = 5


def search_and_tune(
    problem: Problem, starts: list[Start], plan: SearchPlan
) -> tuple[Problem, list[RestartResult], pd.DataFrame]:
    """Return the problem with the final model, the restarts under this model, and the table of concentrations tried.

    Parameters
    ----------
    problem : Problem
        With the initial hyperparameters and concentration.
    starts : list of Start
    plan : SearchPlan
        `hyperparameters` and `concentration` determine what is estimated, and by which method.
    """
    if plan.concentration == "cross-validation":
        # The seed has one child more than there are restarts, so that the folds share no random draws with a restart.
        rng = np.random.default_rng(np.random.SeedSequence(plan.seed).spawn(len(starts) + 1)[-1])
        tried = _cross_validated(problem, starts, plan, rng)
        chosen = float(tried["concentration"].iloc[tried["held_out_log_density"].argmax()])
        problem, restarts, _ = _search_under(problem, starts, plan, chosen)
    elif isinstance(plan.concentration, tuple):
        # In ascending order, because argmax takes the first of equal values: in a tie the smaller concentration wins.
        grid = np.unique(plan.concentration)
        results = [
            _search_under(problem, starts, _told(_with_part(plan, grid.size - place), value), float(value))
            for place, value in enumerate(grid)
        ]
        tried = pd.DataFrame([_row(problem, restarts) for problem, restarts, _ in results])
        extended = [restarts[index_of_best(restarts)].log_joint + log_h for _, restarts, log_h in results]
        problem, restarts, _ = results[int(np.argmax(extended))]
        chosen = problem.model.concentration
    else:
        problem, restarts, _ = _search_under(problem, starts, plan, problem.model.concentration)
        chosen = problem.model.concentration
        tried = tried_once(problem, restarts)
    return problem, restarts, tried.assign(chosen=tried["concentration"] == chosen)


def _search_under(
    problem: Problem,
    starts: list[Start],
    plan: SearchPlan,
    concentration: float,
    found: list[RestartResult] | None = None,
) -> tuple[Problem, list[RestartResult], float]:
    """Search with an initial concentration, and estimate what the plan estimates.

    Parameters
    ----------
    problem : Problem
    starts : list of Start
    plan : SearchPlan
    concentration : float
        Initial value; final unless the plan estimates it by ``"map"``.
    found : list of RestartResult, optional
        Restarts at another concentration. The search continues from the best of them, which saves most of its time.

    Returns
    -------
    problem : Problem
        With the final model.
    restarts : list of RestartResult
        Under the final model.
    log_hyperprior : float
        Log density of the hyperprior at the final model, in nats; 0 if nothing is estimated under a hyperprior.
    """
    problem = replace(problem, model=problem.model._replace(concentration=concentration))
    hyperprior = Hyperprior.of(problem) if plan.hyperparameters == "empirical" else None
    estimated = Estimated(hyperprior, plan.concentration == "map")
    search = partial(_restarts, plan)
    restarts = search(problem, starts) if found is None else carry_on(problem, found, starts, search)
    if plan.hyperparameters == "greedy":
        problem, restarts = choose_greedily(problem, restarts, starts, search, plan)
    problem, restarts = alternate(problem, restarts, starts, estimated, search, plan.budget)
    return problem, restarts, estimated.log_hyperprior(problem)


def _with_part(plan: SearchPlan, n_ahead: int) -> SearchPlan:
    """Return the plan of the next of several searches, which share the time budget that is left evenly."""
    return replace(plan, budget=plan.budget.part(1.0 / n_ahead))


def _told(plan: SearchPlan, concentration: float) -> SearchPlan:
    """Return the plan with stages that name the concentration that they are for."""
    return replace(plan, progress=plan.progress.within(f"concentration {concentration:g}"))


def _restarts(plan: SearchPlan, problem: Problem, starts: list[Start]) -> list[RestartResult]:
    run = run_selecting_restarts if plan.select_features else run_restarts
    onward = starts[0].name == "given"  # a search that continues from a given partition is not refined
    return run(problem, starts, replace(plan, refine=plan.refine and not onward))


def _cross_validated(problem: Problem, starts: list[Start], plan: SearchPlan, rng: np.random.Generator) -> pd.DataFrame:
    """Return one row for each concentration: mean held-out log density, and mean number of clusters over the folds."""
    densities = np.empty((problem.cohort.n_subjects, len(CONCENTRATIONS)))
    n_clusters = [[] for _ in CONCENTRATIONS]  # type: list[list[int]]
    n_ahead = N_FOLDS + 1  # the folds, and the search in the whole cohort after them
    for training, held_out in deal_folds(problem.cohort.n_subjects, N_FOLDS, rng):
        part, part_starts = problem.restricted_to(training, 0), starts_among(starts, training)
        fold_plan = _with_part(plan, n_ahead)
        fold_plan = replace(fold_plan, progress=plan.progress.within(f"fold {N_FOLDS + 2 - n_ahead} of {N_FOLDS}"))
        n_ahead -= 1
        at_default = _restarts(_with_part(fold_plan, 2), part, part_starts)
        for index, concentration in enumerate(CONCENTRATIONS):
            found, restarts, _ = _search_under(
                part, part_starts, _told(fold_plan, concentration), concentration, at_default
            )
            best = restarts[index_of_best(restarts)]
            densities[held_out, index] = held_out_log_density(found, best.labels, problem.cohort, held_out)
            n_clusters[index].append(int(best.labels.max()) + 1)
    return pd.DataFrame(
        {
            "concentration": CONCENTRATIONS,
            "held_out_log_density": densities.mean(axis=0),
            "n_clusters": [float(np.mean(found)) for found in n_clusters],
        }
    )


def tried_once(problem: Problem, restarts: list[RestartResult]) -> pd.DataFrame:
    """Return the table of concentrations tried, when there was only one."""
    return pd.DataFrame([_row(problem, restarts)]).assign(chosen=True)


def _row(problem: Problem, restarts: list[RestartResult]) -> dict[str, float]:
    best = restarts[index_of_best(restarts)]
    return {
        "concentration": problem.model.concentration,
        "log_joint": best.log_joint,
        "n_clusters": int(best.labels.max()) + 1,
    }
