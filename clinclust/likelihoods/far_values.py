"""Far values of a column, such as slips of the pen: what is typical of a column is judged without them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ends", "winsorised", "without_far_values"]

Array = NDArray[np.float64]

_FACTOR = 30.0
"""A far value is this many times as far from the median as any value that is not.

Measured in columns of 30 to 20,000 values (`benchmarks/far_values.py`): 0% of lognormal columns with sigma = 1 and at
most 1% with sigma = 2 have such a value, 3% of Cauchy columns, and none where 0.3% to 1.5% of creatinine values are
those of dialysis.
"""
_ONE_IN = 200
"""At most one value in so many is far, rounded up. More are a group of subjects, and no slips."""
_FEWEST = 20
"""Of fewer values, none is called far."""
_QUARTILE_RANGE = 1.3489795003921634
"""Distance between the quartiles of the standard normal distribution."""
_REACH = 6.0
"""Half the width, in standard deviations, outside of which values are a tail: one in 5e8 normal values is.

Where the quartiles are uncertain more are: one in .33% of columns of 20 normal values, in .02% of 50, in none of 200
(20,000 columns each).
"""


def ends(observed: Array) -> tuple[float, float]:
    """Return the ends of a column, outside of which values are in a tail that says nothing of its usual spread.

    They lie 6 standard deviations from the median, as the quartiles tell them: (upper - lower) / 1.349, the standard
    deviation of normally distributed values with these quartiles. Of fewer than 20 values, or if the quartiles do not
    differ, they are infinite.

    Parameters
    ----------
    observed : float64 (n,)
        Without missing values.
    """
    if observed.size < _FEWEST:
        return -np.inf, np.inf
    lower, median, upper = np.percentile(observed, [25.0, 50.0, 75.0])
    if lower == upper:
        return -np.inf, np.inf
    reach = _REACH * (upper - lower) / _QUARTILE_RANGE
    return float(median - reach), float(median + reach)


def winsorised(observed: Array) -> Array:
    """Return the values without absurdly far ones, and those outside of the `ends` of the rest moved to them.

    One value in a hundred that is written ten times too large makes up nearly all of the variance of a column. A prior
    of that scale hides the subtypes (`benchmarks/far_values.py`).

    Parameters
    ----------
    observed : float64 (n,)
        Without missing values.
    """
    usual = without_far_values(observed)
    return np.clip(usual, *ends(usual))


def without_far_values(observed: Array) -> Array:
    """Return the values without absurdly far ones; where there are none, the same array.

    With the distances from the median in increasing order, d_1 <= ... <= d_n, value j is far if there is an i <= j with

        d_i > 30 d_(i-1),   i > n - ceil(n / 200),   n >= 20,

    and if the quartiles of the column differ. The rule looks for a gap and not for a long distance, because the values
    of a heavy tail follow each other: in a lognormal column the largest is hundreds of spreads from the median, but the
    next one is nearly as far.

    Parameters
    ----------
    observed : float64 (n,)
        Without missing values.

    Returns
    -------
    float64 (m,), m <= n
    """
    n = observed.size
    if n < _FEWEST:
        return observed
    lower, median, upper = np.percentile(observed, [25.0, 50.0, 75.0])
    if lower == upper:
        return observed
    distances = np.abs(observed - median)
    first = n - -(-n // _ONE_IN) - 1
    farthest = np.sort(np.partition(distances, first)[first:])
    gaps = np.flatnonzero(farthest[1:] > _FACTOR * farthest[:-1])
    return observed[distances <= farthest[gaps[0]]] if gaps.size else observed
