"""Whether a sample has one mode: its dip, and the peaks of its density estimate.

Hartigan and Hartigan (1985), *The dip test of unimodality*, Annals of Statistics 13, 70-84.
"""

from __future__ import annotations

import numpy as np

from clinclust.arrays import Array
from clinclust.engine.kernels.compiled import kernel, subkernel


@kernel
def dip(values: Array, enough: float = np.nan) -> float:
    """Return 2 D - 1 / n, with D the dip of ascending values (n,): 0 for even spaces, 1/2 for two halves far apart.

    With the mode at value m, it is the largest distance of the ranks, as shares, from their greatest convex minorant up
    to m and their least concave majorant from m on; the least over all m. The first rises with m, the second falls, so
    that their crossing is found by halving: the dip lies between both distances at any m. If both are at least `enough`
    or both are below, the larger one is returned.
    """
    n = values.size
    low, high = 0, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        rising, falling = _distance(values, 0, middle, 1.0), _distance(values, middle, n - 1, -1.0)
        if min(rising, falling) / n >= enough or max(rising, falling) / n < enough:
            return max(rising, falling) / n
        if rising < falling:
            low = middle
        else:
            high = middle
    at_low = max(_distance(values, 0, low, 1.0), _distance(values, low, n - 1, -1.0))
    at_high = max(_distance(values, 0, high, 1.0), _distance(values, high, n - 1, -1.0))
    return min(at_low, at_high) / n


@subkernel
def _distance(values: Array, first: int, last: int, sign: float) -> float:
    """Return the largest distance, in ranks, of ascending values from their convex (sign 1) or concave hull (-1)."""
    corners = np.empty(last - first + 1, dtype=np.int64)
    n_corners = 0
    for i in range(first, last + 1):
        while n_corners >= 2:
            a, b = corners[n_corners - 2], corners[n_corners - 1]
            if sign * ((values[b] - values[a]) * (i - a) - (b - a) * (values[i] - values[a])) > 0.0:
                break
            n_corners -= 1
        corners[n_corners] = i
        n_corners += 1
    largest = 0.0
    for place in range(n_corners - 1):
        a, b = corners[place], corners[place + 1]
        length = values[b] - values[a]
        if length == 0.0:  # equal values are at the mode, where the distribution function may leap
            continue
        for i in range(a + 1, b):
            share = (values[i] - values[a]) / length
            largest = max(largest, abs(i - a - share * (b - a)))
    return largest


_MOST_CELLS, _CELLS_OF_H = 512, 16.0  # cells of a density estimate at most, and of a bandwidth if not too many
_PADDING, _REACH = 3.0, 7.5  # bandwidths by which the density estimate reaches beyond the sample, and its kernel
_NOTHING = 1e-9  # share of the highest density that counts as none, also as a slope between two cells


@kernel
def count_peaks(places: Array, h: float, least_mass: float) -> int:
    """Return the number of peaks of a Gaussian density estimate of places (n,) with `least_mass` between valleys."""
    low, high = places.min() - _PADDING * h, places.max() + _PADDING * h
    n_cells = min(int((high - low) / h * _CELLS_OF_H) + 1, _MOST_CELLS)
    width = (high - low) / n_cells
    counts = np.zeros(n_cells)
    for place in places:
        counts[min(int((place - low) / width), n_cells - 1)] += 1.0
    reach = min(int(_REACH * h / width), n_cells - 1)
    heights = np.empty(2 * reach + 1)
    for i in range(heights.size):
        heights[i] = np.exp(-0.5 * ((i - reach) * width / h) ** 2)
    padded = np.zeros(3 * n_cells)  # so that no kernel ends at a border
    for cell in range(n_cells):
        if counts[cell] > 0.0:
            around = padded[n_cells + cell - reach : n_cells + cell + reach + 1]
            for i in range(heights.size):
                around[i] += counts[cell] * heights[i]
    density = padded[n_cells : 2 * n_cells]
    least, fewest = _NOTHING * density.max(), least_mass * places.size
    n_peaks, mass, is_falling = 0, 0.0, False
    for cell in range(n_cells - 1):
        mass += counts[cell]
        slope = max(density[cell + 1], least) - max(density[cell], least)
        if slope >= least and is_falling:  # behind a valley
            n_peaks += int(mass >= fewest)
            mass = 0.0
        if abs(slope) >= least:
            is_falling = slope < 0.0
    return max(n_peaks + int(mass + counts[n_cells - 1] >= fewest), 1)
