"""Impute missing values from the posterior predictives of the clusters.

The predictive of a missing value of subject i is the mixture sum_k p(k | observed values of i) p(x | cluster k).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.engine.problem.blocks import members_of_chains
from clinclust.engine.problem.predictives import (
    block_predictive,
    encoded_block,
    patterns_of,
)
from clinclust.errors import InputError
from clinclust.estimators.imputation.parts import Missing, MissingInParts, levels_of_first, with_cells
from clinclust.schema.feature import pairs_of_parts

if TYPE_CHECKING:
    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit
    from clinclust.schema import Feature, FeatureSchema

Scores: TypeAlias = Callable[[pd.DataFrame], Array]

_WAYS = ("median", "mean", "mode", "draw")
_NEGLIGIBLE = 1e-9
"""Probability below which a cluster is ignored."""


def impute(
    fit: Fit, frame: pd.DataFrame, scores: Scores, how: str, within_subtype: bool, rng: np.random.Generator
) -> pd.DataFrame:
    """Implement `Prediction.impute`; `scores` is `Prediction.cluster_scores` of the model."""
    _check_way(how)
    filled = validated_for_imputation(fit.schema_, frame)
    # Draws of a subject's missing values in a block are one joint draw: each given those that were drawn before.
    given = filled if how == "draw" else filled.copy()
    for missing in _missing(fit, given, _weights(fit, given, scores, how, within_subtype, rng)):
        name = missing.feature.column
        filled[name] = with_cells(filled[name], missing.rows, missing.cells(missing.values(how, rng)))
    return filled


def imputed_cells(
    fit: Fit, frame: pd.DataFrame, scores: Scores, how: str, within_subtype: bool, interval: float
) -> pd.DataFrame:
    """Return one row for each missing cell, with its value and interval."""
    _check_way(how)
    if how == "draw":
        raise InputError("how='draw' has no interval: its values are random; use median, mean or mode")
    if not 0.0 < interval < 1.0:
        raise InputError(f"interval must be a probability above 0 and below 1, such as 0.9, not {interval!r}")
    seen = validated_for_imputation(fit.schema_, frame)
    parts = []
    weights = _weights(fit, seen, scores, how, within_subtype, np.random.default_rng(0))
    for missing in _missing(fit, seen, weights):
        values = missing.values(how, None)
        lower, upper = missing.intervals(interval)
        part = pd.DataFrame({"row": seen.index[missing.rows], "feature": missing.feature.column})
        for name, found in (("value", values), ("lower", lower), ("upper", upper)):
            part[name] = _column_of(found, missing.cells)
        part["probability"] = missing.probabilities(values)
        part["_place"] = missing.rows * len(fit.schema_) + fit.schema_.names.index(missing.feature.column)
        parts.append(part)
    if not parts:
        return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in _COLUMNS.items()})
    return pd.concat(parts).sort_values("_place", ignore_index=True)[list(_COLUMNS)]


_COLUMNS = {"row": object, "feature": object, "value": object, "lower": object, "upper": object, "probability": float}


def _column_of(values: Array, cells: Any) -> NDArray[Any]:
    """Return values of the model as an object array of cells; None where there is no value."""
    column = np.full(values.size, None, dtype=object)
    known = ~np.isnan(values)
    column[known] = cells(values[known]).tolist()
    return column


def _check_way(how: str) -> None:
    if how not in _WAYS:
        raise InputError(f"how must be one of {', '.join(_WAYS)}, not {how!r}")


def validated_for_imputation(schema: FeatureSchema, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the validated columns that the schema names."""
    present = (feature.name for feature in schema if not feature.is_ignored and feature.name in frame)
    return schema.restricted_to(present).validate(frame, warn=False)


@dataclass(frozen=True)
class _MissingInBlock:
    """The missing values (n,) of a feature of a multivariate Gaussian block, each with its own mixture."""

    feature: Feature
    index: int
    rows: NDArray[np.int64]
    each: list[Missing]

    def cells(self, values: Array) -> NDArray[Any]:
        return self.each[0].cells(values)

    def values(self, how: str, rng: np.random.Generator | None) -> Array:
        return np.concatenate([one.values(how, rng) for one in self.each])

    def intervals(self, level: float) -> tuple[Array, Array]:
        below, above = zip(*(one.intervals(level) for one in self.each), strict=True)
        return np.concatenate(below), np.concatenate(above)

    def probabilities(self, values: Array) -> Array:
        """Return NaN for each value."""
        return np.full(values.size, np.nan)


def _missing(fit: Fit, frame: pd.DataFrame, weights: Array) -> Iterator[Missing | _MissingInBlock | MissingInParts]:
    """Yield the missing values of each feature of a validated table, in the order of the encoding."""
    clusters, encoding = fit.clusters_, fit.clusters_.encoding
    in_block = {index: chain for chain in members_of_chains(encoding.features) for index in chain}
    pairs = dict(pairs_of_parts(encoding.features))
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.alone, strict=True)):
        rows = np.flatnonzero(frame[feature.column].isna())
        if index in pairs.values():
            continue  # with the first part
        if rows.size and feature.is_part and feature.levels:
            yield _missing_in_parts(clusters, frame, index, pairs.get(index), rows, weights[rows])
        elif rows.size and index in in_block:
            yield _missing_in_block(clusters, frame, in_block[index], index, rows, weights)
        elif rows.size:
            posteriors = clusters.posteriors(index)
            yield Missing(feature, likelihood, index, rows, posteriors, weights[rows], encoding)


def _missing_in_parts(
    clusters: Clusters, frame: pd.DataFrame, first: int, second: int | None, rows: NDArray[np.int64], weights: Array
) -> MissingInParts:
    """Return the missing values of a feature with point masses, with the encoded parts `first` and `second`."""
    encoding = clusters.encoding
    whole = encoding.features[first].whole
    at = levels_of_first(encoding.alone[first], clusters.posteriors(first), len(whole.point_masses))
    masses = weights @ at
    rest = None
    if second is not None:
        others = weights * at[:, 0]
        others /= np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
        posteriors = clusters.posteriors(second)
        likelihood, part = encoding.alone[second], encoding.features[second]
        rest = Missing(part, likelihood, second, rows, posteriors, others, encoding)
    observed = whole.parts[-1].scores(frame[whole.name])
    return MissingInParts(whole, rows, masses, rest, observed[~np.isnan(observed)], encoding)


def _missing_in_block(
    clusters: Clusters, frame: pd.DataFrame, members: list[int], index: int, rows: NDArray[np.int64], weights: Array
) -> _MissingInBlock:
    """Return the missing values of a feature, given the observed ones of its block of encoded features `members`."""
    encoding = clusters.encoding
    feature, likelihood, place = encoding.features[index], encoding.alone[index], members.index(index)
    of_block = encoded_block(frame.iloc[rows], encoding, members)
    predictive = block_predictive(clusters, members)
    posteriors = np.empty((rows.size, weights.shape[1], len(likelihood.prior.NAMES)))
    for known, here in patterns_of(~np.isnan(of_block)):
        posteriors[here] = predictive.given(place, known, of_block[here])
    each = [
        Missing(feature, likelihood, index, rows[[at]], own, weights[rows[[at]]], encoding)
        for at, own in enumerate(posteriors)
    ]
    return _MissingInBlock(feature, index, rows, each)


def _weights(
    fit: Fit, frame: pd.DataFrame, scores: Scores, how: str, within_subtype: bool, rng: np.random.Generator
) -> Array:
    """Return p(cluster | observed values), a new cluster last, float64 (n, J + 1); 0 or 1 for draws."""
    from clinclust.engine.problem.posterior import probabilities

    weights = probabilities(scores(frame))
    if within_subtype:
        subtype_of = np.append(fit.subtype_of_, fit.n_clusters_)  # the last column is a subtype of its own
        own = subtype_of == fit.subtypes_.summed(weights).argmax(axis=1)[:, None]
        weights = np.where(own, weights, 0.0)
    if how == "draw":
        cumulative = weights.cumsum(axis=1)
        drawn = (cumulative[:, :-1] < rng.random((len(frame), 1)) * cumulative[:, -1:]).sum(axis=1)
        return np.asarray(np.eye(weights.shape[1])[drawn], dtype=np.float64)
    weights = weights / weights.sum(axis=1, keepdims=True)
    weights = np.where(weights < _NEGLIGIBLE, 0.0, weights)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)
