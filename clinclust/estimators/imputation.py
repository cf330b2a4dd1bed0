"""Impute missing values from the posterior predictives of the clusters.

Imputation is an output: the fit integrates missing values out. Appendix F of Raykov et al. (2016) imputes the
predictive mode inside the loop of the fit. This understates uncertainty and creates clusters that the data do not
support.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.estimators.mixture_values import mixture_values
from clinclust.schema.expectations import largest, limits, transform_limit

if TYPE_CHECKING:
    from clinclust.estimators.prediction import Prediction
    from clinclust.likelihoods import Likelihood
    from clinclust.schema import Feature

__all__ = ["impute"]

Array = NDArray[np.float64]

_INVERSE: dict[str | None, Callable[[Array], Array]] = {
    None: lambda values: values,
    "log": np.exp,
    "log1p": np.expm1,
    "sqrt": lambda values: np.square(np.maximum(values, 0.0)),  # a Gaussian draw may be negative, a root is not
}
_WAYS = ("median", "mean", "mode", "draw")


def impute(model: Prediction, frame: pd.DataFrame, how: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return the validated columns with missing values filled in; see `Prediction.impute`."""
    if how not in _WAYS:
        raise InputError(f"how must be one of {', '.join(_WAYS)}, not {how!r}")
    encoding = model.clusters_.encoding
    filled = model.schema_.restricted_to(
        feature.name for feature in model.schema_ if feature.role != "ignore" and feature.name in frame
    ).validate(frame, warn=False)
    weights = _weights(model, filled, how, rng)
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        rows = np.flatnonzero(filled[feature.name].isna())
        posteriors = model.finer_clusters_.posteriors(index)
        values = _values_of(feature, likelihood, posteriors, weights[rows], how, rng)
        with np.errstate(over="ignore"):  # a draw from a heavy tail may overflow; `_with` clips it to the range
            values = _INVERSE[feature.transform](values * encoding.scales[index] + encoding.centres[index])
        filled[feature.name] = _with(filled[feature.name], rows, values + feature.lowest, feature)
    return filled


def _weights(model: Prediction, filled: pd.DataFrame, how: str, rng: np.random.Generator) -> Array:
    """Return the weight of each cluster that the search found, and of a new one, float64 (n, J + 1); rows sum to 1.

    A draw has the weight 1 for the cluster that was drawn. Otherwise the clusters of the subtype of each subject share
    the weight by their probabilities, which depend on what was observed of the subject.
    """
    from clinclust.engine.problem.posterior import probabilities

    finer = probabilities(model.finer_scores(filled))
    if how == "draw":
        cumulative = finer.cumsum(axis=1)
        drawn = (cumulative[:, :-1] < rng.random((len(filled), 1)) * cumulative[:, -1:]).sum(axis=1)
        return np.asarray(np.eye(finer.shape[1])[drawn], dtype=np.float64)
    subtype_of = np.append(model.subtype_of_, model.n_clusters_)  # the last column is a subtype of its own
    own = subtype_of == model.clusters_.summed(finer).argmax(axis=1)[:, None]
    weights = np.where(own, finer, 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def _values_of(
    feature: Feature, likelihood: Likelihood, posteriors: Array, weights: Array, how: str, rng: np.random.Generator
) -> Array:
    """Return the values of subjects (n,) whose clusters, with posteriors (J + 1, P), have these weights (n, J + 1)."""
    values, single = np.empty(len(weights)), weights.max(axis=1) == 1.0
    for cluster, posterior in enumerate(posteriors):
        here = single & (weights[:, cluster] == 1.0)
        if here.any():
            values[here] = _values(likelihood, posterior, how, int(here.sum()), rng)
    if not single.all():
        found = mixture_values(feature, likelihood, posteriors, weights[~single], how)
        values[~single] = found if likelihood.is_continuous else np.rint(found)
    return values


def _values(likelihood: Likelihood, posterior: Array, how: str, n: int, rng: np.random.Generator) -> Array:
    """Return n values from a posterior predictive, float64 (n,): its median, mean or mode n times, or n draws."""
    if how == "draw":
        return likelihood.draw(posterior, n, rng)
    if how == "mode" or likelihood.is_nominal:
        return np.full(n, likelihood.mode(posterior))
    value = likelihood.predictive(posterior).mean() if how == "mean" else np.inf
    if not np.isfinite(value):  # after few observations a heavy-tailed predictive has no finite mean
        value = likelihood.median(posterior)
    return np.full(n, value if likelihood.is_continuous else np.rint(value))


def _with(column: pd.Series[Any], rows: NDArray[np.int64], values: Array, feature: Feature) -> pd.Series[Any]:
    """Return a copy of a validated column with `values` in `rows`, clipped to the range that the schema allows.

    Values are on the scale of `Feature.scores`: of a feature with levels, the index of the level.
    """
    column = column.copy()
    if feature.levels is not None:
        column.iloc[rows] = np.array(feature.levels, dtype=object)[values.astype(np.int64)]
        return column
    most = largest(feature)
    lowest, highest = max(limits(feature)[0], -most), min(limits(feature)[1], most)
    if column.dtype == "Int64":
        column.iloc[rows] = np.clip(values, np.ceil(lowest), np.floor(highest)).astype(np.int64)
        return column
    if feature.transform is not None:
        limit, usable = transform_limit(feature)
        lowest = max(lowest, limit if usable else np.nextafter(limit, np.inf))
    column.iloc[rows] = np.clip(values, lowest, highest)
    return column
