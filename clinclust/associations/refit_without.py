"""Subtypes found without some features, whose values cannot influence the search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.associations.as_reported import AsReported, as_many
from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.search.plan import SearchPlan
from clinclust.estimators.search import search
from clinclust.estimators.settings import Settings, stated_hyperparameters

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP

Keys = NDArray[np.uint64]

_FINISHERS = 2  # number of restarts that are searched to the end


def column_keys(columns: Sequence[Array]) -> Keys:
    """Return a pseudo-random key of each value, uint64 (D, N); equal values of one column have equal keys."""
    from pandas.util import hash_array

    keys = np.empty((len(columns), columns[0].size), dtype=np.uint64)
    for place, column in enumerate(columns):
        # Each column has its own odd factor, so that equal values in two columns have different keys.
        factor = np.uint64(2 * int(np.random.SeedSequence(place).generate_state(1)[0]) + 1)
        keys[place] = hash_array(column) * factor
    return keys


def without(problem: Problem, left_out: NDArray[np.bool_], keys: Keys) -> tuple[Problem, Labels]:
    """Return the problem without the features of `left_out`, (D,), and the rows of its subjects, (N,), by `keys`."""
    order = np.argsort(keys[~left_out].sum(axis=0, dtype=np.uint64), kind="stable")
    return problem.with_features(~left_out).restricted_to(order, 0), order


def refit_plan(model: MAPDP, seed: int, n_restarts: int) -> SearchPlan:
    """Return the plan of a search like that of the model, but from scratch, on one thread and not refined."""
    select_features, fill_modes = model.select_features, Settings.of(model).fills_modes
    return SearchPlan(
        seed=seed,
        start="single" if fill_modes else "search",
        n_restarts=n_restarts,
        max_sweeps=model.max_sweeps,
        n_jobs=1,
        refine=False,
        divide=select_features,
        look_back=select_features,
        finishers=None if select_features or fill_modes else _FINISHERS,
        select_features=select_features,
        outlying_share=model.outlying_share_,
        fill_modes=fill_modes,
    )


def posed_as_fitted(model: MAPDP, frame: pd.DataFrame) -> Problem:
    """Return the problem of a cohort with the stated prior of a model and the resolution that its fit chose."""
    hyperparameters = stated_hyperparameters(model.hyperparameters)
    prior = model.concentration_, model.discount_
    return pose(frame, model.schema_, hyperparameters, *prior, model.coarsening_, model.block_weights_)


def refit(problem: Problem, plan: SearchPlan, reported: AsReported) -> tuple[Labels, int]:
    """Search for subtypes of a problem, as many as in the reported partition where that can be (`as_many`).

    Return the subtype of each subject, 0 to K - 1 by decreasing size, (N,), and the number of clusters that were found
    before mergers and divisions.
    """
    if reported.n_subtypes == 1:
        return np.zeros(problem.cohort.n_subjects, dtype=np.int64), 1
    found = search(problem, plan)
    problem, included = found.problem, found.winner.included
    if included is not None and included.any():
        problem = problem.with_features(included)
    clusters, subtype_of = as_many(problem, found.winner.labels, reported, plan.seed, plan.cancelled)
    return subtype_of[clusters], int(found.winner.labels.max()) + 1
