"""Subtypes found in some folds of the cohort and given to the others, without the feature that is tested."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.associations.cold_search import search_cold
from clinclust.associations.evidence import Part
from clinclust.engine.kernels.outlying_scores import mixed_scores
from clinclust.engine.kernels.partition import clusters_without_subjects, new_partition
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.posterior import probabilities
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.plan import SearchPlan

__all__ = ["Fold", "folds_of", "parts_without"]

Labels = NDArray[np.int64]


class Fold(NamedTuple):
    """One fold: where subtypes were found, and to whom they are given."""

    trained_on: Problem
    labels: Labels
    """(n,) subtypes of those the search was among."""
    held_out: Problem
    rows: Labels
    """(m,) rows of the table that were held out."""


def folds_of(problem: Problem, n_folds: int, plan: SearchPlan) -> list[Fold]:
    """Search among all but one fold, for each fold in turn; folds are dealt from the seed."""
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(2,)))
    dealt = np.arange(problem.cohort.n_subjects) % n_folds
    rng.shuffle(dealt)
    folds = []
    for fold in range(n_folds):
        inside, outside = np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)
        training = problem.restricted_to(inside, 0)
        labels = search_cold(training, plan).labels
        folds.append(Fold(training, labels, problem.restricted_to(outside, 0), problem.cohort.order[outside]))
    return folds


def parts_without(folds: list[Fold], left_out: NDArray[np.bool_], outlying_share: float) -> list[Part]:
    """Give each held-out subject its most probable subtype, from all features but those left out, bool (D,)."""
    parts = []
    for fold in folds:
        training, held_out = fold.trained_on.with_features(~left_out), fold.held_out.with_features(~left_out)
        found = new_partition(training.cohort.arrays, fold.labels)
        n_clusters = int(found.n_clusters[0])
        arrays, model = held_out.cohort.arrays, training.model
        clusters = clusters_without_subjects(arrays, found.sizes[:n_clusters], found.statistics[:n_clusters])
        scores = np.zeros((held_out.cohort.n_subjects, n_clusters + 1))
        if outlying_share > 0.0:
            whole = model._replace(coarsening=1.0)
            mixed_scores(arrays, whole, clusters, outlying_share, model.coarsening, scores)
        else:
            write_scores(arrays, model, clusters, scores)
        membership = probabilities(scores[:, :-1])
        parts.append(Part(fold.rows, membership.argmax(axis=1), membership))
    return parts
