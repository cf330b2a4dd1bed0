"""From a search plan to what the search finds: the one place that chooses among the searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clinclust.engine.beside.outlying import OutlyingMask
from clinclust.engine.beside.outlying_search import none_outlying, search_with_outlying
from clinclust.engine.beside.resolution import ResolutionStep, chosen_step, resolution_steps
from clinclust.engine.search.one_start import RestartResult
from clinclust.engine.search.restarts import index_of_best
from clinclust.engine.search.sampled import LARGE, run_sampled_restarts
from clinclust.engine.search.starts import Start, search_starts, single_starts, starts_from
from clinclust.estimators.tuning import search_and_tune, tried_once

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import SearchPlan

__all__ = ["SearchResult", "search"]

_BRANCH = 1414
"""Keeps what is drawn for the path apart from what is drawn for the starts."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    problem : Problem
        Of the values that are kept, with the model in the end.
    restarts : list of RestartResult
        Under that model.
    best : int
        Which of them is the winner.
    tuning : DataFrame
        `MAPDP.tuning_`.
    outlying : bool (N, D)
        Outlying values, subjects and features as encoded.
    steps : list of ResolutionStep
        The path from fine to coarse, if there is one.
    """

    problem: Problem
    restarts: list[RestartResult]
    best: int
    tuning: pd.DataFrame
    outlying: OutlyingMask
    steps: list[ResolutionStep] = field(default_factory=list)

    @property
    def winner(self) -> RestartResult:
        """The restart of the highest joint."""
        return self.restarts[self.best]


def search(problem: Problem, plan: SearchPlan) -> SearchResult:
    """Search as the plan says: among a sample, with outlying values, along coarsenings, or with estimated parameters.

    Parameters
    ----------
    problem : Problem
        Of all values; at coarsening 1 if the coarsening is to be chosen.
    plan : SearchPlan
    """
    from_anywhere = isinstance(plan.start, str) and plan.start == "search"
    if from_anywhere and not plan.searches_beside and problem.cohort.n_subjects >= LARGE:
        return _without_outlying(problem, run_sampled_restarts(problem, plan))
    starts = _starts(problem, plan)
    if plan.outlying_share > 0.0 or plan.resolution is not None:
        found = search_with_outlying(problem, starts, plan)
        if plan.resolution is None:
            tried = tried_once(found.problem, found.restarts)
            return SearchResult(found.problem, found.restarts, found.best, tried, found.outlying)
        steps = resolution_steps(problem, plan, np.random.SeedSequence(plan.seed, spawn_key=(_BRANCH,)), found)
        step = steps[chosen_step(steps)]
        tried = tried_once(step.problem, step.restarts)
        return SearchResult(step.problem, step.restarts, step.best, tried, step.outlying, steps)
    return _without_outlying(*search_and_tune(problem, starts, plan))


def _without_outlying(
    problem: Problem, restarts: list[RestartResult], tuning: pd.DataFrame | None = None
) -> SearchResult:
    tuning = tried_once(problem, restarts) if tuning is None else tuning
    return SearchResult(problem, restarts, index_of_best(restarts), tuning, none_outlying(problem))


def _starts(problem: Problem, plan: SearchPlan) -> list[Start]:
    if not isinstance(plan.start, str):
        return starts_from(plan.start, plan.seeds)
    make = search_starts if plan.start == "search" else single_starts
    return make(problem.cohort.n_subjects, plan.seeds)
