"""The number of clusters: by BIC, or by how far clusters lie apart."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import Rule
from clinclust.arrays import Array
from clinclust.methods.encoded import different_rows
from clinclust.methods.method import Clustered, Method, needed

if TYPE_CHECKING:
    from clinclust.methods.encoded import Encoded


BIC = "bic"
CRITERIA = MappingProxyType(
    {BIC: "BIC", "silhouette": "the average silhouette width", "calinski_harabasz": "the Calinski-Harabasz index"}
)
"""The criteria, as reports name them."""
_MOST_SUBJECTS = 5_000
"""Silhouettes need the distances of all pairs; of more subjects, a random sample of so many is taken."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fitted model of one number of clusters; `log_likelihood` is NaN if it could not be estimated.

    `facts` holds further columns of the table of all candidates, by name.
    """

    n_clusters: int
    log_likelihood: float
    n_parameters: int
    labels: NDArray[np.int64]
    membership: Array | None = None
    has_converged: bool = True
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def bic(self) -> float:
        """Schwarz 1978: -2 log L + p log N, the lower the better."""
        return float(-2.0 * self.log_likelihood + self.n_parameters * np.log(self.labels.size))


class NumberFound(Method):
    """A method that fits models of several numbers of clusters, and chooses one by `choose_by`.

    `tried_` has one row for each model that was tried (`compared`).
    """

    _rules: ClassVar = MappingProxyType(
        {
            "choose_by": Rule(
                "'bic', 'silhouette' or 'calinski_harabasz'", lambda value: isinstance(value, str) and value in CRITERIA
            )
        }
    )

    n_clusters: int | None
    max_clusters: int
    choose_by: str
    tried_: pd.DataFrame

    @abstractmethod
    def _candidates(self, table: Encoded, n_clusters: int, seed: int) -> Iterable[Candidate]:
        """Fit the models of one number of clusters."""

    def _facts_of(self, chosen: Candidate) -> dict[str, Any]:
        return {}

    def _chosen(self, tried: Sequence[Candidate]) -> Candidate:
        return best_by(self.choose_by, tried)

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        # Silhouettes and the ratio of sums of squares are not defined for one cluster.
        first = 1 if self.choose_by == BIC else 2
        numbers = numbers_to_try(self.n_clusters, self.max_clusters, table.values, first)
        tried = [one for number in numbers for one in self._candidates(table, number, seed)]
        chosen = self._chosen(tried)
        facts = self._facts_of(chosen) | {"tried_": compared(tried, chosen)}
        return Clustered(chosen.labels, chosen.membership, facts)

    def _how_chosen(self) -> str:
        if self.n_clusters is not None:
            return "a number given"
        estimated = self.tried_.loc[self.tried_["bic"].notna(), "n_clusters"]
        return f"a number chosen by {CRITERIA[self.choose_by]} among {estimated.min():.0f} to {estimated.max():.0f}"


def numbers_to_try(n_clusters: int | None, max_clusters: int, values: Array, first: int = 1) -> list[int]:
    """Return the wanted number, or `first` .. `max_clusters`, fewer where not more rows of the matrix (N, C) differ."""
    if n_clusters is not None:
        return [n_clusters]
    return list(range(first, max(min(max_clusters, different_rows(values) - 1), first) + 1))


def separation(values: Array, labels: NDArray[np.int64], seed: int) -> dict[str, float]:
    """Return the average silhouette width and the Calinski-Harabasz index of clusters; the more the better.

    With a the mean distance of a subject to the others of its cluster, and b the least mean distance to those of
    another, the silhouette width is the mean of (b - a) / max(a, b) (Rousseeuw 1987). The index is the sum of squares
    between K clusters over K - 1, by that within them over N - K (Calinski and Harabasz 1974). Both are NaN for one
    cluster, or where every subject is one.
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
    """Return the best candidate by a criterion of `CRITERIA`, of equal ones the first; ValueError if none has a BIC."""
    if criterion == BIC:
        return min((one for one in candidates if np.isfinite(one.log_likelihood)), key=lambda one: one.bic)
    defined = [one for one in candidates if np.isfinite(one.facts[criterion])]
    return max(defined, key=lambda one: float(one.facts[criterion]), default=candidates[0])


def compared(candidates: Sequence[Candidate], chosen: Candidate) -> pd.DataFrame:
    """Return one row for each candidate."""
    rows = []
    for one in candidates:
        numbers = {"log_likelihood": one.log_likelihood, "n_parameters": one.n_parameters, "bic": one.bic}
        verdicts = {"converged": one.has_converged, "chosen": one is chosen}
        rows.append({"n_clusters": one.n_clusters} | one.facts | numbers | verdicts)
    return pd.DataFrame(rows)
