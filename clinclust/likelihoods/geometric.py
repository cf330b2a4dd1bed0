"""Geometric likelihood with a Beta(a, b) prior, for numbers of failures (Raykov et al. 2016, eqs. 30-31)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from clinclust.arrays import Array
from clinclust.likelihoods.likelihood import Example, Likelihood, first_count, observed_columns
from clinclust.priors.conjugate import Beta, log_beta

_SMALLEST = 1e-300
"""Least probability of success."""


@dataclass(frozen=True)
class Geometric(Likelihood):
    """Waiting time in whole steps, with one unknown probability of ending at each step."""

    name = "geometric"
    title = "geometric"
    alternatives = ("negative_binomial", "poisson")
    prior = Beta
    kernel = 1
    is_whole = True
    is_count = True
    is_skewed = True
    takes = frozenset({"minimum", "maximum", "spike"})
    drafted_for = frozenset({"scale", "count"})
    effect_sizes = "rates"
    n_statistics = 2

    def statistics(self, values: Array) -> Array:
        """Return T(x) = (1, x), float64 (n, 2)."""
        return observed_columns(values, 1.0, values)

    def default_hyperparameters(self, values: Array) -> Array:
        """Return a = 2 and b = the observed mean, so that the predictive mean b / (a - 1) is the observed mean."""
        return np.array([2.0, float(np.nanmean(values))])

    def predictive(self, posterior: Array) -> Any:
        """Return the beta-geometric distribution, which is the beta negative binomial with one success."""
        from scipy.stats import betanbinom

        return betanbinom(1, *posterior)

    def quantile(self, posterior: Array, share: float) -> float:
        """Return a quantile of a new value, from P(x > u) = B(a, b + u + 1) / B(a, b)."""
        a, b = posterior  # scipy adds up the probabilities of all smaller counts, which takes minutes
        return first_count(lambda u: float(log_beta(a, b + u + 1.0) - log_beta(a, b)) <= math.log1p(-share))

    def mode(self, posterior: Array) -> float:
        """Return 0, because the predictive probabilities decrease from 0 on."""
        return 0.0

    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return probabilities of success, (R, 1), from beta posteriors."""
        first, second = posteriors.T
        return np.asarray(rng.beta(first, second))[:, None]

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the mean, (1 - p) / p of the probability p of success."""
        from scipy.stats import betaprime

        first, second = posteriors.T
        return {"mean": betaprime(second, first)}

    def draw_given(self, parameters: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n counts for each probability, float64 (R, n)."""
        return _failures(parameters, (len(parameters), n), rng)

    def given(self, parameters: Array) -> Any:
        """Return the geometric distribution of the failures before a success."""
        from scipy.stats import geom

        return geom(np.maximum(parameters[..., 0], _SMALLEST), loc=-1)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return an example of waiting counts with a long tail."""
        return (
            Example(
                prior={"a": 3.2, "b": 4.5},
                draw=lambda rng, prior, n: rng.geometric(rng.beta(prior[0], prior[1], n)) - 1.0,
                column=lambda rng, groups, k: rng.geometric(rng.beta(1, 1, k).clip(0.02)[groups]) - 1.0,
                random_prior=lambda rng, values: {"a": rng.gamma(2), "b": rng.gamma(2)},
                edge_cases=((0.0, 1.0), (0.0, 40.0, 41.0), (1e6, 0.0, np.nan)),
            ),
        )


def _failures(chance: Array, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.floor(rng.exponential(size=shape) / -np.log1p(-chance)), dtype=np.float64)
