"""Normal-Wishart prior of the mean and the precision matrix of a block of Gaussian features, one feature at a time.

    precision matrix ~ Wishart(degrees, scatter^-1),   mean | precision ~ Normal(mean, (kappa precision)^-1)

(Raykov et al. 2016, eq. 18, whose B is the inverse of the scatter matrix here; its eq. 19 sums over j, not i.)

The density of a block is the product of those of each feature given the features before it, which are regressions with
independent parameters (Geiger and Heckerman 2002, Ann Stat 30, 1412-1440). The module holds one factor: feature l,
counted from 0, given the l features before it, with the log normaliser A_{l+1} - A_l, where A_q is that of the first q
features. A subject with a missing value up to feature l does not take part in the factor.

Hyperparameters of one factor: mean (l + 1), kappa, degrees (those of the first l + 1 features), scatter (the lower
triangle of a matrix of order l + 1, row after row). Sufficient statistics: the lower triangle of the sum of v v' over
subjects, row after row, with v = (1, x_0 .. x_l); the first is n. The first feature has the statistics and the prior of
`NormalGamma`: kappa, shape = degrees / 2, rate = scatter / 2.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from clinclust.arrays import Array
from clinclust.priors.conjugate import ConjugatePrior


def n_before(n_hyperparameters: int) -> int:
    """Return l, the number of features before the feature, from the number of hyperparameters of its factor."""
    n = 0
    while 2 + (n + 1) * (n + 4) // 2 < n_hyperparameters:
        n += 1
    return n


def symmetric(lower_triangle: Array, order: int) -> Array:
    """Return symmetric matrices, float64 (..., q, q), of order q from their lower triangles (..., q (q + 1) / 2)."""
    rows, columns = np.tril_indices(order)
    matrices = np.empty((*lower_triangle.shape[:-1], order, order))
    matrices[..., rows, columns] = lower_triangle
    matrices[..., columns, rows] = lower_triangle
    return matrices


def lower(matrices: Array) -> Array:
    """Return the lower triangles of matrices, float64 (..., q (q + 1) / 2), row after row."""
    rows, columns = np.tril_indices(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns])


def parts(parameters: Array, order: int) -> tuple[Array, Array, Array, Array]:
    """Return mean (..., q), kappa (...), degrees (...) and the scatter matrix (..., q, q)."""
    mean, kappa, degrees = parameters[..., :order], parameters[..., order], parameters[..., order + 1]
    return mean, kappa, degrees, symmetric(parameters[..., order + 2 :], order)


class NormalWishart(ConjugatePrior):
    """The Normal-Wishart of one factor: hyperparameters (..., P) and statistics (..., S), as in the module."""

    NAMES: ClassVar[tuple[str, ...]] = ("mean", "kappa", "degrees", "scatter")

    @staticmethod
    def posterior(prior: Array, statistics: Array) -> Array:
        """Return the posterior hyperparameters, shape (..., P) (Raykov et al. 2016, eq. 19)."""
        order = n_before(prior.shape[-1]) + 1
        mean, kappa, degrees, scatter = parts(prior, order)
        moments = symmetric(statistics, order + 1)
        n, total = moments[..., 0, 0], moments[..., 0, 1:]
        average = total / np.maximum(n, 1.0)[..., None]
        within = moments[..., 1:, 1:] - total[..., :, None] * average[..., None, :]
        squares = np.einsum("...ii->...i", within)
        squares[...] = np.maximum(squares, 0.0)  # of values far from 0, rounding leaves less than none
        apart = average - mean
        between = (kappa * n / (kappa + n))[..., None, None] * apart[..., :, None] * apart[..., None, :]
        new_mean = (kappa[..., None] * mean + total) / (kappa + n)[..., None]
        count = np.stack([kappa + n, degrees + n], axis=-1)
        return np.concatenate([new_mean, count, lower(scatter + within + between)], axis=-1)

    @staticmethod
    def log_normalizer(parameters: Array) -> Array:
        """Return A_{l+1} - A_l of hyperparameters (..., P), shape (...).

        With the Cholesky factor L of the scatter matrix, numbered from 0, it is

            ln Gamma(degrees / 2) - degrees ln L_ll - sum over j < l of ln L_jj - ln(kappa) / 2

        The factors of pi belong to the base measure of the values.
        """
        from scipy.special import gammaln

        order = n_before(parameters.shape[-1]) + 1
        _, kappa, degrees, scatter = parts(parameters, order)
        logs = np.log(np.diagonal(np.linalg.cholesky(scatter), axis1=-2, axis2=-1))
        before = logs[..., :-1].sum(axis=-1)
        return np.asarray(
            gammaln(0.5 * degrees) - degrees * logs[..., -1] - before - 0.5 * np.log(kappa), dtype=np.float64
        )
