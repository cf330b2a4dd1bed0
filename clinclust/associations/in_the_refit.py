"""What a validated p is about: how like the subtypes found without a feature are to the reported ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.associations.evidence import Part
from clinclust.engine.search.labels import adjusted_rand_index

__all__ = ["OTHER_BELOW", "Effects", "agreement", "effects"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

OTHER_BELOW = 0.5
"""Subtypes found without a feature are other ones than the reported if their agreement with these is below this."""


def agreement(reported: Labels, parts: list[Part]) -> float:
    """Return the adjusted Rand index of the subtypes of the parts with the reported ones, weighed by subjects."""
    found = [adjusted_rand_index(reported[part.rows], part.labels) for part in parts]
    return float(np.average(found, weights=[part.rows.size for part in parts]))


class Effects(NamedTuple):
    """The difference in SDs of all subjects between the two reported subtypes that lie farthest apart in a feature."""

    reported: float
    """At least 0."""
    found: float
    """Between the subtypes found without it that have most subjects in common with these two; below 0 if the other one
    is higher."""


def effects(columns: Array, reported: Labels, groups: Labels, parts: list[Part]) -> Effects:
    """Return the effects of a feature, as reported and in the subtypes of the parts; NaN where there is none.

    Parameters
    ----------
    columns : float64 (N, C)
        The feature, or an indicator of each of its levels; NaN = missing. The effect is that of the column in which two
        subtypes lie farthest apart.
    reported : int64 (N,)
        The reported subtypes, 0 to K - 1.
    groups : int64 (N,)
        The same, and -1 in those with too few subjects.
    parts : list of Part
    """
    best = Effects(np.nan, np.nan)
    for column in columns.T:
        seen = ~np.isnan(column)
        spread = float(column[seen].std()) if seen.any() else 0.0
        if spread == 0.0:
            continue
        means = _means(column, groups)
        if np.isfinite(means).sum() < 2:
            continue
        high, low = int(np.nanargmax(means)), int(np.nanargmin(means))
        difference = float(means[high] - means[low]) / spread
        if not difference <= best.reported:
            best = Effects(difference, _found(column, reported, parts, high, low) / spread)
    return best


def _found(column: Array, reported: Labels, parts: list[Part], high: int, low: int) -> float:
    """Return the difference between the subtypes that are matched with two reported ones, weighed by subjects."""
    from scipy.optimize import linear_sum_assignment

    differences, weights = [], []
    for part in parts:
        shape = (int(reported.max()) + 1, int(part.labels.max()) + 1)
        shared = np.zeros(shape)
        np.add.at(shared, (reported[part.rows], part.labels), 1.0)
        matched = dict(zip(*(side.tolist() for side in linear_sum_assignment(shared, maximize=True)), strict=True))
        means = _means(column[part.rows], part.labels)
        if high in matched and low in matched:
            differences.append(means[matched[high]] - means[matched[low]])
            weights.append(part.rows.size)
    return float(np.average(differences, weights=weights)) if differences else float("nan")


def _means(column: Array, groups: Labels) -> Array:
    """Return the mean of each group from 0 on, float64 (K,); NaN if it has no value."""
    seen = ~np.isnan(column) & (groups >= 0)
    n_groups = int(groups.max()) + 1
    n = np.bincount(groups[seen], minlength=n_groups)
    sums = np.bincount(groups[seen], column[seen], minlength=n_groups)
    return np.where(n > 0, sums / np.maximum(n, 1), np.nan)
