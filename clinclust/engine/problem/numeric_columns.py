"""The features of an encoded cohort as numeric columns, and the first principal axis of its subjects."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh

from clinclust.arrays import Array, Whole
from clinclust.engine.kernels.partition import CohortArrays
from clinclust.likelihoods import REGISTRY

_POWER_ITERATIONS = 8
_NOMINAL = np.array([likelihood.kernel for likelihood in REGISTRY.values() if likelihood.is_nominal])
_MANY_COLUMNS = 500
"""Number of columns above which an eigenvector is found by Lanczos iterations, without all cross products."""


def _ordered_and_unordered(arrays: CohortArrays) -> tuple[Whole, Whole]:
    """Return the indices of the discrete features with ordered levels, and of the nominal ones."""
    is_nominal = (arrays.kinds[: arrays.codes.shape[1], None] == _NOMINAL).any(axis=1)
    return np.flatnonzero(~is_nominal), np.flatnonzero(is_nominal)


def numeric_columns(arrays: CohortArrays) -> tuple[Array, Whole]:
    """Return numeric columns, float64 (N, C), NaN = missing, and the index of the feature of each, int64 (C,).

    They are the codes of discrete features with ordered levels, the continuous values, and an indicator of each level
    of the nominal features.
    """
    ordered, unordered = _ordered_and_unordered(arrays)
    n_discrete, n_continuous = arrays.codes.shape[1], arrays.values.shape[1]
    codes = np.take(arrays.codes, ordered, axis=1)  # contiguous rows, so that sums always have the same order
    n_levels = np.diff(arrays.level_start)[unordered]
    of_level = np.repeat(unordered, n_levels)
    levels = [np.arange(arrays.level_start[feature], arrays.level_start[feature + 1]) for feature in unordered]
    nominal = np.take(arrays.codes, of_level, axis=1)
    indicators = nominal == np.concatenate([np.empty(0, dtype=np.int64), *levels])
    columns = [np.where(codes > 0, codes, np.nan), arrays.values, np.where(nominal > 0, indicators, np.nan)]
    owners = [ordered, np.arange(n_discrete, n_discrete + n_continuous), of_level]
    return np.hstack(columns), np.concatenate(owners)


def encoded_columns(arrays: CohortArrays) -> Iterator[tuple[Array, bool]]:
    """Yield the encoded values of each feature, float64 (N,), NaN = missing, and whether the feature is nominal."""
    _, unordered = _ordered_and_unordered(arrays)
    for feature, code in enumerate(arrays.codes.T):
        yield np.where(code > 0, code, np.nan), feature in unordered
    for column in arrays.values.T:
        yield column, False


def _standardised(table: Array) -> Array:
    """Return columns with mean 0 and one variance; a missing value counts as the mean of its column."""
    observed = ~np.isnan(table)
    counts = np.maximum(observed.sum(axis=0), 1)
    table = np.where(observed, table, 0.0)
    table = np.where(observed, table - table.sum(axis=0) / counts, 0.0)
    table /= np.sqrt(np.maximum((table**2).sum(axis=0) / counts, 1e-12))
    return table


def principal_axis(arrays: CohortArrays, rng: np.random.Generator | None = None) -> Array:
    """Return the subjects' positions along their first principal axis, float64 (M,).

    With `rng`, positions along about this axis, by a few power iterations from a random start, so that searches that
    begin along it begin at different places.
    """
    table = _standardised(numeric_columns(arrays)[0])
    if rng is None:
        loadings = _first_loadings(table)
        return np.asarray(table @ (loadings * np.sign(loadings[np.abs(loadings).argmax()])))
    along: Array = np.asarray(rng.normal(size=table.shape[0]))
    for _ in range(_POWER_ITERATIONS):
        # einsum instead of table @ along, because the last digits of a BLAS product depend on its number of threads.
        along = np.einsum("ij,j->i", table, np.einsum("ij,i->j", table, along))
        along /= max(float(np.sqrt((along**2).sum())), 1e-300)
    return along


def _first_loadings(table: Array) -> Array:
    """Return the first eigenvector of the cross products of columns (N, C), float64 (C,), of any length above 0."""
    n_rows, size = table.shape
    if n_rows < size:  # the products of rows have the same eigenvalues
        return np.asarray(table.T @ eigh(table @ table.T, subset_by_index=[n_rows - 1, n_rows - 1])[1][:, 0])
    if size <= _MANY_COLUMNS:
        return np.asarray(eigh(table.T @ table, subset_by_index=[size - 1, size - 1])[1][:, 0])
    from scipy.sparse.linalg import LinearOperator, eigsh

    products = LinearOperator((size, size), matvec=lambda vector: table.T @ (table @ vector), dtype=np.float64)
    return np.asarray(eigsh(products, k=1, which="LA", v0=np.ones(size), tol=1e-8)[1][:, 0])
