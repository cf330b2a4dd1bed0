"""Profiles: where each subtype lies in every feature or level, as arrays of features or levels (R) by subtypes (K).

A subtype lies where the subtype table says: at the median of a feature for which this table shows the median, and else
at the mean (of a yes/no feature or level: the share). So no figure, sheet or sentence calls a subtype high in a feature
in which the subtype table shows it low.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.estimators.subtype_model import clustered_features
from clinclust.reporting.subtype_table.summaries import (
    SDS_BETWEEN_QUARTILES,
    Compared,
    ComparedFeature,
    Summary,
    default_summary,
)

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = ["Profiles", "profiles_of"]

Array = NDArray[np.float64]

_PLAIN_YES = ("yes", "1", "true", "present")


@dataclass(frozen=True, eq=False)
class Profiles:
    """Summaries of every subtype. A number is NaN if no value was observed or the number is withheld.

    Attributes
    ----------
    features : list of str, R
        Name of the feature of each row.
    levels : list of str or None, R
        Level of each row; None for a feature without levels.
    labels : list of str, R
        Label of the feature, or of its part, of each row.
    titles : list of str, R
        Title of each row: the label of the feature, and the level unless it is a plain yes.
    subtypes : list of int, K
        Numbers of the subtypes from 1; 0 (all subjects) is not among them.
    summaries : list of str, R
        What the subtype table shows of the feature: ``"n"`` (a share), ``"mean"``, ``"rate"`` (a mean) or ``"median"``.
    n, missing, centre : float64 (R, K + 1)
        Number of observed values, number of missing values, and the median or, unless `summaries` says so, the mean.
        The first column is of all subjects.
    spread : float64 (R,)
        Standard deviation of all subjects. Beside medians it is that of a normal distribution with their quartiles, or
        the standard deviation if the quartiles are equal.
    withheld : bool (R, K + 1)
        Whether numbers of the row are withheld in this group because they are about few subjects.
    sizes : dict
        Number of all subjects (0) and of the subjects in each subtype; None if every row withholds it.
    is_rounded : bool
        Whether counts were rounded, so that nothing may depend on what the search did with exact ones.
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
        """Distance of each subtype from all subjects, (centre of the subtype - centre of all) / spread, float64 (R, K).

        It is 0 if all subjects have the same value.
        """
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
        """Distance between the subtypes in each feature, by name; features without any number are left out.

        It is the root mean square of `standardised`, weighted by the observed subjects of each subtype (of means: eta
        of the analysis of variance). For a feature with levels it is the maximum over the levels. Withheld numbers are
        left out.
        """
        found: dict[str, float] = {}
        for feature, means, n in zip(self.features, self.standardised, self.n[:, 1:], strict=True):
            shown = ~np.isnan(means) & (n > 0)
            if shown.any():
                eta = math.sqrt(np.average(means[shown] ** 2, weights=n[shown]))
                found[feature] = max(found.get(feature, 0.0), eta)
        return found

    def ranked_for(self, model: SubtypeModel) -> list[int]:
        """Return the indices of the rows by decreasing relevance of their features, (R,).

        Features of which a number is withheld come last, in the order of the frame: relevance is a function of all
        counts, and the place among others would enclose it. Without a MAP-DP search the order is by decreasing
        `prominence`, which is computed from numbers that are shown.

        Raises
        ------
        ValueError
            If a feature that the subtypes were found from has no row.
        """
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


def profiles_of(comparisons: pd.DataFrame) -> Profiles:
    """Return the summaries of a frame of `clinclust.compare_subtypes` as arrays.

    Raises
    ------
    ValueError
        If the frame has no summaries.
    """
    if "kind" not in comparisons or not (comparisons["kind"] == "summary").any():
        raise InputError("comparisons must be what compare_subtypes returns, with its rows of the kind 'summary'")
    compared = Compared(comparisons)
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
        titles=[_title(feature, level) for feature, level in zip(features, levels, strict=True)],
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


def _title(feature: ComparedFeature, level: str | None) -> str:
    is_plain = level is None or (feature.traits.is_yes_no and level.casefold() in _PLAIN_YES)
    return feature.label if is_plain else f"{feature.label}: {level}"
