"""The number of decimals of a printed mean: one rule for reports, the subtype table and the disclosure audit."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["decimals_for", "decimals_of_mean"]


def decimals_for(spread: float) -> int:
    """Return the number of decimals that shows a mean to about a hundredth of `spread`, the SD; 2 if there is none."""
    if not 0 < spread < math.inf:
        return 2
    return max(0, 2 - math.floor(math.log10(spread)))


def decimals_of_mean(spreads: Iterable[float], *, is_scored: bool) -> int:
    """Return the number of decimals of the mean and the SD of a feature, which is the same in every group.

    Parameters
    ----------
    spreads : iterable of float
        The SD of all subjects, then of each subtype; NaN where it does not exist or is withheld. The first finite one
        determines the decimals.
    is_scored : bool
        Whether the mean is a share or the mean of an ordered scale; these have 2 decimals.
    """
    return 2 if is_scored else decimals_for(next((spread for spread in spreads if math.isfinite(spread)), math.nan))
