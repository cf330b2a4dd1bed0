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

from clinclust.estimators.parameters import Rule
from clinclust.methods.encoded import different_rows
from clinclust.methods.method import Clustered, Method, needed

if TYPE_CHECKING:
    from clinclust.methods.encoded import Encoded

__all__ = ["BIC", "Candidate", "NumberFound", "best_by", "compared", "numbers_to_try", "separation"]

Array = NDArray[np.float64]

BIC = "bic"
CRITERIA = MappingProxyType(
    {BIC: "BIC", "silhouette": "the average silhouette width", "calinski_harabasz": "the Calinski-Harabasz index"}
)
"""The criteria, as reports name them."""
_MOST_SUBJECTS = 5_000
"""Silhouettes need the distances of all pairs; of more subjects, a random sample of so many has them."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fitted model of one number of clusters.

    Attributes
    ----------
    n_clusters : int
    log_likelihood : float
        Of the whole cohort, in nats; NaN if the model could not be estimated.
    n_parameters : int
        Number of free parameters.
    labels : int64 (N,)
    membership : float64 (N, K) or None
    has_converged : bool
    facts : dict
        What else the table of all candidates says of it, by name of the column.
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

    Attributes
    ----------
    tried_ : DataFrame
        One row for each model that was tried: `compared`.
    """

    _rules: ClassVar = MappingProxyType(
        {
            "choose_by": Rule(
                "'bic', 'silhouette' or 'calinski_harabasz'",
                lambda value: isinstance(value, str) and value in CRITERIA,
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
        """Return further fitted attributes of the chosen model, by name."""
        return {}

    def _chosen(self, tried: Sequence[Candidate]) -> Candidate:
        return best_by(self.choose_by, tried)

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        # Silhouettes and the ratio of sums of squares are not defined for one cluster.
        first = 1 if self.choose_by == BIC else 2
        numbers = numbers_to_try(self.n_clusters, self.max_clusters, table.values, first)
        tried = [one for number in numbers for one in self._candidates(table, number, seed)]
        chosen = self._chosen(tried)
        return Clustered(
            chosen.labels, chosen.membership, {**self._facts_of(chosen), "tried_": compared(tried, chosen)}
        )

    def _how_chosen(self) -> str:
        """Return how the number of clusters was chosen, as reports say it."""
        if self.n_clusters is not None:
            return "a number given"
        estimated = self.tried_.loc[self.tried_["bic"].notna(), "n_clusters"]
        criterion = CRITERIA[self.choose_by]
        return f"a number chosen by {criterion} among {int(estimated.min())} to {int(estimated.max())}"


def numbers_to_try(n_clusters: int | None, max_clusters: int, values: Array, first: int = 1) -> list[int]:
    """Return the numbers of clusters that are compared: the wanted one, or `first` .. `max_clusters`.

    There are fewer where not more rows of the matrix (N, C) differ.
    """
    if n_clusters is not None:
        return [n_clusters]
    return list(range(first, max(min(max_clusters, different_rows(values) - 1), first) + 1))


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
    """Return the best candidate by a criterion of `CRITERIA`; of equal ones the first.

    Raises
    ------
    ValueError
        If none could be estimated, where the criterion is BIC.
    """
    if criterion == BIC:
        return min((one for one in candidates if np.isfinite(one.log_likelihood)), key=lambda one: one.bic)
    defined = [one for one in candidates if np.isfinite(one.facts[criterion])]
    return max(defined, key=lambda one: float(one.facts[criterion]), default=candidates[0])


def compared(candidates: Sequence[Candidate], chosen: Candidate) -> pd.DataFrame:
    """Return one row for each candidate.

    The columns are n_clusters, its facts, log_likelihood (nats), n_parameters, bic, converged and chosen.
    """
    return pd.DataFrame(
        [
            {
                "n_clusters": one.n_clusters,
                **one.facts,
                "log_likelihood": one.log_likelihood,
                "n_parameters": one.n_parameters,
                "bic": one.bic,
                "converged": one.has_converged,
                "chosen": one is chosen,
            }
            for one in candidates
        ]
    )
