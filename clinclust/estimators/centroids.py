"""The parameters of the subtypes in each feature, with intervals (Raykov et al. 2016, appendix D and eq. 32)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clinclust.arrays import Array

if TYPE_CHECKING:
    from clinclust.estimators.mixture import SubtypeMixture
    from clinclust.likelihoods import Likelihood
    from clinclust.schema import Feature, FeatureSchema

_TAIL = 0.025
_COLUMNS = ("feature", "parameter", "level", "subtype", "estimate", "lower", "upper")


def cluster_parameters(subtypes: SubtypeMixture, schema: FeatureSchema) -> pd.DataFrame:
    """Return the table of `MAPDP.cluster_parameters_`."""
    encoding = subtypes.encoding
    of_part = {feature.name: index for index, feature in enumerate(encoding.features)}
    rows: list[tuple[Any, ...]] = []
    for part in schema.clustered_parts:
        if part.name in of_part:
            index, likelihood = of_part[part.name], encoding.alone[of_part[part.name]]
            posteriors = subtypes.pooled.posteriors(index)[:-1]
            centre, scale = encoding.standards_of(index, 0)
            stated = [likelihood.stated_hyperparameters(posterior, centre, scale) for posterior in posteriors]
            rows += _rows(part, likelihood, np.array(stated))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _rows(feature: Feature, likelihood: Likelihood, posteriors: Array) -> Iterator[tuple[Any, ...]]:
    """Yield one row for each parameter, level and subtype."""
    for name, distribution in likelihood.parameters(posteriors).items():
        if name == "sd" and feature.transform is not None:
            continue  # no number in the unit of the column says it
        mean, lower, upper = distribution.mean(), distribution.ppf(_TAIL), distribution.ppf(1.0 - _TAIL)
        estimate = np.where(np.isfinite(mean), mean, distribution.median())  # few values may leave no finite mean
        numbers = np.stack([estimate, lower, upper])
        if name == "mean":
            numbers, name = _in_unit(feature, numbers)
        levels = _levels(feature, likelihood)
        for place, level in enumerate(levels):
            of_level = numbers[..., place] if numbers.ndim == 3 else numbers
            for subtype, row in enumerate(of_level.T.tolist(), start=1):
                yield feature.name, name, level, subtype, *row


def _in_unit(feature: Feature, numbers: Array) -> tuple[Array, str]:
    """Return means (3, K) in the unit of the column, and what they are called."""
    known = feature.level_numbers
    if known is not None and np.ptp(np.diff(known.numbers)) < 1e-9 * known.step:  # a scale of even steps
        ends = known.numbers[0] + numbers * (known.numbers[1] - known.numbers[0])
        return np.vstack([ends[:1], np.sort(ends[1:], axis=0)]), "mean"
    return feature.from_model_scale(numbers), "mean" if feature.transform is None else "back-transformed mean"


def _levels(feature: Feature, likelihood: Likelihood) -> list[str]:
    """Return the levels whose probabilities are parameters; an empty text for a mean."""
    if likelihood.is_yes_no:
        return [feature.levels[1] if feature.levels else "1"]
    if not likelihood.counts_levels:
        return [""]
    if feature.levels:
        return list(feature.levels)
    return [f"{feature.lowest + step:g}" for step in range((feature.n_trials or 0) + 1)]
