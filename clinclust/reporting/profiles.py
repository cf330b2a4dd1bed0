"""Profiles: median, mean or share of every feature or level (R) in each subtype (K), as in the subtype table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import SubtypeModel, clustered_features
from clinclust.reporting.subtype_table.summaries import (
    SDS_BETWEEN_QUARTILES,
    Compared,
    Summary,
    default_summary,
)


@dataclass(frozen=True, eq=False)
class Profiles:
    """Summaries of every subtype. A number is NaN if no value was observed or the number is withheld.

    `n`, `missing`, `centre` (median or mean) and `withheld` are (R, K + 1), the first column of all subjects. `spread`,
    (R,), is the SD of all subjects; for medians that of a normal distribution with their quartiles. `sizes` are by
    subtype, 0 = all subjects.
    """

    features: list[str]
    levels: list[str | None]
    labels: list[str]
    titles: list[str]
    subtypes: list[int]
    summaries: list[Summary]
    n: Array
    missing: Array
    centre: Array
    spread: Array
    withheld: NDArray[np.bool_]
    sizes: dict[int, int | None]
    is_rounded: bool

    @property
    def standardised(self) -> Array:
        """(centre of the subtype - centre of all subjects) / spread, float64 (R, K); 0 if nothing varies."""
        difference, spread = self.centre[:, 1:] - self.centre[:, :1], self.spread[:, np.newaxis]
        with np.errstate(all="ignore"):
            return np.asarray(np.where((spread == 0) & (difference == 0), 0.0, difference / spread))

    @property
    def has_medians(self) -> bool:
        """Whether some feature is shown by its median."""
        return "median" in self.summaries

    @property
    def percent_missing(self) -> Array:
        """Percentage of the subjects of each group without a value, float64 (R, K + 1)."""
        with np.errstate(all="ignore"):
            return np.asarray(100 * self.missing / (self.missing + self.n))

    @cached_property
    def withheld_features(self) -> set[str]:
        """The names of the features of which a number is withheld."""
        return {self.features[row] for row in np.flatnonzero(self.withheld.any(axis=1))}

    @property
    def prominence(self) -> dict[str, float]:
        """Root mean square of `standardised` over the subtypes, weighted by n; the maximum over levels, by feature."""
        found: dict[str, float] = {}
        for feature, means, n in zip(self.features, self.standardised, self.n[:, 1:], strict=True):
            shown = ~np.isnan(means) & (n > 0)
            if shown.any():
                eta = math.sqrt(np.average(means[shown] ** 2, weights=n[shown]))
                found[feature] = max(found.get(feature, 0.0), eta)
        return found

    def ranked_for(self, model: SubtypeModel) -> list[int]:
        """Return the rows, (R,), by decreasing relevance, or `prominence` without a search; withheld features last."""
        expected = set(clustered_features(model)) if model.fit_ is None else set(model.fit_.feature_relevance_.index)
        unknown = sorted(expected - set(self.features))
        if unknown:
            raise InputError(
                f"the comparisons hold nothing about {', '.join(map(str, unknown))}, which the model was fitted on; "
                "pass what compare_subtypes returns for this model's labels and schema"
            )
        if model.fit_ is None:
            return self.ranked(self.prominence)
        relevance = model.fit_.feature_relevance_.to_dict()
        return self.ranked({name: nats for name, nats in relevance.items() if name not in self.withheld_features})

    def ranked(self, ranks: Mapping[Any, float]) -> list[int]:
        """Return the indices of the rows by decreasing rank of their features; features without a rank come last."""
        order = {name: place for place, name in enumerate(dict.fromkeys(self.features))}
        return sorted(
            range(len(self.features)),
            key=lambda row: (-ranks.get(self.features[row], -np.inf), order[self.features[row]], row),
        )


def profiles_of(compared: Compared) -> Profiles:
    """Return the summaries of a frame of `clinclust.compare_subtypes` as arrays; ValueError if it has none."""
    if not compared.rows("summary"):
        raise InputError("comparisons must be what compare_subtypes returns, with its rows of the kind 'summary'")
    parts = [part for feature in compared.features.values() for part in feature.parts]
    features = [part for part in parts for _ in part.summaries]
    levels = [level for part in parts for level in part.summaries]
    places = np.vstack([compared.places(part.summaries) for part in parts])
    summaries = [default_summary(feature) for feature in features]
    is_median = np.array([summary == "median" for summary in summaries])
    numbers = {name: compared.numbers(name, places) for name in ("n", "missing", "mean", "median")}
    sd, q1, q3 = (compared.numbers(name, places[:, :1])[:, 0] for name in ("sd", "q1", "q3"))
    return Profiles(
        features=[feature.name for feature in features],
        levels=levels,
        labels=[feature.label for feature in features],
        titles=[feature.label + feature.suffix(level) for feature, level in zip(features, levels, strict=True)],
        subtypes=compared.subtypes,
        summaries=summaries,
        n=numbers["n"],
        missing=numbers["missing"],
        centre=np.where(is_median[:, np.newaxis], numbers["median"], numbers["mean"]),
        spread=np.where(is_median & (q3 != q1), (q3 - q1) / SDS_BETWEEN_QUARTILES, sd),
        withheld=compared.numbers("suppressed", places) == 1,
        sizes=compared.sizes,
        is_rounded=compared.is_rounded,
    )
