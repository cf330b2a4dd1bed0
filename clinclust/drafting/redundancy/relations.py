"""Find small sets of columns of which one may be a weighted sum of the others: a greedy search on correlations.

All triples of 200 columns are too many. For each column, the others are added one by one, each time the one that
explains most of what is left (orthogonal least squares), until nothing is left or the search is not getting there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.graded import paired_moments

__all__ = ["explained_by"]

Array = NDArray[np.float64]

_UNEXPLAINED = 0.1  # rounding and single errors of entry leave this much
_REST = 1e-5
_PATIENCE = 3.0
_STEADY = 1e-6  # columns that repeat others have less than this of their own, and are not added


def explained_by(table: Array, targets: list[int], most: int) -> list[tuple[int, list[int]]]:
    """Return the columns that may be a weighted sum of others, each with these others, the most important first.

    Parameters
    ----------
    table : float64 (N, C)
        NaN = missing.
    targets : list of int
        The columns that may be such a sum.
    most : int
        The most columns that are added up.
    """
    middle = np.nan_to_num(np.nanmean(table, axis=0))
    spread = np.nanstd(table, axis=0)
    standard = (table - middle) / spread
    moments = paired_moments(standard, standard)
    correlation = moments.covariance / np.sqrt(np.maximum(moments.own_variance * moments.other_variance, 1e-12))
    found = ((target, _pursued(correlation, target, most)) for target in targets)
    return [(target, chosen) for target, chosen in found if chosen]


def _pursued(correlation: Array, target: int, most: int) -> list[int]:
    """Return the columns that explain the target; none if so few columns do not."""
    chosen: list[int] = []
    own = np.ones(len(correlation))  # what the chosen columns do not explain, of each column
    left, before = correlation[target].copy(), 1.0
    directions = np.zeros((most, len(correlation)))
    own[target] = 0.0
    while len(chosen) < most:
        gains = np.where(own > _STEADY, left**2 / np.maximum(own, _STEADY), 0.0)
        best = int(gains.argmax())
        now = before - float(gains[best])
        is_near = before < _UNEXPLAINED
        if before < _REST or (is_near and now > 0.9 * before):
            break
        if not is_near and before - now < now / (_PATIENCE * (most - len(chosen))):
            return []
        # One step of the Cholesky decomposition: the part of the column that the chosen ones do not explain.
        direction = correlation[best] - directions[: len(chosen), best] @ directions[: len(chosen)]
        direction = direction / np.sqrt(own[best])
        left = left - direction[target] * direction
        own = np.maximum(own - direction**2, 0.0)
        own[[target, best]] = 0.0
        directions[len(chosen)] = direction
        chosen.append(best)
        before = now
    return chosen if before < _UNEXPLAINED else []
