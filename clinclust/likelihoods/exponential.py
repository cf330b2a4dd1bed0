"""Exponential likelihood with a Gamma(shape, rate) prior, for durations x >= 0. The predictive is Lomax.

The published update (Raykov et al. 2016, eq. 21) exchanges the two hyperparameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clinclust.arrays import Array
from clinclust.likelihoods.likelihood import LARGEST_MEASUREMENT, Example, Likelihood, observed_columns
from clinclust.priors.conjugate import Gamma

_SMALLEST = 1e-280
"""Draws of gamma variables of a tiny shape may be 0."""


@dataclass(frozen=True)
class Exponential(Likelihood):
    """Duration with one unknown constant hazard."""

    name = "exponential"
    title = "exponential"
    also_called = ("duration", "survival", "time", "waiting time", "gamma")
    alternatives = ("gaussian",)
    prior = Gamma
    kernel = 6
    is_continuous = True
    largest = LARGEST_MEASUREMENT
    is_skewed = True
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"rate": (1e-12, 1e12)}
    with_unit = frozenset({"rate"})
    takes = frozenset({"minimum", "maximum", "transform", "spike"})
    drafted_for = frozenset({"measurement"})
    effect_sizes = "rates"
    n_statistics = 2

    def statistics(self, values: Array) -> Array:
        """Return T(x) = (1, x), float64 (n, 2)."""
        return observed_columns(values, 1.0, values)

    def encoded(self, values: Array) -> Array:
        """Return z = sqrt(x). As a function of z, the log predictive has the form of Student's t."""
        return np.sqrt(values)

    def unit_free(self, hyperparameters: Array, values: Array) -> Array:
        """Return the hyperparameters of the values divided by their mean."""
        shape, rate = hyperparameters
        return np.array([shape, rate / float(np.nanmean(values))])

    def default_hyperparameters(self, values: Array) -> Array:
        """Return shape = 2 and rate = the observed mean, so that the predictive mean, rate / (shape - 1), equals it."""
        return np.array([2.0, float(np.nanmean(values))])

    def draft_hyperparameters(self, values: Array) -> Array:
        """Return shape = 1 and rate = the observed mean, which weigh as one subject with the observed mean."""
        return np.array([1.0, float(np.nanmean(values))])

    def predictive(self, posterior: Array) -> Any:
        """Return the Lomax distribution."""
        from scipy.stats import lomax

        shape, rate = posterior
        return lomax(shape, scale=rate)

    def mode(self, posterior: Array) -> float:
        """Return 0, because the predictive density decreases from 0 on."""
        return 0.0

    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return mean durations, (R, 1), from gamma posteriors of the rate."""
        shape, rate = posteriors.T
        return np.asarray(rate / np.maximum(rng.gamma(shape), _SMALLEST))[:, None]

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the mean, which is 1 / the rate."""
        from scipy.stats import invgamma

        shape, rate = posteriors.T
        return {"mean": invgamma(shape, scale=rate)}

    def draw_given(self, parameters: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n durations for each mean, float64 (R, n)."""
        return np.asarray(rng.exponential(size=(len(parameters), n)) * parameters)

    def given(self, parameters: Array) -> Any:
        """Return the exponential distribution."""
        from scipy.stats import expon

        return expon(scale=parameters[..., 0])

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return an example of durations."""
        return (
            Example(
                prior={"shape": 3.1, "rate": 5.0},
                draw=lambda rng, prior, n: rng.exponential(1.0 / rng.gamma(prior[0], 1.0 / prior[1], n)),
                column=lambda rng, groups, k: rng.exponential(rng.gamma(1, 5, k)[groups]),
                random_prior=lambda rng, values: {"shape": rng.gamma(2), "rate": rng.gamma(2)},
                edge_cases=((0.0, 1.0), (1e-9, 1e9), (3.0, 3.0, np.nan, 4.0)),
            ),
        )
