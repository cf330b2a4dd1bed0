"""Normal-Gamma(mean, kappa, shape, rate): the conjugate prior of the mean and precision of a Gaussian likelihood.

    precision ~ Gamma(shape, rate),   mean of the feature | precision ~ Normal(mean, 1 / (kappa precision))

Sufficient statistics of a cluster: (n, sum of the values, sum of their squares). The engine standardises the values
beforehand (`clinclust.engine.problem.encoding`), so that the sum of squares is accurate enough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NAMES", "log_marginal_gradient", "log_normalizer", "posterior"]

Array = NDArray[np.float64]

NAMES = ("mean", "kappa", "shape", "rate")


def posterior(prior: Array, statistics: Array) -> Array:
    """Return the posterior (mean, kappa, shape, rate), shape (..., 4) (Raykov, Boukouvalas and Little 2014, eq. 13).

    Parameters
    ----------
    prior : float64 (..., 4)
    statistics : float64 (..., 3)
        n, sum of values, sum of squared values.
    """
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


def log_normalizer(parameters: Array) -> Array:
    """Return A = ln Gamma(shape) - shape ln rate - (1/2) ln kappa, shape (...), of parameters (..., 4).

    The factors of 2 pi belong to the base measure of the values.
    """
    from scipy.special import gammaln

    kappa, shape, rate = (parameters[..., index] for index in (1, 2, 3))
    return np.asarray(gammaln(shape) - shape * np.log(rate) - 0.5 * np.log(kappa), dtype=np.float64)


def log_marginal_gradient(prior: Array, statistics: Array) -> Array:
    """Return the derivatives of A(posterior) - A(prior) with respect to (mean, kappa, shape, rate), shape (..., 4).

    With primes for the posterior, x for the average of the values and psi = (ln Gamma)', the derivatives are:

        by mean    (shape' / rate') kappa n (x - mean) / kappa'
        by kappa   -(shape' / rate') n^2 (x - mean)^2 / (2 kappa'^2) - 1 / (2 kappa') + 1 / (2 kappa)
        by shape   psi(shape') - ln rate' - psi(shape) + ln rate
        by rate    shape / rate - shape' / rate'

    Parameters
    ----------
    prior : float64 (..., 4)
    statistics : float64 (..., 3)
        n, sum of values, sum of squared values.
    """
    from scipy.special import psi

    after = posterior(prior, statistics)
    mean, kappa, shape, rate = (prior[..., index] for index in range(4))
    kappa_n, shape_n, rate_n = (after[..., index] for index in (1, 2, 3))
    n, total = statistics[..., 0], statistics[..., 1]
    distance = total / np.maximum(n, 1.0) - mean
    precision = shape_n / rate_n
    return np.stack(
        [
            precision * kappa * n * distance / kappa_n,
            -0.5 * precision * (n * distance / kappa_n) ** 2 - 0.5 / kappa_n + 0.5 / kappa,
            psi(shape_n) - np.log(rate_n) - psi(shape) + np.log(rate),
            shape / rate - precision,
        ],
        axis=-1,
    )
