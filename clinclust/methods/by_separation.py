"""The number of clusters by how far they lie apart: average silhouette width, or Calinski and Harabasz's ratio."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from clinclust.estimators.parameters import Rule
from clinclust.methods.by_bic import Candidate, lowest_bic
from clinclust.methods.installed import needed

__all__ = ["BIC", "CHOOSE_BY", "CRITERIA", "best_by", "first_number", "separation"]

Array = NDArray[np.float64]

BIC = "bic"
CRITERIA = MappingProxyType(
    {BIC: "BIC", "silhouette": "the average silhouette width", "calinski_harabasz": "the Calinski-Harabasz index"}
)
"""The criteria, as reports name them."""
CHOOSE_BY = Rule(
    "'bic', 'silhouette' or 'calinski_harabasz'", lambda value: isinstance(value, str) and value in CRITERIA
)
_MOST_SUBJECTS = 5_000
"""Silhouettes need the distances of all pairs; of more subjects, a random sample of so many has them."""


def separation(values: Array, labels: NDArray[np.int64], seed: int) -> dict[str, float]:
    """Return the average silhouette width and the Calinski-Harabasz index of clusters; the more the better.

    With a the mean distance of a subject to the others of its cluster, and b the least mean distance to those of
    another, the silhouette width is the mean of (b - a) / max(a, b) (Rousseeuw 1987). The index is the sum of squares
    between K clusters over K - 1, by that within them over N - K (Calinski and Harabasz 1974). Neither is defined for
    one cluster, nor where every subject is one: then they are NaN.

    Parameters
    ----------
    values : float64 (N, C)
    labels : int64 (N,)
    seed : int
        Draws the sample of silhouettes.
    """
    metrics = needed("sklearn.metrics", "the number of clusters")
    found = {"silhouette": np.nan, "calinski_harabasz": np.nan}
    if 1 < np.unique(labels).size < labels.size:
        sample = np.arange(labels.size)
        if labels.size > _MOST_SUBJECTS:
            sample = np.random.default_rng(seed).choice(labels.size, _MOST_SUBJECTS, replace=False)
        if 1 < np.unique(labels[sample]).size < sample.size:
            found["silhouette"] = float(metrics.silhouette_score(values[sample], labels[sample]))
        found["calinski_harabasz"] = float(metrics.calinski_harabasz_score(values, labels))
    return found


def best_by(criterion: str, candidates: Sequence[Candidate]) -> Candidate:
    """Return the best candidate by a criterion of `CRITERIA`; of equal ones the first."""
    if criterion == BIC:
        return lowest_bic(candidates)

    def value(one: Candidate) -> float:
        return float(one.facts[criterion])

    return max((one for one in candidates if np.isfinite(value(one))), key=value, default=candidates[0])


def first_number(criterion: str) -> int:
    """Return the least number of clusters that a criterion can choose."""
    return 1 if criterion == BIC else 2
