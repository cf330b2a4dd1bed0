"""Cross-fitting: subtypes found in all folds but one are assigned to the subjects of that fold without one feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.associations.as_many_subtypes import AsReported
from clinclust.associations.cold_search import Subtypes, search_cold
from clinclust.associations.evidence import Part
from clinclust.engine.kernels.outlying_scores import mixed_scores
from clinclust.engine.kernels.partition import clusters_without_subjects, new_partition
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.posterior import probabilities
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.plan import SearchPlan
from clinclust.estimators.mixture import summed

__all__ = ["Fold", "folds_of", "parts_without"]

Labels = NDArray[np.int64]


class Fold(NamedTuple):
    """One fold: the training problem, its subtypes, and the held-out subjects to which they are assigned."""

    trained_on: Problem
    subtypes: Subtypes
    """The subtypes of the subjects of `trained_on`."""
    held_out: Problem
    rows: Labels
    """(m,) the rows of the table of the held-out subjects."""


def folds_of(
    problem: Problem, n_folds: int, plan: SearchPlan, reported: AsReported, persons: Labels | None = None
) -> list[Fold]:
    """Divide the subjects into random folds, by the seed of `plan`; for each fold, search among all other folds.

    `reported` is as in `search_cold`. All rows of a person (int64 (N,) in the order of the table) are in one fold.
    """
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
        subtypes = search_cold(training, plan, reported)
        folds.append(Fold(training, subtypes, problem.restricted_to(outside, 0), problem.cohort.order[outside]))
    return folds


def parts_without(folds: list[Fold], left_out: NDArray[np.bool_], outlying_share: float) -> list[Part]:
    """Assign each held-out subject to its most probable subtype, without the features of `left_out`, bool (D,)."""
    parts = []
    for fold in folds:
        training, held_out = fold.trained_on.with_features(~left_out), fold.held_out.with_features(~left_out)
        found = new_partition(training.cohort.arrays, fold.subtypes.finer)
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
