"""Outliers of a column, such as slips of the pen: what is typical of a column is judged without them."""

from __future__ import annotations

import numpy as np

from clinclust.arrays import Array

_FACTOR = 30.0
"""A far value is this many times as far from the median as any value that is not, as in at most 1% of lognormal columns
with sigma = 2 and 3% of Cauchy columns (`benchmarks/far_values.py`)."""
_ONE_IN = 200
"""At most one value in so many is far, rounded up. More are a group of subjects, and no slips."""
_FEWEST = 20
"""Of fewer values, none is called far."""
_QUARTILE_RANGE = 1.3489795003921634
"""Distance between the quartiles of the standard normal distribution."""
_REACH = 6.0
"""Half the width, in standard deviations, outside of which values are a tail: one in 5e8 normal values is."""


def ends(observed: Array) -> tuple[float, float]:
    """Return the ends of observed values (n,), outside of which a tail does not show their usual spread.

    They are 6 standard deviations from the median, with (upper - lower quartile) / 1.349 as the standard deviation. Of
    fewer than 20 values, or if the quartiles do not differ, they are infinite.
    """
    if observed.size < _FEWEST:
        return -np.inf, np.inf
    lower, median, upper = np.percentile(observed, [25.0, 50.0, 75.0])
    if lower == upper:
        return -np.inf, np.inf
    reach = _REACH * (upper - lower) / _QUARTILE_RANGE
    return float(median - reach), float(median + reach)


def winsorised(observed: Array) -> Array:
    """Return observed values (n,) without absurdly far ones, and those outside of the `ends` of the rest moved to them.

    One value in a hundred that is written ten times too large makes up nearly all of the variance of a column; a prior
    of that scale hides the subtypes.
    """
    usual = without_far_values(observed)
    return np.clip(usual, *ends(usual))


def without_far_values(observed: Array) -> Array:
    """Return observed values (n,) without absurdly far ones; where there are none, the same array.

    With the distances from the median in increasing order, d_1 <= ... <= d_n, value j is far if there is an i <= j with

        d_i > 30 d_(i-1),   i > n - ceil(n / 200),   n >= 20,

    and if the quartiles differ. A gap, and not a long distance, marks it: values of a heavy tail follow each other.
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
