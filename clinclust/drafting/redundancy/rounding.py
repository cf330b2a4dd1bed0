"""Numbers that are the same but for their unit, and for the decimals that were kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["linear_within_rounding", "step_of"]

Array = NDArray[np.float64]

_MOST_DECIMALS = 8
_FEWEST_SUBJECTS = 10
_FEWEST_VALUES = 8
_COARSEST = 0.25  # of a standard deviation: a wider tolerance would find lines where there is noise
_SLACK = 1.1  # the fitted line is not the true one


def step_of(values: Array) -> float:
    """Return the unit of the last decimal place of these numbers (1 for whole ones), or 0 if they have no such place.

    Parameters
    ----------
    values : float64 (N,)
        Without missing values.
    """
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = values * 10.0**decimals
        if np.abs(scaled).max(initial=0.0) < 2.0**50 and np.abs(scaled - np.rint(scaled)).max(initial=0.0) < 1e-6:
            return float(10.0**-decimals)
    return 0.0


def linear_within_rounding(x: Array, y: Array) -> int:
    """Return the number of subjects if y = a + b x in all of them, up to the decimals that are kept; otherwise 0.

    Parameters
    ----------
    x, y : float64 (N,)
        NaN = missing.
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    if both.sum() < _FEWEST_SUBJECTS or min(np.unique(x).size, np.unique(y).size) < _FEWEST_VALUES:
        return 0
    with np.errstate(all="ignore"):  # numbers may be of any size
        centred = x - x.mean()
        slope = float(centred @ (y - y.mean()) / (centred @ centred))
        residual = np.abs(y - y.mean() - slope * centred).max()
        tolerance = 0.5 * (step_of(y) + abs(slope) * step_of(x))
        near = residual <= _SLACK * tolerance + 1e-9 * y.std() and tolerance <= _COARSEST * y.std()
    return int(both.sum()) if near else 0
