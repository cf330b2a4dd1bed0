"""Whether rounded numbers are spread so widely that a density describes them, or tied so often that it does not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["are_dense", "step_of_grid"]

Array = NDArray[np.float64]

_TIED = 0.2
"""The share of the subjects from which on one value is tied too often for a density."""
_AT_LIMIT = (0.05, 0.15)
"""The share of the subjects at the lowest or highest value from which on there is a limit; if named a measurement."""
_LEAST_SPREAD = 2.0
"""The standard deviation, in steps, below which rounding to steps shows (it is 0.3 steps)."""
_FEW = 40
"""The number of subjects below which each value is a large share by chance."""
_ON_GRID = 0.97


def are_dense(values: Array, *, step: float = 1.0, is_measured: bool = False) -> bool:
    """Return whether numbers on a grid are spread so widely that a density describes them.

    Parameters
    ----------
    values : float64 (n,)
    step : float
        The distance between neighbouring possible values.
    is_measured : bool
        Whether the name says that it is a measurement, of which more may lie at a limit.
    """
    shares = np.unique(values, return_counts=True)[1] / values.size
    at_ends = max(np.mean(values == values.min()), np.mean(values == values.max()))
    spread = bool(values.std() >= _LEAST_SPREAD * step)
    return spread and (values.size < _FEW or bool(shares.max() < _TIED and at_ends < _AT_LIMIT[is_measured]))


def step_of_grid(values: Array) -> float:
    """Return the step to which nearly all whole numbers are rounded: 1, 2, 5, 10, 50 or 100."""
    for step in (100.0, 50.0, 10.0, 5.0, 2.0):
        if np.mean(values % step == 0) >= _ON_GRID and np.unique(values).size > 2:
            return step
    return 1.0
