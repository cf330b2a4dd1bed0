"""From the parameters of `MAPDP` to what a search finds, whatever is searched for beside the partition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.engine.beside.outlying import Switches
from clinclust.engine.beside.outlying_search import nothing_aside
from clinclust.engine.beside.outlying_search import search as search_robustly
from clinclust.engine.beside.resolution import COARSENINGS, Step, chosen_step, resolution_steps
from clinclust.engine.beside.selection import run_selecting_restarts
from clinclust.engine.search.one_start import Restart
from clinclust.engine.search.restarts import run_restarts
from clinclust.engine.search.sampled import LARGE, run_sampled_restarts
from clinclust.engine.search.starts import Start, search_starts, single_starts, starts_from
from clinclust.estimators.parameters import cluster_codes, searched_beside
from clinclust.estimators.tuning import Tuner, tried_once

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem

__all__ = ["Result", "search"]

AUTOMATIC_SHARE = 0.01
"""Share of outlying values that ``coarsening="auto"`` expects."""
_BRANCH = 1414
"""Keeps what is drawn for the path apart from what is drawn for the starts."""


@dataclass(frozen=True)
class Result:
    """What a search found.

    Attributes
    ----------
    problem : Problem
        Of the values that are kept, with the model in the end.
    restarts : list of Restart
        Under that model; the first of the highest joint is the winner.
    tried : DataFrame
        `MAPDP.tuning_`.
    aside : bool (N, D)
        Values set aside, subjects and features as encoded.
    outlying_share : float
    steps : list of Step
        The path from fine to coarse, if the coarsening was to be chosen.
    """

    problem: Problem
    restarts: list[Restart]
    tried: pd.DataFrame
    aside: Switches
    outlying_share: float
    steps: list[Step]


def search(
    problem: Problem,
    seed: int,
    parameters: Mapping[str, Any],
    finished: Callable[[Restart], object] = lambda restart: None,
) -> Result:
    """Search as the parameters of `MAPDP` ask for.

    Parameters
    ----------
    problem : Problem
        Of all values; at coarsening 1 if it is to be chosen.
    seed : int
    parameters : dict
        Of `MAPDP`, by name; they can be used, alone and together.
    finished : callable
        Called with each restart when it is done.
    """
    seeds = np.random.SeedSequence(seed).spawn(parameters["n_restarts"])
    options: dict[str, Any] = {
        "max_sweeps": parameters["max_sweeps"],
        "n_jobs": None if parameters["n_jobs"] == -1 else parameters["n_jobs"],
    }
    refine = isinstance(parameters["init"], str) and parameters["init"] == "search"
    plain = not searched_beside(parameters)
    if refine and plain and problem.cohort.n_subjects >= LARGE:
        restarts = run_sampled_restarts(problem, seeds, finished=finished, **options)
        return Result(problem, restarts, tried_once(problem, restarts), nothing_aside(problem), 0.0, [])
    starts = _starts(problem, parameters["init"], seeds)
    automatic, share = isinstance(parameters["coarsening"], str), parameters["outlying_share"]
    if share is None:
        share = AUTOMATIC_SHARE if automatic else 0.0
    if automatic or share > 0.0:
        found = search_robustly(problem, starts, share, refine=refine, finished=finished, **options)
        if not automatic:
            return Result(
                found.problem, found.restarts, tried_once(found.problem, found.restarts), found.aside, share, []
            )
        steps = resolution_steps(
            problem,
            COARSENINGS,
            share,
            np.random.SeedSequence(seed, spawn_key=(_BRANCH,)),
            n_restarts=len(starts),
            first=found,
            choose=True,
            **options,
        )
        step = steps[chosen_step(steps)]
        return Result(step.problem, step.restarts, tried_once(step.problem, step.restarts), step.aside, share, steps)
    run = run_selecting_restarts if parameters["select_features"] else run_restarts

    def run_from(problem: Problem, starts: list[Start]) -> list[Restart]:
        # A search that goes on from a given partition stays with it.
        onward = starts[0].name == "given"
        return run(problem, starts, refine=refine and not onward, finished=finished, **options)

    tuner = Tuner(parameters["hyperparameters"], parameters["concentration"], run_from, parameters["max_sweeps"])
    problem, restarts, tried = tuner.tune(problem, starts, seed)
    return Result(problem, restarts, tried, nothing_aside(problem), 0.0, [])


def _starts(problem: Problem, init: Any, seeds: list[np.random.SeedSequence]) -> list[Start]:
    n_subjects = problem.cohort.n_subjects
    if isinstance(init, str):
        return search_starts(n_subjects, seeds) if init == "search" else single_starts(n_subjects, seeds)
    labels = cluster_codes(init, n_subjects, called="init")
    return starts_from(cluster_codes(labels[problem.cohort.order], n_subjects, called="init"), seeds)
