"""Refits: the subtypes of a part of the cohort, or of a changed one, found as those of the cohort were."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clinclust.arrays import Labels
from clinclust.associations.as_reported import merged
from clinclust.associations.refit_without import posed_as_fitted, refit_plan
from clinclust.engine.problem.problem import Problem
from clinclust.engine.search.labels import by_decreasing_size, groups_by_decreasing_size
from clinclust.engine.search.plan import Budget
from clinclust.errors import InputError
from clinclust.estimators.cut import as_asked
from clinclust.estimators.few_subjects import FEW_SUBJECTS
from clinclust.estimators.fitting import fit_by
from clinclust.estimators.preparation import Prepared
from clinclust.estimators.search import search
from clinclust.estimators.settings import Settings
from clinclust.estimators.subtype_tree import FEWEST_DRAWS
from clinclust.progress import SILENT
from clinclust.schema.validation import kept_out

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.mapdp import MAPDP


@dataclass(frozen=True, eq=False)
class Procedure:
    """How the subtypes of a model were found, to be done again in a part of its cohort.

    All parameters of the model hold: what it chose from the data is chosen anew. Only the search is shorter: without
    refinement, time limits or a given start, and with the fewest draws for each join of a tree.
    """

    model: MAPDP
    cohort: pd.DataFrame
    n_restarts: int
    cancelled: Event

    def labels(self, rows: Labels, seed: int) -> Labels:
        """Return the subtype of the subjects in some rows of the cohort, int64 (n,), 0, 1, ... by decreasing size."""
        settings, schema, frame = self._with(seed), self.model.schema_, self.cohort.iloc[rows]
        try:
            problem = settings.problem_of(frame, schema)
        except InputError:
            if len(kept_out(frame, schema)) < len(schema.clustered):
                raise
            return np.zeros(rows.size, dtype=np.int64)  # nothing differs between these subjects
        plan = replace(settings.search_plan(problem, self.cancelled, Budget(), SILENT), refine=False, calibrate=False)
        cohort = Prepared(frame, schema, problem)
        fit = fit_by(plan, cohort, is_tested=settings.is_tested, n_draws=FEWEST_DRAWS, with_grades=False)
        asked = settings.n_clusters
        if isinstance(asked, Integral):
            asked = min(int(asked), fit.subtype_of_.size)  # a search that finds fewer shows that they are not stable
        return as_asked(fit, asked, self._floor(rows.size)).labels_

    def _with(self, seed: int) -> Settings:
        """Return the settings of another search."""
        settings = Settings.of(self.model)
        return replace(
            settings,
            random_state=seed,
            n_jobs=1,
            progress=False,
            max_seconds=None,
            n_restarts=min(self.n_restarts, settings.n_restarts),
            init=settings.init if isinstance(settings.init, str) else "search",
        )

    def _floor(self, n_subjects: int) -> float | None:
        """Return `MAPDP.min_size` for a part of the cohort: the same share of its subjects."""
        floor = self.model.min_size
        if not isinstance(floor, Integral):
            return floor
        return max(2, math.ceil(int(floor) * n_subjects / len(self.cohort)))


class Refitted(NamedTuple):
    """What a refit found."""

    labels: Labels
    """(n,) the subtype of each subject, 0 to K - 1 by decreasing size."""
    n_found: int
    """The number of clusters that the search found, before mergers; of the whole procedure, of subtypes."""


@dataclass(frozen=True, eq=False)
class Refitter:
    """Searches as the fit of a model did, from scratch, with its concentration, coarsening and block weights.

    Where its subtypes are unions of clusters, those of a refit are merged to as many, or more where the tree would join
    large subtypes before a few odd subjects. A `procedure` replaces this for resamples.
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
        """Encode a cohort, which `cohort_of` has checked."""
        problem = posed_as_fitted(model, cohort)
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
        plan = replace(refit_plan(self.model, seed, self.n_restarts), cancelled=self.cancelled)
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
        share = labels.size / self.problem.cohort.n_subjects
        large = self.model.cluster_sizes_[self.model.cluster_sizes_ >= FEW_SUBJECTS]
        enough = share * large.min() / 2.0 if large.size else 0.0
        subtype_of = merged(problem, labels, self.model.n_clusters_, large.size, enough)
        return groups_by_decreasing_size(subtype_of, np.bincount(labels))[labels]


_CONCENTRATIONS = {"1/3": 1.0 / 3.0, "3": 3.0, "30": 30.0}
_NO_STRENGTH = ("mean", "dispersion")
"""Hyperparameters that say where values lie or how they scatter, and not how much the prior weighs."""


def changed_settings(problem: Problem, seed: int) -> list[tuple[str, Problem, int]]:
    """Return the changed settings of the sensitivity table: a name, the problem, and the seed of the search."""
    changed = [
        (f"concentration {called}", replace(problem, model=problem.model._replace(concentration=value)), seed)
        for called, value in _CONCENTRATIONS.items()
    ]
    changed += [(f"prior strength x {factor:g}", _with_prior_strength(problem, factor), seed) for factor in (0.5, 2.0)]
    return [*changed, *((f"seed {seed + step}", problem, seed + step) for step in (1, 2, 3))]


def _with_prior_strength(problem: Problem, factor: float) -> Problem:
    """Return the problem with a prior that weighs as so many times as many subjects, around the same values."""
    likelihoods = problem.cohort.encoding.likelihoods
    names = [name for likelihood in likelihoods for name in likelihood.hyperparameter_names]
    weighs = np.array([name not in _NO_STRENGTH for name in names])
    # Degrees of a block weigh by what they are above the number of features before the feature.
    before = np.repeat([likelihood.n_before for likelihood in likelihoods], np.diff(problem.cohort.arrays.prior_start))
    least = np.where(np.array(names) == "degrees", before, 0.0)
    prior = np.where(weighs, least + factor * (problem.model.prior - least), problem.model.prior)
    cohort = problem.cohort.with_prior(prior, problem.model.powers)
    return replace(problem, cohort=cohort, model=problem.model._replace(prior=prior))
