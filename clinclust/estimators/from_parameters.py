"""Translate the parameters of `MAPDP` for the engine: into the problem and the plan of the search."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clinclust.engine.joint_estimates.concentration import DEFAULT
from clinclust.engine.problem.problem import pose
from clinclust.engine.search.plan import ResolutionPlan, SearchPlan
from clinclust.errors import InputError
from clinclust.estimators.parameters import cluster_codes, is_number, seed_of
from clinclust.files.listed import listed

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.problem import Problem
    from clinclust.engine.search.plan import Budget
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.progress import Progress
    from clinclust.schema import FeatureSchema

__all__ = ["AUTOMATIC_SHARE", "problem_of", "search_plan_of", "stated_hyperparameters_of"]

AUTOMATIC_SHARE = 0.01
"""Default of `outlying_share` with ``coarsening="auto"``."""


def problem_of(model: MAPDP, frame: pd.DataFrame, schema: FeatureSchema) -> Problem:
    """Return the problem of a validated cohort.

    A concentration, coarsening, power of a block or hyperparameter that is to be estimated starts at its default.
    """
    concentration, coarsening = model.concentration, model.coarsening
    return pose(
        frame,
        schema,
        stated_hyperparameters_of(model),
        concentration if is_number(concentration) else DEFAULT,
        model.discount,
        coarsening if is_number(coarsening) else 1.0,
        None if isinstance(model.block_weights, str) else model.block_weights,
    )


def search_plan_of(model: MAPDP, problem: Problem, cancelled: Event, budget: Budget, progress: Progress) -> SearchPlan:
    """Return the plan of the search of a fit.

    Parameters
    ----------
    model : MAPDP
    problem : Problem
    cancelled : threading.Event
        Ends the search when it is set.
    budget : Budget
        Time that the search may take.
    progress : Progress
        Tells the stages of the search.

    Raises
    ------
    ValueError
        If `init` holds labels, but not exactly one for each subject.
    """
    _refuse_with_blocks(model, problem)
    automatic, share = isinstance(model.coarsening, str), model.outlying_share
    if share is None:
        share = AUTOMATIC_SHARE if automatic else 0.0
    hyperparameters, fill_modes = model.hyperparameters, model.missing == "mode"
    start = _start_of(model.init, problem)
    from_anywhere = isinstance(start, str) and start == "search"
    return SearchPlan(
        seed=seed_of(model.random_state),
        n_restarts=model.n_restarts,
        start="single" if fill_modes and from_anywhere else start,  # the start of the paper
        max_sweeps=model.max_sweeps,
        n_jobs=model.n_jobs,
        refine=from_anywhere and not fill_modes,
        select_features=model.select_features,
        outlying_share=share,
        resolution=ResolutionPlan(choose=True) if automatic else None,
        estimate_powers=isinstance(model.block_weights, str),
        hyperparameters=hyperparameters if isinstance(hyperparameters, str) else None,
        concentration=_choice_of(model.concentration),
        fill_modes=fill_modes,
        cancelled=cancelled,
        budget=budget,
        progress=progress,
    )


def _refuse_with_blocks(model: MAPDP, problem: Problem) -> None:
    """Refuse what is not defined for a feature whose distribution is given other features of its block."""
    asked = [
        name
        for name, is_asked in (("select_features", model.select_features), ("missing='mode'", model.missing == "mode"))
        if is_asked
    ]
    features, likelihoods = problem.cohort.encoding.features, problem.cohort.encoding.likelihoods
    in_parts = sorted({feature.column for feature in features if feature.is_part})
    if model.missing == "mode" and in_parts:
        raise InputError(
            f"missing='mode' cannot be combined with a spike or a limit ({listed(in_parts)}): it would fill in an "
            "amount for values that have none; leave missing='mode' out"
        )
    blocks = {feature.block for feature, each in zip(features, likelihoods, strict=True) if each.n_before}
    if asked and blocks:
        raise InputError(
            f"{' and '.join(asked)} cannot be combined with a block of multivariate Gaussian features "
            f"({listed(sorted(map(str, blocks)))}): declare these as gaussian, or leave {' and '.join(asked)} out"
        )


def _choice_of(concentration: float | ArrayLike) -> str | tuple[float, ...] | None:
    """Return the method that estimates the concentration, or the grid to choose from; None if it is a number."""
    if isinstance(concentration, str) or is_number(concentration):
        return concentration if isinstance(concentration, str) else None
    return tuple(np.asarray(concentration, dtype=np.float64).tolist())


def _start_of(init: str | ArrayLike, problem: Problem) -> str | NDArray[np.int64]:
    """Return where restarts begin: a name, or clusters 0 .. K - 1, int64 (N,), with subjects in encoded order."""
    if isinstance(init, str):
        return init
    n_subjects = problem.cohort.n_subjects
    labels = cluster_codes(init, n_subjects, called="init")
    return cluster_codes(labels[problem.cohort.order], n_subjects, called="init")


def stated_hyperparameters_of(model: MAPDP) -> Mapping[str, Mapping[str, Any]] | None:
    """Return the hyperparameters that the user states; None if there are none or they are to be estimated."""
    return None if isinstance(model.hyperparameters, str) else model.hyperparameters
