"""Poisson likelihood with a Gamma(shape, rate) prior: counts 0, 1, 2, ...

The predictive is negative binomial. The print (Raykov et al. 2016, eq. 29) uses the count as a probability; the form
here is the one that follows from its updates (eq. 28).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from clinclust.likelihoods.likelihood import Array, Likelihood, observed_columns
from clinclust.priors import gamma

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["Poisson"]


@dataclass(frozen=True)
class Poisson(Likelihood):
    """Events at one unknown rate per subject."""

    name = "poisson"
    prior = gamma
    n_statistics = 2

    @classmethod
    def of(cls, feature: Feature) -> Poisson:
        """Return the likelihood of a count."""
        return cls()

    def statistics(self, values: Array) -> Array:
        """Return (x, 1)."""
        return observed_columns(values, values, 1.0)

    def log_base_measure(self, values: Array) -> Array:
        """Return -ln x!."""
        return np.where(np.isnan(values), 0.0, -gammaln(values + 1.0))

    def default_hyperparameters(self, values: Array) -> Array:
        """Return the gamma distribution with the observed mean that weighs as one subject."""
        return np.array([float(np.nanmean(values)), 1.0])

    def predictive(self, posterior: Array) -> Any:  # noqa: ANN401
        """Return the negative binomial distribution."""
        from scipy.stats import nbinom

        shape, rate = posterior
        return nbinom(shape, rate / (rate + 1.0))
