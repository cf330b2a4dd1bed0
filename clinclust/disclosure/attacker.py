"""The attacker's intervals: the lowest and the highest possible value of each count, given every number shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.disclosure.columns import are_independent, column_intervals
from clinclust.disclosure.counts import FeatureCounts
from clinclust.disclosure.programme import Programme

__all__ = ["intervals"]

Floats = NDArray[np.float64]


def intervals(
    shown: FeatureCounts,
    sizes: Sequence[tuple[int, int]],
    wanted: NDArray[np.bool_],
    *,
    rounding: int | None = None,
    possible: Floats | None = None,
    enough: float = np.inf,
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest possible counts, each (R + 1, G): the rows, then the observed values.

    Parameters
    ----------
    shown : FeatureCounts
        The numbers of the feature; NaN where they are withheld.
    sizes : sequence of pairs, length G
        The lowest and the highest possible size of each group.
    wanted : bool (R + 1, G)
        Which intervals are needed. The ends of the others may be NaN or any possible values.
    rounding : int, optional
        The base to which shown counts are rounded.
    possible : float64 (R + 1, G), optional
        Counts that agree with all numbers shown, such as the true ones, from which the search for an interval starts.
    enough : float
        The length at which the search for an interval stops: longer ones may then be returned shorter than they are.

    Raises
    ------
    ValueError
        If no counts agree with the numbers shown.
    """
    if are_independent(shown):
        return column_intervals(shown, sizes, rounding)
    return Programme(shown, sizes, rounding).intervals(wanted, possible, enough)
