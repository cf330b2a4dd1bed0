"""The conjugate priors of one feature. Every likelihood uses one of them.

With sufficient statistics T and base measure h, the log marginal of n values in a cluster is

    log p(x_1 .. x_n) = sum_j log h(x_j) + A(posterior of sum_j T(x_j)) - A(prior).

The compiled versions are in `clinclust.engine.kernels`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from clinclust.arrays import Array

_LARGE = 1000.0
"""Where Stirling's series takes over: its next term, 1 / (1260 x^5), is below the rounding error there."""


def log_gamma_ratio(x: Any, n: Any) -> Array:
    """Return ln Gamma(x + n) - ln Gamma(x) for x > 0 and n >= 0, which need not be whole; arrays broadcast.

    For large x the difference would lose digits. Stirling's series of both is subtracted term by term, with y = x + n
    and d(y) = 1/(12 y) - 1/(360 y^3) + ...:

        (x - 1/2) ln(1 + n/x) + n [ln y - 1] + d(y) - d(x)
    """
    from scipy.special import gammaln

    x, n = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(n, dtype=np.float64))
    large = np.maximum(x, _LARGE)
    y = large + n
    rest = n / (large * y) * (1.0 - (large * large + large * y + y * y) / (30.0 * large * large * y * y)) / 12.0
    series = (large - 0.5) * np.log1p(n / large) + n * (np.log(y) - 1.0) - rest
    return np.asarray(np.where(x < _LARGE, gammaln(x + n) - gammaln(x), series), dtype=np.float64)


def log_beta(a: Any, b: Any) -> Array:
    """Return ln B(a, b) = ln Gamma(a) + ln Gamma(b) - ln Gamma(a + b) for a, b > 0; arrays broadcast."""
    from scipy.special import gammaln

    least = np.minimum(a, b)
    return np.asarray(gammaln(least) - log_gamma_ratio(np.maximum(a, b), least), dtype=np.float64)


class ConjugatePrior(ABC):
    """A conjugate prior: posterior hyperparameters and log normaliser A.

    It has no instances. Hyperparameters and sufficient statistics are in the last dimension of their arrays.
    """

    NAMES: ClassVar[tuple[str, ...]] = ()
    """Names of the hyperparameters; one of them may be a list."""

    @staticmethod
    def posterior(prior: Array, statistics: Array) -> Array:
        """Return the posterior hyperparameters given sufficient statistics: their sum, unless a subclass differs."""
        return prior + statistics

    @staticmethod
    @abstractmethod
    def log_normalizer(parameters: Array) -> Array:
        """Return A, shape (...)."""


class Dirichlet(ConjugatePrior):
    """Dirichlet(concentrations): the conjugate prior of the probabilities of L levels (categorical likelihood).

    Sufficient statistics of a cluster: the number of subjects at each level.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("concentrations",)

    @staticmethod
    def log_normalizer(parameters: Array) -> Array:
        """Return A = sum_l ln Gamma(c_l) - ln Gamma(sum_l c_l)."""
        from scipy.special import gammaln

        return np.asarray(gammaln(parameters).sum(axis=-1) - gammaln(parameters.sum(axis=-1)), dtype=np.float64)


class Beta(Dirichlet):
    """Beta(a, b): the conjugate prior of a probability (Bernoulli, binomial and geometric likelihoods).

    Sufficient statistics of a cluster: the sums of each subject's contributions to a and to b.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("a", "b")

    @staticmethod
    def log_normalizer(parameters: Array) -> Array:
        """Return A(a, b) = ln B(a, b)."""
        return log_beta(parameters[..., 0], parameters[..., 1])


class BetaWithDispersion(ConjugatePrior):
    """Beta(a, b) with a known dispersion: the prior of the probability of a negative binomial likelihood.

    Statistics of a cluster: (n, sum of the counts). Each subject adds the dispersion to a, and its count to b.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("a", "b", "dispersion")

    @staticmethod
    def posterior(prior: Array, statistics: Array) -> Array:
        """Return (a + n dispersion, b + sum, dispersion)."""
        a, b, dispersion = (prior[..., index] for index in range(3))
        n, total = statistics[..., 0], statistics[..., 1]
        after = a + n * dispersion, b + total, np.broadcast_to(dispersion, np.shape(a + n))
        return np.stack(after, axis=-1)

    @staticmethod
    def log_normalizer(parameters: Array) -> Array:
        """Return A(a, b) = ln B(a, b)."""
        return log_beta(parameters[..., 0], parameters[..., 1])


class Gamma(ConjugatePrior):
    """Gamma(shape, rate): the conjugate prior of a rate (Poisson and exponential likelihoods).

    Sufficient statistics of a cluster: the sums of each subject's contributions to the shape and to the rate.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("shape", "rate")

    @staticmethod
    def log_normalizer(parameters: Array) -> Array:
        """Return A(shape, rate) = ln Gamma(shape) - shape ln rate."""
        from scipy.special import gammaln

        shape, rate = parameters[..., 0], parameters[..., 1]
        return np.asarray(gammaln(shape) - shape * np.log(rate), dtype=np.float64)


class NormalGamma(ConjugatePrior):
    """Normal-Gamma(mean, kappa, shape, rate): the conjugate prior of the mean and precision of a Gaussian likelihood.

        precision ~ Gamma(shape, rate),   mean of the feature | precision ~ Normal(mean, 1 / (kappa precision))

    Sufficient statistics: (n, sum of the values, sum of their squares), of standardised values, for accuracy.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("mean", "kappa", "shape", "rate")

    @staticmethod
    def posterior(prior: Array, statistics: Array) -> Array:
        """Return the posterior (mean, kappa, shape, rate) (Raykov, Boukouvalas and Little 2014, eq. 13)."""
        mean, kappa, shape, rate = (prior[..., index] for index in range(4))
        n, total, squares = (statistics[..., index] for index in range(3))
        average = total / np.maximum(n, 1.0)
        scatter = np.maximum(squares - total * average, 0.0)
        return np.stack(
            [
                (kappa * mean + total) / (kappa + n),
                kappa + n,
                shape + 0.5 * n,
                rate + 0.5 * scatter + 0.5 * kappa * n * (average - mean) ** 2 / (kappa + n),
            ],
            axis=-1,
        )

    @staticmethod
    def log_normalizer(parameters: Array) -> Array:
        """Return A = ln Gamma(shape) - shape ln rate - (1/2) ln kappa; the base measure has the factors of 2 pi."""
        from scipy.special import gammaln

        kappa, shape, rate = (parameters[..., index] for index in (1, 2, 3))
        return np.asarray(gammaln(shape) - shape * np.log(rate) - 0.5 * np.log(kappa), dtype=np.float64)
