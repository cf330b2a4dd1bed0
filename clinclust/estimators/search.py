"""The search that a plan describes; this module alone chooses among the kinds of search."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.outlying import SearchResult, none_outlying, search_filling, search_with_outlying
from clinclust.engine.joint_estimates.resolution import (
    ResolutionStep,
    alternate,
    carry_on,
    choose_greedily,
    chosen_step,
    deal_folds,
    first_step,
    held_out_log_density,
    resolution_steps,
    sampled_steps,
    starts_among,
)
from clinclust.engine.joint_estimates.selection import (
    has_repeated,
    reproduced_weights,
    run_selecting_restarts,
    strength_and_features,
    strengthened,
    with_all_features,
)
from clinclust.engine.search.plan import RestartResult, SearchPlan
from clinclust.engine.search.restarts import (
    LARGE,
    Start,
    draw_sample,
    index_of_best,
    run_restarts,
    run_sampled_restarts,
    search_starts,
    single_starts,
    starts_from,
)

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem


CONCENTRATIONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""The concentrations of cross-validation."""
N_FOLDS = 5


def _search_and_tune(problem: Problem, starts: list[Start], plan: SearchPlan) -> SearchResult:
    """Return the restarts under the final model, and the concentrations tried."""
    tried: list[dict[str, float]] = []
    if plan.concentration == "cross-validation":
        # The seed has one child more than there are restarts, so that the folds share no random draws with a restart.
        rng = np.random.default_rng(np.random.SeedSequence(plan.seed).spawn(len(starts) + 1)[-1])
        tried = _cross_validated(problem, starts, plan, rng)
        chosen = max(tried, key=lambda row: row["held_out_log_density"])
        result = _search_under(problem, starts, plan, chosen["concentration"])
    elif isinstance(plan.concentration, tuple):
        # In ascending order, because the first of equal values is taken: in a tie the smaller concentration wins.
        grid = np.unique(plan.concentration)
        results = [
            _search_under(problem, starts, _told(_with_part(plan, grid.size - place), value), float(value))
            for place, value in enumerate(grid)
        ]
        tried = [row_of(under) for under in results]
        chosen = max(tried, key=lambda row: row["log_joint"])
        result = results[tried.index(chosen)]
    else:
        return _search_under(problem, starts, plan, problem.model.concentration)
    return replace(result, tried=[row | {"chosen": row is chosen} for row in tried])


def _search_under(
    problem: Problem,
    starts: list[Start],
    plan: SearchPlan,
    concentration: float,
    found: list[RestartResult] | None = None,
) -> SearchResult:
    """Search from an initial concentration, or on from `found`."""
    problem = replace(problem, model=problem.model._replace(concentration=concentration))
    search = partial(_restarts, plan)
    restarts = search(problem, starts) if found is None else carry_on(problem, found, starts, search)
    if plan.choose_hyperparameters:
        problem, restarts = choose_greedily(problem, restarts, starts, search, plan)
    if plan.concentration == "map":
        problem, restarts = alternate(problem, restarts, starts, search, plan.budget)
    return _best_of(problem, restarts)


def _with_part(plan: SearchPlan, n_ahead: int) -> SearchPlan:
    """Return the plan of the next of several searches, which share the remaining time evenly."""
    return replace(plan, budget=plan.budget.part(1.0 / n_ahead))


def _told(plan: SearchPlan, concentration: float) -> SearchPlan:
    """Return the plan whose stages name the concentration."""
    return replace(plan, progress=plan.progress.within(f"concentration {concentration:g}"))


def _restarts(plan: SearchPlan, problem: Problem, starts: list[Start]) -> list[RestartResult]:
    run = run_selecting_restarts if plan.select_features else run_restarts
    onward = starts[0].name == "given"  # a search that continues from a given partition is not refined
    return run(problem, starts, replace(plan, refine=plan.refine and not onward))


def _cross_validated(
    problem: Problem, starts: list[Start], plan: SearchPlan, rng: np.random.Generator
) -> list[dict[str, float]]:
    """Return one row per concentration: mean held-out log density, and mean number of clusters over the folds."""
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
            at_value = _told(fold_plan, concentration)
            result = _search_under(part, part_starts, at_value, concentration, at_default)
            densities[held_out, index] = held_out_log_density(result.problem, result.labels, problem.cohort, held_out)
            n_clusters[index].append(int(result.labels.max()) + 1)
    means = densities.mean(axis=0).tolist()
    return [
        {"concentration": value, "held_out_log_density": mean, "n_clusters": float(np.mean(numbers))}
        for value, mean, numbers in zip(CONCENTRATIONS, means, n_clusters, strict=True)
    ]


def row_of(result: SearchResult) -> dict[str, float]:
    """Return the row of the concentration of a search in the table `MAPDP.tuning_`."""
    return {
        "concentration": result.problem.model.concentration,
        "log_joint": result.winner.log_joint,
        "n_clusters": int(result.labels.max()) + 1,
    }


_BRANCH = 1414
"""Spawn key of the random draws of the resolution path."""
_RESTARTS_OF_SELECTION = 6
"""Largest number of restarts of the selection; the fifth, `bisected`, finds groups that differ a little everywhere."""
_SHARE_OF_SELECTION = 0.3
"""Largest share of a time budget for the selection of features before the search."""
_SHARE_OF_POWERS = 0.3
"""Largest share of a time budget for the estimation of block weights."""


def search(problem: Problem, plan: SearchPlan) -> SearchResult:
    """Run the search that the plan describes, after shorter ones that estimate block weights and select features.

    The problem holds all values; its coarsening is 1 if the coarsening is to be chosen.
    """
    problem = with_powers_estimated(problem, plan)
    if plan.selects_first is not None:
        short = plan.shortened(plan.budget.part(_SHARE_OF_SELECTION), "selection of features")
        short = replace(short, n_restarts=min(plan.n_restarts, _RESTARTS_OF_SELECTION))
        chosen = strength_and_features(*draw_sample(problem, short), plan.selects_first)
        if chosen is not None:
            strength, included = chosen
            stronger = strengthened(problem, strength, plan.selects_first)
            result = _search(stronger.with_features(included), plan)
            result = with_all_features(result, stronger, included, plan.outlying_share)
            return replace(result, prior_strength=strength)
    return _search(problem, plan)


def with_powers_estimated(problem: Problem, plan: SearchPlan) -> Problem:
    """Return the problem with the block weights estimated if the plan asks for it, in a sample of a large cohort."""
    if not plan.estimate_powers or not has_repeated(problem):
        return problem
    part, between = draw_sample(problem, plan.shortened(plan.budget.part(_SHARE_OF_POWERS), "block weights"))
    rounds = count(1)

    def find(posed: Problem) -> tuple[Problem, NDArray[np.int64]]:
        about = f"block weights, round {next(rounds)}"
        result = _search(posed, replace(between, progress=plan.progress.within(about)))
        return result.problem, result.labels

    return problem.with_powers(reproduced_weights(part, find, between.budget.used_up))


def _search(problem: Problem, plan: SearchPlan) -> SearchResult:
    """Run the search that the plan describes, with the block weights of the problem."""
    if plan.fill_modes:
        return _best_of(problem, run_restarts(problem, _starts(problem, plan), plan, search=search_filling))
    if plan.begins_in_sample and problem.cohort.n_subjects >= LARGE:
        if not plan.searches_beside:
            return _best_of(problem, run_sampled_restarts(problem, plan))
        return _chosen(sampled_steps(problem, plan, _branch(plan)), plan)
    starts = _starts(problem, plan)
    if plan.resolution is not None:
        return _chosen(resolution_steps(problem, plan, _branch(plan), first_step(problem, starts, plan)), plan)
    run = search_with_outlying if plan.outlying_share > 0.0 else _search_and_tune
    return run(problem, starts, plan)


def _branch(plan: SearchPlan) -> np.random.SeedSequence:
    return np.random.SeedSequence(plan.seed, spawn_key=(_BRANCH,))


def _chosen(steps: list[ResolutionStep], plan: SearchPlan) -> SearchResult:
    return replace(steps[chosen_step(steps)], steps=() if plan.resolution is None else steps)


def _best_of(problem: Problem, restarts: list[RestartResult]) -> SearchResult:
    return SearchResult(problem, restarts, index_of_best(restarts), none_outlying(problem))


def _starts(problem: Problem, plan: SearchPlan) -> list[Start]:
    if not isinstance(plan.start, str):
        return starts_from(plan.start, plan.seeds)
    make = search_starts if plan.start == "search" else single_starts
    return make(problem.cohort.n_subjects, plan.seeds)
