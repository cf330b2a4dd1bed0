"""Exponential likelihood with a Gamma(shape, rate) prior: durations x >= 0.

The predictive is Lomax. The print (Raykov et al. 2016, eq. 21) has the two updates the wrong way round: the shape
counts the observations, the rate adds their sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np

from clinclust.likelihoods.example import Example
from clinclust.likelihoods.likelihood import Array, Declaration, DraftedFor, Likelihood, observed_columns
from clinclust.priors import gamma

__all__ = ["Exponential"]


@dataclass(frozen=True)
class Exponential(Likelihood):
    """Waiting time with one unknown hazard."""

    name: ClassVar[str] = "exponential"
    title: ClassVar[str] = "exponential"
    alternatives: ClassVar[tuple[str, ...]] = ("gaussian",)
    prior: ClassVar[ModuleType] = gamma
    kernel: ClassVar[int] = 6
    is_continuous: ClassVar[bool] = True
    is_skewed: ClassVar[bool] = True
    takes: ClassVar[frozenset[str]] = frozenset({"minimum", "maximum", "transform"})
    drafted_for: ClassVar[frozenset[DraftedFor]] = frozenset({"measurement"})
    effect_sizes: ClassVar[Literal["shares", "means", "rates"]] = "rates"
    n_statistics = 2

    @classmethod
    def of(cls, declaration: Declaration) -> Exponential:
        """Return the likelihood of a duration."""
        return cls()

    def statistics(self, values: Array) -> Array:
        """Return (1, x)."""
        return observed_columns(values, 1.0, values)

    def encoded(self, values: Array) -> Array:
        """Return z = sqrt(x), in which the log predictive has the form of Student's t."""
        return np.sqrt(values)

    def default_hyperparameters(self, values: Array) -> Array:
        """Return shape = 2 and rate = the observed mean, whose predictive mean rate / (shape - 1) is that mean."""
        return np.array([2.0, float(np.nanmean(values))])

    def draft_hyperparameters(self, values: Array) -> Array:
        """Return the prior that weighs as one subject at the observed mean."""
        return np.array([1.0, float(np.nanmean(values))])

    def predictive(self, posterior: Array) -> Any:
        """Return the Lomax distribution."""
        from scipy.stats import lomax

        shape, rate = posterior
        return lomax(shape, scale=rate)

    def mode(self, posterior: Array) -> float:
        """Return 0: the density falls from there."""
        return 0.0

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return durations."""
        return (
            Example(
                prior={"shape": 3.1, "rate": 5.0},
                draw=lambda rng, prior, n: rng.exponential(1.0 / rng.gamma(prior[0], 1.0 / prior[1], n)),
                column=lambda rng, groups, k: rng.exponential(rng.gamma(1, 5, k)[groups]),
                random_prior=lambda rng, values: {"shape": rng.gamma(2), "rate": rng.gamma(2)},
                edge_cases=((0.0, 1.0), (1e-9, 1e9), (3.0, 3.0, np.nan, 4.0)),
            ),
        )
