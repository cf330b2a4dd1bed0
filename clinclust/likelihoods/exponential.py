"""Exponential likelihood with a Gamma(shape, rate) prior: durations x >= 0.

The predictive is Lomax. The print (Raykov et al. 2016, eq. 21) has the two updates the wrong way round: the shape
counts the observations, the rate adds their sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.likelihoods.likelihood import Array, Likelihood, observed_columns
from clinclust.priors import gamma

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["Exponential"]


@dataclass(frozen=True)
class Exponential(Likelihood):
    """Waiting time with one unknown hazard."""

    name = "exponential"
    prior = gamma
    n_statistics = 2

    @classmethod
    def of(cls, feature: Feature) -> Exponential:
        """Return the likelihood of a duration."""
        return cls()

    def levels(self, values: Array) -> None:
        """Return None: the values are continuous."""
        return

    def statistics(self, values: Array) -> Array:
        """Return (1, x)."""
        return observed_columns(values, 1.0, values)

    def log_base_measure(self, values: Array) -> Array:
        """Return 0."""
        return np.zeros(values.shape)

    def default_hyperparameters(self, values: Array) -> Array:
        """Return shape = 2 and rate = the observed mean, whose predictive mean rate / (shape - 1) is that mean."""
        return np.array([2.0, float(np.nanmean(values))])

    def predictive(self, posterior: Array) -> Any:  # noqa: ANN401
        """Return the Lomax distribution."""
        from scipy.stats import lomax

        shape, rate = posterior
        return lomax(shape, scale=rate)
