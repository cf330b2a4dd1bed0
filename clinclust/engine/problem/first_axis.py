"""The first principal axis of a table with missing values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["first_axis"]

Array = NDArray[np.float64]

_POWER_ITERATIONS = 8


def first_axis(table: Array, rng: np.random.Generator) -> Array:
    """Return the positions of the rows along the first principal axis of the columns, float64 (N,), by power iteration.

    A missing value counts as the mean of its column; columns have one variance. The axis is of length 1, and its sign
    is that of the random start.
    """
    observed = ~np.isnan(table)
    counts = np.maximum(observed.sum(axis=0), 1)
    table = np.where(observed, table, 0.0)
    table = np.where(observed, table - table.sum(axis=0) / counts, 0.0)
    table /= np.sqrt(np.maximum((table**2).sum(axis=0) / counts, 1e-12))
    along: Array = np.asarray(rng.normal(size=table.shape[0]))
    for _ in range(_POWER_ITERATIONS):
        # einsum instead of table @ along, because the last digits of a BLAS product depend on its number of threads.
        along = np.einsum("ij,j->i", table, np.einsum("ij,i->j", table, along))
        along /= max(float(np.sqrt((along**2).sum())), 1e-300)
    return along
