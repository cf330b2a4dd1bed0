"""The two parts of a feature with point masses s_1, ..., s_J (`Feature.spike`, `Feature.limit`).

p(x | k) = pi_kj if x = s_j, and (1 - sum_j pi_kj) f_k(x) otherwise

(hurdle model; Cragg 1971, Econometrica 39, 829-844). With separate priors this is the model of two columns: the first
is categorical, the point mass or none; the second has the other values, and is missing at a point mass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from pydantic import PrivateAttr

from clinclust.arrays import Array
from clinclust.likelihoods.bernoulli import Bernoulli
from clinclust.likelihoods.categorical import Categorical
from clinclust.schema.feature import Feature

if TYPE_CHECKING:
    import pandas as pd


_FEWEST, _SMALLEST_SHARE = 30, 0.1
"""Fewest values at no point mass, and their smallest share, for which their amount forms subtypes."""
OTHER = "other"
"""The level of values at no point mass."""
_OF_BOTH = ("role", "section", "block")
_OF_THE_REST = ("likelihood", "transform", "minimum", "maximum", "contrast", "unit", "prior")


class Part(Feature):
    """One of the two parts of a feature: its levels are ``other`` and the point masses, or its values all others."""

    _whole: Feature = PrivateAttr()
    _lowest: float = PrivateAttr(default=0.0)

    @property
    def whole(self) -> Feature:
        """The feature that this is a part of."""
        return self._whole

    @property
    def lowest(self) -> float:
        """The value that is 0 on the scale of the model: of counts without 0, the lowest possible one."""
        return self._lowest

    @property
    def is_spike(self) -> bool:
        """Whether this is the first part, the point mass of a value."""
        return self.levels is not None

    def scores(self, column: pd.Series) -> Array:
        """Return this part (N,) of a validated column of the whole feature."""
        values = self._whole.scores(column)
        places = place_at(values, self._whole.point_masses)
        return places if self.is_spike else np.where(places > 0.0, np.nan, values)


@lru_cache(maxsize=4096)
def parts_of(whole: Feature) -> tuple[Feature, ...]:
    """Return the two parts of a feature with point masses."""
    masses = whole.point_masses
    shared = {name: getattr(whole, name) for name in _OF_BOTH}
    first = Part(
        name=f"{whole.name}: spike",
        label=whole.title,
        likelihood=Bernoulli.name if len(masses) == 1 else Categorical.name,
        levels=(OTHER, *map(mass_text, masses)),
        **shared,
    )
    own = {name: getattr(whole, name) for name in _OF_THE_REST}
    second = Part(name=f"{whole.name}: rest", label=f"{whole.title}, {_if_other(masses)}", **shared, **own)
    first._whole = second._whole = whole
    if whole.traits.is_count:
        while second._lowest in masses:
            second._lowest += 1.0
    return first, second


def few_of_the_rest(rest: Feature, column: pd.Series) -> str:
    """Return why the values at no point mass are too few to form subtypes; empty if they are not."""
    n_all, n_rest = int(column.notna().sum()), int((~np.isnan(rest.scores(column))).sum())
    if not rest.is_part or rest.levels or n_rest == n_all or n_rest >= max(_FEWEST, _SMALLEST_SHARE * n_all):
        return ""
    return f"{n_rest} of {n_all} values only, which are described, while whether there is one still forms subtypes"


def place_at(values: Array, masses: Sequence[float]) -> Array:
    """Return 1, 2, ... for values (N,) at the first, second, ... point mass, 0 for others; NaN = missing."""
    places = np.where(np.isnan(values), np.nan, 0.0)
    for place, mass in enumerate(masses, start=1):
        places[values == mass] = float(place)
    return places


def mass_text(mass: float) -> str:
    """Return a point mass in words."""
    if math.isinf(mass):
        return "below the limit" if mass < 0.0 else "above the limit"
    return f"{mass:.15g}"


def _if_other(masses: Sequence[float]) -> str:
    if all(map(math.isinf, masses)):
        return "if detected" if masses == (-math.inf,) else "if within the limits"
    return f"if not {' or '.join(map(mass_text, masses))}"


def pairs_of_parts(features: Sequence[Feature]) -> list[tuple[int, int]]:
    """Return the places of the first and the second part of each feature of which both are present."""
    first = {feature.column: place for place, feature in enumerate(features) if feature.is_part and feature.levels}
    return [
        (first[feature.column], place)
        for place, feature in enumerate(features)
        if feature.is_part and not feature.levels and feature.column in first
    ]


def of_wholes(features: Iterable[Feature], terms: Array) -> tuple[list[Feature], Array]:
    """Return the whole features of these parts, and their terms (D, ...) summed over parts."""
    places: dict[Feature, list[int]] = {}
    for place, feature in enumerate(features):
        places.setdefault(feature.whole, []).append(place)
    if len(places) == len(terms):
        return list(places), terms
    return list(places), np.array([terms[members].sum(axis=0) for members in places.values()])
