"""What a reader can compute: the lowest and the highest that every count can be, given every number shown."""

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
    """Lowest and highest that counts can be, each (R + 1, G): the rows, then the observed values.

    Parameters
    ----------
    shown : FeatureCounts
    sizes : sequence of pairs, length G
        Lowest and highest that the size of each group can be.
    wanted : bool (R + 1, G)
        Which counts are asked for; the others are NaN, or some possible values.
    rounding : int, optional
        Base to which shown counts are rounded.
    possible : float64 (R + 1, G), optional
        Counts that agree with everything shown, such as the true ones. With them an interval need not be searched to
        its ends once it is as long as `enough`.
    enough : float

    Raises
    ------
    ValueError
        If no counts agree with what is shown.
    """
    if are_independent(shown):
        return column_intervals(shown, sizes, rounding)
    return Programme(shown, sizes, rounding).intervals(wanted, possible, enough)
