"""Correlation matrices, and normal draws with given correlations whose digits do not depend on the threads of BLAS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["correlations", "exact_product", "nearest_correlation", "standard_normals", "with_correlation"]

Array = NDArray[np.float64]

_STEPS = 2.0**20
"""Normal draws and factors are rounded to whole multiples of its inverse. Sums of up to 16,000 of their products are
then exact in float64, whatever their order."""
_LEAST_EIGENVALUE = 0.02
_FEW_COLUMNS = 64


def correlations(scores: Array) -> tuple[Array, Array]:
    """Return the correlations of columns in pairs, and in how many rows both are observed; float64 (D, D) each.

    A column that does not vary has the correlation 0 with others. If the scores are whole numbers, all sums are exact.

    Parameters
    ----------
    scores : float64 (N, D)
        NaN = missing.
    """
    seen = (~np.isnan(scores)).astype(np.float64)
    scores = np.where(np.isnan(scores), 0.0, scores)
    n_both = np.maximum(exact_product(seen.T, seen), 1.0)
    mean = exact_product(scores.T, seen) / n_both  # of the column of the row, where that of the column is observed
    variance = exact_product((scores**2).T, seen) / n_both - mean**2
    covariance = exact_product(scores.T, scores) / n_both - mean * mean.T
    product = variance * variance.T
    varying = np.minimum(variance, variance.T) > 1e-9
    found = np.where(varying, covariance / np.sqrt(np.where(varying, product, 1.0)), 0.0)
    np.fill_diagonal(found, 1.0)
    return np.clip(found, -1.0, 1.0), n_both


def exact_product(first: Array, second: Array) -> Array:
    """Return a matrix product whose sums are exact, so that any order of summation gives the same digits.

    The product of few columns is not left to BLAS. Its threads wait for each other: on a busy machine, for a thousand
    times as long as such a product takes.
    """
    if second.shape[1] > _FEW_COLUMNS:
        return np.asarray(first @ second)
    return np.asarray(np.einsum("ij,jk->ik", first, second))


def nearest_correlation(matrix: Array) -> Array:
    """Return a correlation matrix near a symmetric matrix: eigenvalues raised to at least .02, then the diagonal 1."""
    values, vectors = np.linalg.eigh(matrix)
    raised = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
    scale = 1.0 / np.sqrt(np.diag(raised))
    found = raised * scale * scale[:, None]
    np.fill_diagonal(found, 1.0)
    return np.asarray(0.5 * (found + found.T))


def standard_normals(n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
    """Return independent standard normal draws in exact steps, float64 (n_rows, n_columns)."""
    return _in_exact_steps(rng.standard_normal((n_rows, n_columns)))


def _in_exact_steps(values: Array) -> Array:
    """Return values rounded so that sums of their products are exact (`_STEPS`)."""
    return np.asarray(np.rint(values * _STEPS) / _STEPS)


def with_correlation(normals: Array, correlation: Array) -> Array:
    """Return independent normal draws (N, D) transformed to have these correlations, float64 (N, D)."""
    factor = _in_exact_steps(np.asarray(np.linalg.cholesky(correlation), dtype=np.float64))
    return exact_product(normals, factor.T)
