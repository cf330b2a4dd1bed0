"""The arrays of a cohort that the compiled kernels read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CohortArrays"]

Array = NDArray[np.float64]


class CohortArrays(NamedTuple):
    """A cohort as the compiled kernels read it. No array changes during a fit.

    N is the number of subjects and R the number of rows of the table of log predictives. Each level of each discrete
    feature has one row. The D_table discrete features come first, then the D_value continuous ones.
    """

    codes: NDArray[np.int32]
    """(N, D_table) table row of each discrete value; 0 = missing."""
    values: Array
    """(N, D_value) continuous values: square roots of exponential, standardised Gaussian values; NaN = missing."""
    kinds: NDArray[np.int64]
    """(D,) code of the likelihood of each feature (`Likelihood.kernel`)."""
    level_start: NDArray[np.int64]
    """(D_table + 1,) first table row of each discrete feature."""
    level_values: Array
    """(R,) value of the level of each row."""
    level_statistics: Array
    """(R, 2) sufficient statistics of one subject at the level (zeros where the statistics count the levels)."""
    level_log_base: Array
    """(R,) log base measure of the level of each row."""
    statistic_start: NDArray[np.int64]
    """(D + 1,) index of the first sufficient statistic of each feature; last, their number."""
    prior_start: NDArray[np.int64]
    """(D + 1,) index of the first hyperparameter of each feature; last, their number."""
