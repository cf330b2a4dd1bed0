"""The continuum score: the position of each subject along the main axis of a cohort, for where subtypes are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from clinclust.arguments import accepting
from clinclust.arrays import Array
from clinclust.engine.continuum.null_cohorts import (
    expected_score,
    first_axis,
    nearest_correlation,
    normal_scores,
    reliable_correlations,
    whole_columns,
    with_unit_diagonal,
)
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, cohort_of, fitted_problem, require_search

CONTINUUM_SCORE = "continuum_score"
"""Name of the column of the score."""
_BEYOND_CHANCE = 1.25
"""Multiple of the share of the variance by chance below which the score says nothing."""
_DECIMALS = 6
"""Further decimals depend on the order in which a linear algebra library sums."""


@dataclass(frozen=True)
class Continuum:
    """The main axis of a cohort.

    `score` is (N,), mean 0 and SD 1, NaN where nothing is observed; `correlations` are of the normal scores of each
    feature with it, the strongest first; `share`, 0 to 1, is that of the variance along the axis.
    """

    score: Array
    correlations: pd.Series[float]
    share: float

    @property
    def share_by_chance(self) -> float:
        """The share of independent features, 0 to 1: that of the largest eigenvalue, about (1 + (D / N)^(1/2))^2."""
        n_features, n_subjects = len(self.correlations), int(np.isfinite(self.score).sum())
        return min(float((1.0 + np.sqrt(n_features / max(n_subjects, 1))) ** 2 / max(n_features, 1)), 1.0)

    @property
    def is_by_chance(self) -> bool:
        """Whether the features hardly depend on each other, so that the score orders subjects by chance."""
        return len(self.correlations) > 1 and self.share < _BEYOND_CHANCE * self.share_by_chance


@accepting()
def continuum_score(model: SubtypeModel, frame: pd.DataFrame) -> pd.Series[float]:
    """Return the position of each subject along the main axis of the cohort, such as its severity.

    It is the first principal component (Hotelling 1933, Journal of Educational Psychology 24, 417-441) of the normal
    scores of the features that were clustered on: the value with mid-rank r of n becomes Phi^-1((r - 1/2) / n).

    Parameters
    ----------
    model : MAPDP
        A fitted model.
    frame : DataFrame, N rows
        The cohort of the fit. Rows in another order than at the fit are put back into it.

    Returns
    -------
    Series, N rows
        Named `continuum_score`, with the index of the cohort in the order of the fit; mean 0, standard deviation 1.
        NaN for a subject of whom nothing is observed.

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not a fitted MAPDP, or `frame` is not its cohort.

    Warns
    -----
    CohortWarning
        If the rows of `frame` were in another order than at the fit.

    Notes
    -----
    Most features increase with the score. Where values are missing or outlying, it is the expectation given the other
    values. The levels of a nominal feature are ordered along the axis. Scores of two cohorts do not compare.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> severity = rng.normal(size=80)
    >>> frame = pd.DataFrame(severity[:, None] + 0.7 * rng.normal(size=(80, 6)), columns=list("abcdef"))
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    >>> model = cc.MAPDP(schema, random_state=0).fit(frame)
    >>> score = cc.continuum_score(model, frame)
    >>> bool(np.corrcoef(score, severity)[0, 1] > 0.9)
    True
    """
    require_search(model, "continuum_score")
    cohort = cohort_of(model, frame, stacklevel=3)
    return pd.Series(find_continuum(cohort).score, index=cohort.table.index, name=CONTINUUM_SCORE)


def find_continuum(cohort: FittedCohort) -> Continuum:
    """Return the main axis of the cohort of a MAP-DP search."""
    encoded = fitted_problem(cohort.fit, cohort.table, coarsening=1.0).cohort
    features = encoded.encoding.features
    if not features:
        return Continuum(np.full(len(cohort.table), np.nan), pd.Series(dtype=np.float64), 0.0)
    columns, members = whole_columns(encoded)
    scores = np.column_stack([normal_scores(column) for column in columns])
    correlation = nearest_correlation(with_unit_diagonal(reliable_correlations(scores)))
    axis, variance = first_axis(correlation)
    is_nominal = np.array([len(of) == 1 and features[of[0]].traits.is_nominal for of in members])
    axis = axis * _direction(axis[~is_nominal])
    score = _standardised(expected_score(scores, correlation, axis))
    found = np.array([_correlation(column, score) for column in scores.T])
    found = np.where(is_nominal, np.abs(found), found)  # the order of its levels has no direction of its own
    strongest = np.argsort(-np.abs(found), kind="stable")
    names = [features[members[place][0]].column for place in strongest]
    return Continuum(
        encoded.in_table_order(np.round(score, _DECIMALS)),
        pd.Series(found[strongest], index=names, name="correlation"),
        variance / len(members),
    )


def _direction(axis: Array) -> float:
    """Return the sign that lets most entries be positive; where as many are negative, their sum."""
    balance = float(np.sign(axis).sum()) or float(axis.sum())
    return -1.0 if balance < 0.0 else 1.0


def _standardised(score: Array) -> Array:
    spread = np.nanstd(score) if np.isfinite(score).any() else 0.0
    return (score - np.nanmean(score)) / spread if spread > 0.0 else np.where(np.isnan(score), np.nan, 0.0)


def _correlation(column: Array, score: Array) -> float:
    """Return the correlation of two columns where both are observed; 0 if one does not vary there."""
    both = ~np.isnan(column) & ~np.isnan(score)
    if not both.any():
        return 0.0
    one, other = column[both] - column[both].mean(), score[both] - score[both].mean()
    length = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / length if length > 0.0 else 0.0
