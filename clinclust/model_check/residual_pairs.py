"""Which pairs of features depend on each other inside the subtypes: one measure for features of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.associations.residual_dependence import residuals_in
from clinclust.graded import graded, mid_ranks

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["COLUMNS", "residual_pairs"]

Array = NDArray[np.float64]

COLUMNS = ["first", "second", "correlation", "p", "p_of_largest", "n"]
_FEWEST = 10
"""Subjects with both values below which a pair is left out."""


def residual_pairs(fit: Fit, cohort: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each pair of clustered features, the strongest first.

    The measure is the correlation of the residuals of their mid-ranks after regression on the probabilities of the
    clusters; of an unordered feature, of the indicator of the level with the strongest one. It is 0 on average if the
    features are independent given the cluster. p is that of a correlation of n - J pairs of normal values;
    `p_of_largest` is p times the number of correlations: how often the strongest of all would be as strong by chance.

    Parameters
    ----------
    fit : Fit
    cohort : DataFrame, N rows
        As `cohort_of` returns it.
    """
    features = list(dict.fromkeys(feature.whole for feature in fit.clusters_.encoding.features))
    table = graded(
        ((feature.scores(cohort[feature.name]), feature.traits.is_nominal) for feature in features), mid_ranks
    )
    left, seen = residuals_in(table.columns, fit.cluster_membership_)
    n = seen.T @ seen
    squares = (left**2).T @ seen
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (left.T @ left) / np.sqrt(squares * squares.T)
    usable = np.isfinite(r) & (n - fit.cluster_membership_.shape[1] >= _FEWEST)
    r = np.where(usable, np.clip(r, -1.0, 1.0), 0.0)
    first, second = np.triu_indices(len(features), 1)
    rows, n_tried = [], 0
    by_owner = [np.flatnonzero(table.owners == owner) for owner in range(len(features))]
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        block = np.ix_(by_owner[i], by_owner[j])
        n_tried += int(usable[block].sum())
        at = np.unravel_index(np.abs(r[block]).argmax(), r[block].shape)
        rows.append((features[i].name, features[j].name, float(r[block][at]), float(n[block][at])))
    found = pd.DataFrame(rows, columns=["first", "second", "correlation", "n"])
    found = found.astype({"correlation": float, "n": float})  # also without a pair
    found["p"] = _two_sided(found["correlation"].to_numpy(), found["n"].to_numpy() - fit.cluster_membership_.shape[1])
    found["p_of_largest"] = np.minimum(found["p"] * max(n_tried, 1), 1.0)
    order = found["correlation"].abs().sort_values(ascending=False, kind="stable").index
    return found.loc[order, COLUMNS].reset_index(drop=True).astype({"n": "int64"})


def _two_sided(r: Array, df: Array) -> Array:
    """Return the p of correlations with these degrees of freedom, of Student's t."""
    from scipy.special import stdtr

    df = np.maximum(df - 1.0, 1.0)
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt(df / np.maximum(1.0 - r**2, 1e-300))
    return np.asarray(2.0 * stdtr(df, -t))
