"""The number of clusters by the Bayesian information criterion (BIC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.methods.encoded import different_rows

__all__ = ["Candidate", "compared", "how_chosen", "lowest_bic", "numbers_to_try"]


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
        What else is told of the model, by name of the column in the table of all candidates.
    """

    n_clusters: int
    log_likelihood: float
    n_parameters: int
    labels: NDArray[np.int64]
    membership: NDArray[np.float64] | None = None
    has_converged: bool = True
    facts: dict[str, str | float] = field(default_factory=dict)

    @property
    def bic(self) -> float:
        """Schwarz 1978: -2 log L + p log N, the lower the better."""
        return float(-2.0 * self.log_likelihood + self.n_parameters * np.log(self.labels.size))


def numbers_to_try(n_clusters: int | None, max_clusters: int, values: NDArray[np.float64], first: int = 1) -> list[int]:
    """Return the numbers of clusters that are compared: the wanted one, or `first` .. `max_clusters`.

    There are fewer where not more rows of the matrix (N, C) differ.
    """
    if n_clusters is not None:
        return [n_clusters]
    return list(range(first, max(min(max_clusters, different_rows(values) - 1), first) + 1))


def lowest_bic(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the lowest BIC of those that could be estimated; of equal ones the first.

    Raises
    ------
    ValueError
        If none could be estimated.
    """
    return min((one for one in candidates if np.isfinite(one.log_likelihood)), key=lambda one: one.bic)


def how_chosen(n_clusters: int | None, tried: pd.DataFrame, criterion: str = "BIC") -> str:
    """Return how the number of clusters was chosen, as reports say it; `tried` is what `compared` returned."""
    if n_clusters is not None:
        return "a number given"
    estimated = tried.loc[tried["bic"].notna(), "n_clusters"]
    return f"a number chosen by {criterion} among {int(estimated.min())} to {int(estimated.max())}"


def compared(candidates: Sequence[Candidate], chosen: Candidate) -> pd.DataFrame:
    """Return one row for each candidate.

    The columns are n_clusters, what else is told of it, log_likelihood (nats), n_parameters, bic, converged and chosen.
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
