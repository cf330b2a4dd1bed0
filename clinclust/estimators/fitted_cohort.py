"""The cohort of a fitted model: a partition with the table of its subjects, and the problem of the fit.

A public function takes a model and a table of its user, makes one `FittedCohort` of them (`cohort_of`), and hands that
on: everything below relies on validated columns in the order of the labels.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.outlying import without_outlying
from clinclust.engine.problem.problem import pose
from clinclust.errors import CohortError, CohortWarning, InputError, refuse
from clinclust.estimators.cohort_table import hint_at_rows
from clinclust.estimators.subtype_model import NOT_FITTED, is_fitted, require_search

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.problem import Problem
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import FeatureSchema


@dataclass(frozen=True, eq=False)
class FittedCohort:
    """A partition of a cohort with the table of its subjects.

    Attributes
    ----------
    model : SubtypeModel
        A fitted `MAPDP` or `GibbsDP`, a `Partition`, or the result of another method.
    table : DataFrame, N rows
        The validated columns of the schema, with rows in the order of the labels of the model.
    """

    model: SubtypeModel
    table: pd.DataFrame

    @property
    def schema(self) -> FeatureSchema:
        """Schema of the cohort."""
        return self.model.schema_

    @property
    def labels(self) -> NDArray[np.int64]:
        """Subtype of each subject, int64 (N,), 0 .. K - 1 by decreasing size."""
        return np.asarray(self.model.labels_, dtype=np.int64)

    @property
    def fit(self) -> Fit:
        """Results of the MAP-DP search; InputError if no such search made the partition (`model.fit_` is None)."""
        return require_search(self.model, "this")


def cohort_of(model: SubtypeModel, frame: pd.DataFrame, *, stacklevel: int = 2) -> FittedCohort:
    """Validate a table as the cohort of a model, and put its rows in the order of the labels (which warns).

    CohortError is raised if the table does not fit the schema, InputError if it is not the cohort. A `Partition` has no
    fingerprint: number and index of its rows are compared. Stack level 1 is the caller.
    """
    refuse(cohort_problems(model, frame))
    validated = model.schema_.validate(frame, warn=False)
    if model.fit_ is None:
        return FittedCohort(model, validated)
    rows = model.fit_.cohort_fingerprint_.rows_of_fit(validated)
    if rows is None:
        compared = _some([str(name) for name in validated])
        raise InputError(
            f"the table has as many rows as the cohort that the model was fitted on ({len(frame)}) and fits its "
            "schema, but it holds other subjects or other values; give the table that the model was fitted on (its "
            f"rows may be in any order), or fit the model again on this one (compared: {compared})"
            f"{hint_at_rows(model.schema_)}"
        )
    if np.array_equal(rows, np.arange(len(rows))):
        return FittedCohort(model, validated)
    warnings.warn(
        "the rows of the table are in another order than when the model was fitted; they were put back into that order",
        CohortWarning,
        stacklevel=stacklevel + 1,
    )
    return FittedCohort(model, validated.iloc[rows])


def cohort_problems(model: SubtypeModel, frame: pd.DataFrame) -> list[str]:
    """Return why `frame` cannot be the cohort, by its number of rows and its index, with repairs; empty if it can."""
    if not is_fitted(model):
        return [NOT_FITTED]
    if getattr(model.fit_, "in_sample_", None) is not None:
        return ["the model was fitted on a table in partitions; model.in_sample() gives a model and a table in memory"]
    if len(frame) != len(model.labels_):
        given, which = (
            ("the labels are of", "which the labels are of")
            if model.fit_ is None
            else ("the model was fitted on", "that it was fitted on")
        )
        return [
            f"the table has {len(frame)} rows, but {given} {len(model.labels_)} subjects; give the table {which}"
            f"{hint_at_rows(model.schema_) if model.fit_ is not None else ''}"
        ]
    if model.index_ is not None and not model.index_.equals(frame.index):
        return [
            "the labels are a Series whose index differs from the table's, so its order may differ too; align them "
            "with `labels.loc[frame.index]`, or pass `labels.to_numpy()` if the order is the same"
        ]
    return []


def rows_of_the_fit(fit: Fit, frame: pd.DataFrame) -> NDArray[np.int64] | None:
    """Return the position in `frame` of each subject of the fit, int64 (N,); None if `frame` is another table."""
    if len(frame) != len(fit.cluster_labels_):
        return None
    try:
        validated = fit.schema_.validate(frame, warn=False)
    except CohortError:
        return None  # new subjects need neither identifiers nor described columns
    return fit.cohort_fingerprint_.rows_of_fit(validated)


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more columns" if len(names) > 8 else "")


Included = NDArray[np.bool_]


def fitted_problem(fit: Fit, frame: pd.DataFrame, coarsening: float) -> Problem:
    """Return the problem of a fit at this coarsening: its hyperparameters, block weights, features and kept values.

    `frame` is as `cohort_of` returns it.
    """
    return with_selected(*fitted_problem_of_all_features(fit, frame, coarsening))


def with_selected(problem: Problem, included: Included) -> Problem:
    """Return the problem with the selected features, bool (D,); all if none are selected."""
    return problem if included.all() or not included.any() else problem.with_features(included)


def fitted_problem_of_all_features(fit: Fit, frame: pd.DataFrame, coarsening: float) -> tuple[Problem, Included]:
    """Return the problem with all features, and which of them the fit selected, bool (D,); see `fitted_problem`."""
    schema, stated, powers = fit.schema_, fit.hyperparameters_, fit.block_weights_
    problem = pose(frame, schema, stated, fit.concentration_, fit.discount_, coarsening, powers)
    features, clusters = problem.cohort.encoding.features, fit.clusters_
    if fit.outlying_share_ > 0.0:
        outlying = fit.outliers_[:, schema.places(features)][problem.cohort.order]
        problem = without_outlying(problem, outlying, fit.outlying_share_)
    selected = dict(zip((feature.name for feature in clusters.encoding.features), clusters.included, strict=True))
    return problem, np.array([selected[feature.name] for feature in features], dtype=np.bool_)
