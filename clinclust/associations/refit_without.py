"""Subtypes found without some features, whose values cannot influence the search: by a refit, or by cross-fitting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Labels
from clinclust.associations.as_reported import AsReported, as_many
from clinclust.associations.tested_association import Part
from clinclust.engine.kernels.outlying_scores import mixed_scores
from clinclust.engine.kernels.partition import clusters_without_subjects, new_partition
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.posterior import leave_one_out_scores, probabilities
from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.search.plan import SearchPlan
from clinclust.estimators.mixture import summed
from clinclust.estimators.search import search
from clinclust.estimators.settings import stated_hyperparameters

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP

Keys = NDArray[np.uint64]

_FINISHERS = 2  # number of restarts that are searched to the end


class Subtypes(NamedTuple):
    """The subtypes of the subjects of a problem."""

    labels: Labels
    """(N,) the subtype of each subject, 0 to K - 1 by decreasing size."""
    membership: Array
    """(N, J) the probability of each cluster, given all other subjects; rows sum to 1."""
    clusters: Labels
    """(N,) the cluster of each subject, 0 to J - 1."""
    subtype_of: Labels
    """(J,) the subtype of each of these clusters."""
    n_found: int
    """The number of clusters that the search found, before mergers and divisions."""


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
    select_features, fill_modes = model.select_features, model.missing == "mode"
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


def refit(problem: Problem, plan: SearchPlan, reported: AsReported) -> Subtypes:
    """Search for subtypes of a problem, as many as in the reported partition where that can be (`as_many`)."""
    if reported.n_subtypes == 1:
        n_subjects = problem.cohort.n_subjects
        together = np.zeros(n_subjects, dtype=np.int64)
        return Subtypes(together, np.ones((n_subjects, 1)), together, np.zeros(1, dtype=np.int64), 1)
    found = search(problem, plan)
    problem, included = found.problem, found.winner.included
    if included is not None and included.any():
        problem = problem.with_features(included)
    n_found = int(found.winner.labels.max()) + 1
    clusters, subtype_of = as_many(problem, found.winner.labels, reported, plan.seed, plan.cancelled)
    membership = probabilities(leave_one_out_scores(problem, problem.partition(clusters)))
    return Subtypes(subtype_of[clusters], membership, clusters, subtype_of, n_found)


class Fold(NamedTuple):
    """A fold: the training problem, its subtypes, and the held-out subjects who are assigned to them."""

    trained_on: Problem
    subtypes: Subtypes
    held_out: Problem
    rows: Labels
    """(m,) the rows of the held-out subjects in the table."""


def folds_of(
    problem: Problem, n_folds: int, plan: SearchPlan, reported: AsReported, persons: Labels | None = None
) -> list[Fold]:
    """Divide the subjects, or persons, (N,), into random folds; for each fold, search among all other folds."""
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(2,)))
    n_subjects, order = problem.cohort.n_subjects, problem.cohort.order
    who = np.arange(n_subjects) if persons is None else np.unique(persons[order], return_inverse=True)[1]
    dealt = np.arange(int(who.max()) + 1) % n_folds
    rng.shuffle(dealt)
    dealt = dealt[who]
    folds = []
    for fold in range(n_folds):
        inside, outside = np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)
        training = problem.restricted_to(inside, 0)
        subtypes = refit(training, plan, reported)
        folds.append(Fold(training, subtypes, problem.restricted_to(outside, 0), problem.cohort.order[outside]))
    return folds


def parts_without(folds: list[Fold], left_out: NDArray[np.bool_], outlying_share: float) -> list[Part]:
    """Assign each held-out subject to its most probable subtype, without the features of `left_out`, bool (D,)."""
    parts = []
    for fold in folds:
        training, held_out = fold.trained_on.with_features(~left_out), fold.held_out.with_features(~left_out)
        found = new_partition(training.cohort.arrays, fold.subtypes.clusters)
        n_clusters = int(found.n_clusters[0])
        arrays, model = held_out.cohort.arrays, training.model
        clusters = clusters_without_subjects(arrays, found.sizes[:n_clusters], found.statistics[:n_clusters])
        scores = np.zeros((held_out.cohort.n_subjects, n_clusters + 1))
        if outlying_share > 0.0:
            mixed_scores(arrays, model.in_full(), clusters, outlying_share, model.exponents, scores)
        else:
            write_scores(arrays, model, clusters, scores)
        membership = probabilities(scores[:, :-1])
        labels = summed(membership, fold.subtypes.subtype_of).argmax(axis=1)
        parts.append(Part(fold.rows, labels, membership, fold.subtypes.n_found))
    return parts
