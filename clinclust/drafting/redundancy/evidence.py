"""How much evidence there is that one column follows from another, instead of by chance.

Given how often each value of y occurs, there are n! / prod(n_v!) ways to spread these values over the n subjects. If y
follows from x, a map from the values of x to those of y says the same. The evidence is the logarithm of the number of
ways, less the logarithm of the number of maps of that kind: in nats, the probability that columns without any relation
look like this. Few subjects per value of x, or few subjects with a rare value of y, are thus no evidence.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST_APART", "Told", "beyond_chance", "told_by"]

Array = NDArray[np.float64]

FEWEST_APART = 5  # subjects outside the commonest value: three rare symptoms that coincide are no rule
_ONE_TABLE_IN = 1000


class Told(NamedTuple):
    """That y follows from x in all subjects in whom both are observed."""

    n: int
    """The number of these subjects."""
    evidence: float
    """In nats; see the module."""
    one_to_one: bool
    """Whether x follows from y too."""
    rising: bool | None
    """Whether y rises with x (True), falls (False), or neither."""


def beyond_chance(evidence: float, n_columns: int) -> bool:
    """Return whether among all pairs of so many unrelated columns one such finding comes up in few tables."""
    return evidence > math.log(_ONE_TABLE_IN) + 2.0 * math.log(max(n_columns, 2))


def told_by(x: Array, y: Array, *, x_ordered: bool, y_ordered: bool) -> Told | None:
    """Return how y follows from x, or None if it does not.

    Parameters
    ----------
    x, y : float64 (N,)
        Scores; NaN = missing.
    x_ordered, y_ordered : bool
        Whether the values have an order.
    """
    both = ~np.isnan(x) & ~np.isnan(y)
    x_values, x_codes = np.unique(x[both], return_inverse=True)
    y_values, y_codes, y_counts = np.unique(y[both], return_inverse=True, return_counts=True)
    n_x, n_y, n = x_values.size, y_values.size, int(both.sum())
    if min(n_x, n_y) < 2 or n - y_counts.max() < FEWEST_APART:
        return None
    image = np.empty(n_x, dtype=np.int64)
    image[x_codes] = y_codes
    if not (image[x_codes] == y_codes).all():
        return None
    steps = np.diff(image)
    rising = None
    if x_ordered and y_ordered:
        rising = True if (steps >= 0).all() else False if (steps <= 0).all() else None
    evidence = _log_ways(y_counts) - _log_maps(n_x, n_y, int((steps != 0).sum()), x_ordered, rising)
    return Told(n, evidence, n_x == n_y, rising)


def _log_ways(counts: NDArray[np.int64]) -> float:
    return math.lgamma(counts.sum() + 1.0) - sum(map(math.lgamma, (counts + 1.0).tolist()))


def _log_maps(n_x: int, n_y: int, changes: int, x_ordered: bool, rising: bool | None) -> float:
    """Return the logarithm of the number of maps: monotone ones, those with so many changes along x, or any."""
    if rising is not None:
        return math.log(2.0)
    some = n_x * math.log(n_y)
    if not x_ordered:
        return some
    chosen = math.lgamma(n_x) - math.lgamma(changes + 1.0) - math.lgamma(n_x - changes)
    return min(some, chosen + (changes + 1) * math.log(n_y))
