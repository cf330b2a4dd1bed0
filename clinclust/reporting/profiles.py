"""Profiles: the summaries of a comparisons frame as arrays of features or levels (R) by subtypes (K)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.comparisons.frame import ALL_SUBJECTS, ComparisonsFrame
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import clustered_features
from clinclust.likelihoods import traits_of

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
    titles : list of str, R
        Title of each row: the label of the feature, and the level unless it is a plain yes.
    subtypes : list of int, K
        Numbers of the subtypes from 1; 0 (all subjects) is not among them.
    n, missing, mean, sd : float64 (R, K + 1)
        Number of observed values, number of missing values, mean and standard deviation. The first column is of all
        subjects.
    withheld : bool (R, K + 1)
        Whether numbers of the row are withheld in this group because they are about few subjects.
    """

    features: list[str]
    levels: list[str | None]
    titles: list[str]
    subtypes: list[int]
    n: Array
    missing: Array
    mean: Array
    sd: Array
    withheld: NDArray[np.bool_]

    @property
    def standardised(self) -> Array:
        """Standardised means, (mean of the subtype - mean of all subjects) / SD of all subjects, float64 (R, K).

        They are 0 if all subjects have the same value.
        """
        difference, spread = self.mean[:, 1:] - self.mean[:, :1], self.sd[:, :1]
        with np.errstate(all="ignore"):
            return np.asarray(np.where((spread == 0) & (difference == 0), 0.0, difference / spread))

    @property
    def percent_missing(self) -> Array:
        """Percentage of the subjects of each group without a value, float64 (R, K + 1)."""
        with np.errstate(all="ignore"):
            return np.asarray(100 * self.missing / (self.missing + self.n))

    @cached_property
    def sizes(self) -> dict[int, int | None]:
        """Number of all subjects (0) and of the subjects in each subtype; None if every row withholds it."""
        found = [column[~np.isnan(column)] for column in (self.n + self.missing).T]
        groups = [ALL_SUBJECTS, *self.subtypes]
        return {group: int(totals[0]) if totals.size else None for group, totals in zip(groups, found, strict=True)}

    @property
    def prominence(self) -> dict[str, float]:
        """Distance between the subtypes in each feature, by name; features without any number are left out.

        It is the root mean square of the standardised means, weighted by the observed subjects of each subtype (eta of
        the analysis of variance). For a feature with levels it is the maximum over the levels. Withheld numbers are
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

        Without a MAP-DP search the order is by decreasing `prominence`.

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
        return self.ranked(model.fit_.feature_relevance_.to_dict())

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
    read = ComparisonsFrame(comparisons)
    summaries = {(feature, level): rows for feature, levels in read.summaries.items() for level, rows in levels.items()}
    places = np.vstack([read.places(levels) for levels in read.summaries.values()])
    titles = []
    for (_, level), rows in summaries.items():
        row = next(iter(rows.values()))
        plain = level is None or (traits_of(row["likelihood"]).is_yes_no and level.casefold() in _PLAIN_YES)
        titles.append(str(row["label"]) if plain else f"{row['label']}: {level}")
    return Profiles(
        features=[feature for feature, _ in summaries],
        levels=[level for _, level in summaries],
        titles=titles,
        subtypes=read.subtypes,
        **{name: read.numbers(name, places) for name in ("n", "missing", "mean", "sd")},
        withheld=read.numbers("suppressed", places) == 1,
    )
