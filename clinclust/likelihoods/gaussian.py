"""Gaussian likelihood with a Normal-Gamma(mean, kappa, shape, rate) prior: any real measurement.

The predictive is Student's t with 2 shape degrees of freedom (Raykov, Boukouvalas and Little 2014, eqs. 11-13).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.likelihoods.likelihood import Array, Likelihood, observed_columns
from clinclust.priors import normal_gamma

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["Gaussian"]


@dataclass(frozen=True)
class Gaussian(Likelihood):
    """Normal distribution with unknown mean and precision."""

    name = "gaussian"
    prior = normal_gamma
    n_statistics = 3

    @classmethod
    def of(cls, feature: Feature) -> Gaussian:
        """Return the likelihood of a measurement."""
        return cls()

    def levels(self, values: Array) -> None:
        """Return None: the values are continuous."""
        return

    def statistics(self, values: Array) -> Array:
        """Return (1, x, x^2)."""
        return observed_columns(values, 1.0, values, values * values)

    def log_base_measure(self, values: Array) -> Array:
        """Return -(1/2) ln 2 pi."""
        return np.where(np.isnan(values), 0.0, -0.5 * math.log(2.0 * math.pi))

    def default_hyperparameters(self, values: Array) -> Array:
        """Return the prior of Raykov, Boukouvalas and Little (2014, section 4.2).

        Mean = the observed mean, kappa = 10 / n, shape = 1, rate = the observed variance (divisor n).
        """
        observed = values[~np.isnan(values)]
        return np.array([observed.mean(), 10.0 / observed.size, 1.0, observed.var()])

    def predictive(self, posterior: Array) -> Any:  # noqa: ANN401
        """Return Student's t distribution."""
        from scipy.stats import t

        mean, kappa, shape, rate = posterior
        return t(2.0 * shape, loc=mean, scale=math.sqrt(rate * (kappa + 1.0) / (shape * kappa)))
