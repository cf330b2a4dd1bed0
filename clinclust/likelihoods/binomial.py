"""Binomial likelihood with a Beta(a, b) prior: scores 0 .. trials on an ordered scale.

The predictive is beta-binomial (Raykov et al. 2016, eqs. 25-27).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from clinclust.likelihoods.likelihood import Array, Likelihood, observed_columns
from clinclust.priors import beta

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["Binomial"]


@dataclass(frozen=True)
class Binomial(Likelihood):
    """Number of successes in `trials` trials that share one unknown probability."""

    trials: int

    name = "binomial"
    prior = beta
    n_statistics = 2

    @classmethod
    def of(cls, feature: Feature) -> Binomial:
        """Return the likelihood of a feature with its number of trials."""
        assert feature.n_trials is not None  # the schema refuses a binomial feature without
        return cls(feature.n_trials)

    def levels(self, values: Array) -> Array:
        """Return 0 .. trials, observed or not."""
        return np.arange(self.trials + 1.0)

    def statistics(self, values: Array) -> Array:
        """Return (x, trials - x)."""
        return observed_columns(values, values, self.trials - values)

    def log_base_measure(self, values: Array) -> Array:
        """Return the log of the binomial coefficient."""
        log_h = gammaln(self.trials + 1.0) - gammaln(values + 1.0) - gammaln(self.trials - values + 1.0)
        return np.where(np.isnan(values), 0.0, log_h)

    def default_hyperparameters(self, values: Array) -> Array:
        """Return a + b = 2 with the observed proportion as mean.

        The strength is that of two single trials, not of one subject's `trials`, which would forbid clusters at the
        ends of a long scale.
        """
        proportion = float(np.nanmean(values)) / self.trials
        return np.array([2.0 * proportion, 2.0 * (1.0 - proportion)])

    def predictive(self, posterior: Array) -> Any:  # noqa: ANN401
        """Return the beta-binomial distribution."""
        from scipy.stats import betabinom

        return betabinom(self.trials, *posterior)
