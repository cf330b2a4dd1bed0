"""Fill missing values from what the clusters say of them.

Imputation is an output. The fit itself integrates missing values out; filling them in with the predictive mode inside
the loop, as appendix F of Raykov et al. (2016) does, adds made-up certainty and invents clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clinclust.mapdp import MAPDP
    from clinclust.schema import Feature

__all__ = ["impute"]

Array = NDArray[np.float64]

_INVERSE: dict[str | None, Callable[[Array], Array]] = {
    None: lambda values: values,
    "log": np.exp,
    "log1p": np.expm1,
    "sqrt": np.square,
}
# A predictive without a finite mean (few observations of a heavy tail) is represented by its median.
_WAYS = ("median", "mean", "mode", "draw")


def impute(model: MAPDP, frame: pd.DataFrame, how: str, rng: np.random.Generator) -> pd.DataFrame:
    """Do the work of `MAPDP.impute`, which documents it."""
    if how not in _WAYS:
        raise ValueError(f"how must be one of {', '.join(_WAYS)}, not {how!r}")
    encoding = model.clusters_.encoding
    filled = model.schema_.restricted_to(
        feature.name for feature in model.schema_ if feature.role != "ignore" and feature.name in frame
    ).validate(frame, warn=False)
    probabilities = model.predict_proba(filled)
    if how == "draw":
        thresholds = rng.random((len(filled), 1))
        clusters = (probabilities.cumsum(axis=1) < thresholds * probabilities.sum(axis=1, keepdims=True)).sum(axis=1)
    else:
        clusters = probabilities.argmax(axis=1)
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        rows = np.flatnonzero(filled[feature.name].isna())
        if rows.size == 0:
            continue
        values = np.empty(rows.size)
        for cluster, posterior in enumerate(model.clusters_.posteriors(index)):
            here = clusters[rows] == cluster
            if here.any():
                predictive = likelihood.predictive(posterior)
                values[here] = _values(likelihood.name, predictive, how, int(here.sum()), rng)
        values = _INVERSE[feature.transform](values * encoding.scales[index] + encoding.centres[index])
        filled[feature.name] = _with(filled[feature.name], rows, values + feature.lowest, feature)
    return filled


def _values(likelihood: str, predictive: Any, how: str, n: int, rng: np.random.Generator) -> Array:
    """Return n values of a predictive: one and the same, or n draws."""
    if how == "draw":
        return np.asarray(predictive.rvs(size=n, random_state=rng), dtype=np.float64)
    if likelihood == "categorical" or (how == "mode" and hasattr(predictive, "pmf")):
        levels = np.arange(predictive.ppf(1.0 - 1e-12) + 1.0)
        return np.full(n, levels[predictive.pmf(levels).argmax()])
    if how == "mode":
        # Student's t is symmetric about its median; a Lomax falls from 0.
        return np.full(n, 0.0 if likelihood == "exponential" else predictive.median())
    value = predictive.mean() if how == "mean" else predictive.median()
    if not np.isfinite(value):
        value = predictive.median()
    return np.full(n, np.rint(value) if hasattr(predictive, "pmf") else value)


def _with(column: pd.Series[Any], rows: NDArray[np.int64], values: Array, feature: Feature) -> pd.Series[Any]:
    """Return a validated column with values (as `Feature.scores` counts them) in some rows."""
    column = column.copy()
    if feature.levels is not None:
        column.iloc[rows] = np.array(feature.levels, dtype=object)[values.astype(np.int64)]
    elif column.dtype == "Int64":
        column.iloc[rows] = values.astype(np.int64)
    else:
        column.iloc[rows] = np.clip(values, feature.minimum, feature.maximum)
    return column
