"""Geometric likelihood with a Beta(a, b) prior: failures before the first success, 0, 1, 2, ...

The predictive is B(a + 1, b + x) / B(a, b) (Raykov et al. 2016, eqs. 30-31).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.likelihoods.likelihood import Array, Likelihood, observed_columns
from clinclust.priors import beta

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["Geometric"]


@dataclass(frozen=True)
class Geometric(Likelihood):
    """Waiting time in whole steps with one unknown probability of ending at each."""

    name = "geometric"
    prior = beta
    n_statistics = 2

    @classmethod
    def of(cls, feature: Feature) -> Geometric:
        """Return the likelihood of a waiting count."""
        return cls()

    def statistics(self, values: Array) -> Array:
        """Return (1, x)."""
        return observed_columns(values, 1.0, values)

    def log_base_measure(self, values: Array) -> Array:
        """Return 0."""
        return np.zeros(values.shape)

    def default_hyperparameters(self, values: Array) -> Array:
        """Return a = 2 and b = the observed mean, whose predictive mean b / (a - 1) is the observed mean."""
        return np.array([2.0, float(np.nanmean(values))])

    def predictive(self, posterior: Array) -> Any:  # noqa: ANN401
        """Return the beta-geometric distribution, as the beta negative binomial with one success."""
        from scipy.stats import betanbinom

        return betanbinom(1, *posterior)
