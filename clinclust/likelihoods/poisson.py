"""Poisson likelihood with a Gamma(shape, rate) prior, for counts 0, 1, 2, ... The predictive is negative binomial.

It follows from the published updates (Raykov et al. 2016, eq. 28), where eq. 29 uses the count as a probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clinclust.arrays import Array
from clinclust.likelihoods.likelihood import Example, Likelihood, observed_columns
from clinclust.priors.conjugate import Gamma


@dataclass(frozen=True)
class Poisson(Likelihood):
    """Number of events per subject, with one unknown rate."""

    name = "poisson"
    title = "Poisson"
    also_called = ("poisson-count", "events", "rare events")
    alternatives = ("negative_binomial", "geometric")
    prior = Gamma
    kernel = 2
    is_whole = True
    is_count = True
    largest = 100_000  # log marginals of larger counts would have fewer than ten digits
    takes = frozenset({"minimum", "maximum", "spike"})
    drafted_for = frozenset({"scale", "count"})
    effect_sizes = "rates"
    summary = "mean"
    n_statistics = 2

    def statistics(self, values: Array) -> Array:
        """Return T(x) = (x, 1), float64 (n, 2)."""
        return observed_columns(values, values, 1.0)

    def log_base_measure(self, values: Array, hyperparameters: Array) -> Array:
        """Return -ln(x!) for each observed value."""
        from scipy.special import gammaln

        return np.where(np.isnan(values), 0.0, -gammaln(values + 1.0))

    def default_hyperparameters(self, values: Array) -> Array:
        """Return shape = the observed mean and rate = 1, a prior with the observed mean that weighs as one subject."""
        return np.array([float(np.nanmean(values)), 1.0])

    def draft_hyperparameters(self, values: Array) -> Array:
        """Return shape = 1 and rate = 1 / the observed mean, an exponential distribution with the observed mean."""
        return np.array([1.0, 1.0 / float(np.nanmean(values))])

    def predictive(self, posterior: Array) -> Any:
        """Return the negative binomial distribution."""
        from scipy.stats import nbinom

        shape, rate = posterior
        return nbinom(shape, rate / (rate + 1.0))

    def mode(self, posterior: Array) -> float:
        """Return the count with the highest predictive probability."""
        shape, rate = posterior
        return float(np.floor(max(shape - 1.0, 0.0) / rate))

    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return rates, (R, 1), from gamma posteriors."""
        shape, rate = posteriors.T
        return np.asarray(rng.gamma(shape, 1.0 / rate))[:, None]

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the mean, which is the rate."""
        from scipy.stats import gamma

        shape, rate = posteriors.T
        return {"mean": gamma(shape, scale=1.0 / rate)}

    def draw_given(self, parameters: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n counts for each rate, float64 (R, n)."""
        return rng.poisson(parameters, size=(len(parameters), n)).astype(np.float64)

    def given(self, parameters: Array) -> Any:
        """Return the Poisson distribution."""
        from scipy.stats import poisson

        return poisson(parameters[..., 0])

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return an example of counts from zero to many."""
        return (
            Example(
                prior={"shape": 2.5, "rate": 0.8},
                draw=lambda rng, prior, n: rng.poisson(rng.gamma(prior[0], 1.0 / prior[1], n)).astype(float),
                column=lambda rng, groups, k: rng.poisson(rng.gamma(1, 5, k)[groups]).astype(float),
                random_prior=lambda rng, values: {"shape": rng.gamma(2), "rate": rng.gamma(2)},
                edge_cases=((0.0, 1.0), (0.0, 40.0, 41.0), (1e5, 0.0, np.nan)),
            ),
        )
