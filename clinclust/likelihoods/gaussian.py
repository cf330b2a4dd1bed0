"""Gaussian likelihood with a Normal-Gamma(mean, kappa, shape, rate) prior, for real measurements.

The predictive is Student's t with 2 shape degrees of freedom (Raykov, Boukouvalas and Little 2014, eqs. 11-13).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clinclust.arrays import Array
from clinclust.likelihoods.likelihood import (
    LARGEST_MEASUREMENT,
    Example,
    Likelihood,
    observed_columns,
    winsorised,
    without_far_values,
)
from clinclust.priors.conjugate import ConjugatePrior, NormalGamma

_FARTHEST = 1e140
"""Largest absolute standardised value, to which others are clipped, so that their squares do not overflow."""
_SMALLEST = 1e-280
"""Draws of gamma variables of a tiny shape may be 0."""


@dataclass(frozen=True)
class Gaussian(Likelihood):
    """Normal distribution with unknown mean and precision."""

    name = "gaussian"
    title = "Gaussian"
    also_called: ClassVar[tuple[str, ...]] = (
        "normal",
        "continuous",
        "numeric",
        "numerical",
        "metric",
        "measurement",
        "real",
        "lognormal",
        "student",
    )
    alternatives: ClassVar[tuple[str, ...]] = ("exponential",)
    prior: ClassVar[type[ConjugatePrior]] = NormalGamma
    kernel = 7
    is_continuous = True
    largest = LARGEST_MEASUREMENT
    is_real = True
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        "mean": (-1e6, 1e6),
        "kappa": (1e-10, 1e9),
        "rate": (1e-6, 1e12),
    }
    with_unit = frozenset({"mean", "rate", "known_variance"})
    known_parameters: ClassVar[Mapping[str, tuple[str, str]]] = {"known_variance": ("shape", "rate")}
    per_value = frozenset({"kappa"})
    takes = frozenset({"minimum", "maximum", "transform", "spike"})
    drafted_for = frozenset({"measurement", "count"})
    n_statistics = 3

    def statistics(self, values: Array) -> Array:
        """Return T(x) = (1, x, x^2), float64 (n, 3)."""
        return observed_columns(values, 1.0, values, values * values)

    def log_base_measure(self, values: Array, hyperparameters: Array) -> Array:
        """Return -(1/2) ln(2 pi) for each observed value."""
        return np.where(np.isnan(values), 0.0, -0.5 * math.log(2.0 * math.pi))

    def standardisation(self, values: Array) -> tuple[float, float]:
        """Return the mean and the standard deviation (divisor n) of the observed values without far ones."""
        usual = without_far_values(values[~np.isnan(values)])
        return usual.mean(), usual.std()

    def encoded(self, values: Array) -> Array:
        """Return the standardised values, bounded so that their squares do not overflow."""
        return np.clip(values, -_FARTHEST, _FARTHEST)

    def encoded_hyperparameters(self, hyperparameters: Array, centre: float, scale: float) -> Array:
        """Return the hyperparameters of (x - centre) / scale from those of x."""
        encoded = hyperparameters.copy()
        encoded[0] = (encoded[0] - centre) / scale
        encoded[3] /= scale**2
        return encoded

    def unit_free(self, hyperparameters: Array, values: Array) -> Array:
        """Return the hyperparameters of the standardised values."""
        return self.encoded_hyperparameters(hyperparameters, *self.standardisation(values))

    def stated_hyperparameters(self, encoded: Array, centre: float, scale: float) -> Array:
        """Return the hyperparameters of x from those of (x - centre) / scale."""
        stated = encoded.copy()
        stated[0] = stated[0] * scale + centre
        stated[3] *= scale**2
        return stated

    def default_hyperparameters(self, values: Array) -> Array:
        """Return the prior of Raykov, Boukouvalas and Little (2014, section 4.2).

        Mean = the observed mean, kappa = 10 / n, shape = 1, rate = the observed variance (divisor n), all of the
        `winsorised` values: an outlier at t standard deviations adds t² / n variances to the rate, and splits would
        hardly raise the joint.
        """
        usual = winsorised(values[~np.isnan(values)])
        return np.array([usual.mean(), 10.0 / usual.size, 1.0, usual.var()])

    def draft_hyperparameters(self, values: Array) -> Array:
        """Return the default prior."""
        return self.default_hyperparameters(values)

    def predictive(self, posterior: Array) -> Any:
        """Return Student's t distribution."""
        from scipy.stats import t

        return t(2.0 * posterior[2], loc=posterior[0], scale=_spread(posterior))

    def draw_parameters(self, posteriors: Array, rng: np.random.Generator) -> Array:
        """Return means and standard deviations, (R, 2), from normal-gamma posteriors."""
        mean, kappa, shape, rate = posteriors.T
        deviation = np.sqrt(rate / np.maximum(rng.gamma(shape), _SMALLEST))
        return np.column_stack([mean + deviation / np.sqrt(kappa) * rng.standard_normal(mean.size), deviation])

    def parameters(self, posteriors: Array) -> dict[str, Any]:
        """Return the mean, Student's t, and the standard deviation (1 / its square is a gamma variable)."""
        from scipy.stats import gengamma, t

        mean, kappa, shape, rate = posteriors.T
        of_mean = t(2.0 * shape, loc=mean, scale=np.sqrt(rate / (shape * kappa)))
        return {"mean": of_mean, "sd": gengamma(shape, -2.0, scale=np.sqrt(rate))}

    def draw_given(self, parameters: Array, n: int, rng: np.random.Generator) -> Array:
        """Return n values for each mean and standard deviation, float64 (R, n)."""
        return np.asarray(parameters[:, :1] + parameters[:, 1:] * rng.standard_normal((len(parameters), n)))

    def given(self, parameters: Array) -> Any:
        """Return the normal distribution."""
        from scipy.stats import norm

        return norm(parameters[..., 0], parameters[..., 1])

    def mode(self, posterior: Array) -> float:
        """Return the centre of the predictive, which is symmetric."""
        return float(posterior[0])

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return an example of measurements."""
        return (
            Example(
                prior={"mean": -1.0, "kappa": 0.6, "shape": 2.2, "rate": 3.0},
                draw=_draw,
                column=lambda rng, groups, k: rng.normal(rng.normal(100, 40, k)[groups], 10.0),
                random_prior=_random_prior,
                edge_cases=((-1.0, 1.0), (1e8, 1e8 + 1.0, 1e8 + 2.0), (1e-9, 1e9, np.nan)),
            ),
        )


def _spread(posterior: Array) -> Any:
    _, kappa, shape, rate = posterior
    return np.sqrt(rate * (kappa + 1.0) / (shape * kappa))


def _draw(rng: np.random.Generator, prior: Array, n: int) -> Array:
    mean, kappa, shape, rate = prior
    precision = rng.gamma(shape, 1.0 / rate, n)
    return rng.normal(rng.normal(mean, 1.0 / np.sqrt(kappa * precision)), 1.0 / np.sqrt(precision))


def _random_prior(rng: np.random.Generator, values: Array) -> dict[str, Any]:
    scale = np.nanstd(values)
    return {
        "mean": np.nanmean(values) + scale * rng.normal(),
        "kappa": rng.gamma(2),
        "shape": rng.gamma(2),
        "rate": scale**2 * rng.gamma(2),
    }
