"""The problem that a fit has solved, posed again from its cohort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.outlying import without_outlying
from clinclust.engine.problem.problem import pose

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.problem import Problem
    from clinclust.estimators.fit import Fit

__all__ = ["fitted_problem", "fitted_problem_of_all_features", "with_selected"]

Included = NDArray[np.bool_]


def fitted_problem(fit: Fit, frame: pd.DataFrame, coarsening: float) -> Problem:
    """Return the problem of a fit: its hyperparameters, its powers of blocks, and the features and values that it kept.

    Parameters
    ----------
    fit : Fit
    frame : DataFrame, N rows
        The cohort of the fit, as `cohort_of` returns it.
    coarsening : float
        The power of the likelihood; `fit.coarsening_` was that of the fit.
    """
    return with_selected(*fitted_problem_of_all_features(fit, frame, coarsening))


def with_selected(problem: Problem, included: Included) -> Problem:
    """Return the problem in which the features that a fit selected, bool (D,), differ between clusters.

    A fit of one cluster may have selected none; all features then stay.
    """
    return problem if included.all() or not included.any() else problem.with_features(included)


def fitted_problem_of_all_features(fit: Fit, frame: pd.DataFrame, coarsening: float) -> tuple[Problem, Included]:
    """Return the problem with the features that the fit did not select too, and which it selected, bool (D,).

    The arguments are those of `fitted_problem`.
    """
    schema, stated, powers = fit.schema_, fit.hyperparameters_, fit.block_weights_
    problem = pose(frame, schema, stated, fit.concentration_, fit.discount_, coarsening, powers)
    features, clusters = problem.cohort.encoding.features, fit.clusters_
    if fit.outlying_share_ > 0.0:
        outlying = fit.outliers_[:, schema.places(features)][problem.cohort.order]
        problem = without_outlying(problem, outlying, fit.outlying_share_)
    selected = dict(zip((feature.name for feature in clusters.encoding.features), clusters.included, strict=True))
    return problem, np.array([selected[feature.name] for feature in features], dtype=np.bool_)
