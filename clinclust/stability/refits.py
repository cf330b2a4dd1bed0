"""Refits: the subtypes of a part of the cohort, or of a changed one, found as those of the cohort were."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.associations.cold_search import cold_plan
from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.search.labels import by_decreasing_size, groups_by_decreasing_size
from clinclust.engine.search.merge_tree import merge_tree
from clinclust.estimators.few_subjects import FEW_SUBJECTS
from clinclust.estimators.search import search
from clinclust.estimators.settings import stated_hyperparameters
from clinclust.estimators.subtype_tree import SubtypeTree
from clinclust.stability.procedure import Procedure

if TYPE_CHECKING:
    from threading import Event

    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP

__all__ = ["Refitted", "Refitter"]

Labels = NDArray[np.int64]


class Refitted(NamedTuple):
    """What a refit found."""

    labels: Labels
    """(n,) the subtype of each subject, 0 to K - 1 by decreasing size."""
    n_found: int
    """The number of clusters that the search found, before they were merged; of the whole procedure, of subtypes."""


@dataclass(frozen=True, eq=False)
class Refitter:
    """Searches as the fit of a model did, from scratch, with the resolution that it chose.

    Concentration, coarsening and powers of blocks are those of the fit. Where the subtypes of the model are unions of
    clusters, the clusters of a refit are merged along their own tree to as many; to more, where the tree would keep a
    few odd subjects apart and join large subtypes.

    Attributes
    ----------
    problem : Problem
        That of the whole cohort.
    model : MAPDP
    n_restarts : int
    cancelled : threading.Event
    procedure : Procedure, optional
        Resamples are refitted by the whole procedure instead, with all that it chooses.
    """

    problem: Problem
    model: MAPDP
    n_restarts: int
    cancelled: Event
    procedure: Procedure | None = None

    @classmethod
    def of(
        cls, model: MAPDP, cohort: pd.DataFrame, n_restarts: int, cancelled: Event, *, whole_procedure: bool
    ) -> Refitter:
        """Pose the problem of a cohort, which `cohort_of` has checked."""
        problem = pose(
            cohort,
            model.schema_,
            stated_hyperparameters(model.hyperparameters),
            model.concentration_,
            model.discount_,
            model.coarsening_,
            model.block_weights_,
        )
        procedure = Procedure(model, cohort, n_restarts, cancelled) if whole_procedure else None
        return cls(problem, model, n_restarts, cancelled, procedure)

    @property
    def reported(self) -> Labels:
        """The reported subtype of each subject, in the order of the problem, int64 (N,)."""
        return np.asarray(self.model.labels_, dtype=np.int64)[self.problem.cohort.order]

    def rows(self, rows: Labels, seed: int) -> Refitted:
        """Refit some subjects of the problem, int64 (n,), none twice."""
        if self.procedure is None:
            return self.whole(self.problem.restricted_to(rows, 0), seed)
        labels = self.procedure.labels(self.problem.cohort.order[rows], seed)
        return Refitted(labels, int(labels.max()) + 1)

    def whole(self, problem: Problem, seed: int) -> Refitted:
        """Refit another problem."""
        plan = replace(cold_plan(self.model, seed, self.n_restarts), cancelled=self.cancelled)
        found = search(problem, plan)
        problem, best = found.problem, found.winner
        if best.included is not None and best.included.any():
            problem = problem.with_features(best.included)
        labels = by_decreasing_size(best.labels)
        n_found = int(labels.max()) + 1
        if self.model.subtype_of_.size > self.model.n_clusters_ < n_found:
            labels = self._merged(problem, labels)
        return Refitted(labels, n_found)

    def _merged(self, problem: Problem, labels: Labels) -> Labels:
        """Return the clusters merged to as many subtypes of enough subjects as were reported."""
        share = labels.size / self.problem.cohort.n_subjects
        large = self.model.cluster_sizes_[self.model.cluster_sizes_ >= FEW_SUBJECTS]
        enough = share * large.min() / 2.0 if large.size else 0.0
        tree, sizes = SubtypeTree(labels, *merge_tree(problem, labels)), np.bincount(labels)
        for n_subtypes in range(self.model.n_clusters_, sizes.size):
            subtype_of = tree.subtype_of(n_subtypes)
            if (np.bincount(subtype_of, sizes) >= enough).sum() >= large.size:
                return groups_by_decreasing_size(subtype_of, sizes)[labels]
        return labels
