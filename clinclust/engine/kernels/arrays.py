"""A cohort as the compiled kernels read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CohortArrays"]

Array = NDArray[np.float64]


class CohortArrays(NamedTuple):
    """What the compiled kernels read; nothing here changes during a fit. N subjects, R table rows."""

    codes: NDArray[np.int32]
    """(N, D_table) row of the table of log predictives; 0 = missing."""
    values: Array
    """(N, D_value) square root of an exponential value, standardised Gaussian value; NaN = missing."""
    kinds: NDArray[np.int64]
    """(D,) code of the likelihood of each feature (`Likelihood.kernel`): the D_table discrete ones, then the others."""
    level_start: NDArray[np.int64]
    """(D_table + 1,) first table row of each discrete feature."""
    level_values: Array
    """(R,) the value that each row stands for."""
    level_statistics: Array
    """(R, 2) what a subject at this level adds to the statistics (zeros where statistics count the levels)."""
    level_log_base: Array
    """(R,) log base measure of the level."""
    statistic_start: NDArray[np.int64]
    """(D + 1,) first sufficient statistic of each feature."""
    prior_start: NDArray[np.int64]
    """(D + 1,) first hyperparameter of each feature."""
