"""With how many decimals a mean is printed: one rule for reports, the subtype table and the audit of what they show."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["decimals_for", "decimals_of_mean"]


def decimals_for(spread: float) -> int:
    """Decimals that show a mean to about a hundredth of its standard deviation."""
    if not 0 < spread < math.inf:
        return 2
    return max(0, 2 - math.floor(math.log10(spread)))


def decimals_of_mean(spreads: Iterable[float], *, is_scored: bool) -> int:
    """Decimals of the mean and the SD of a feature, the same in every group.

    Parameters
    ----------
    spreads : iterable of float
        SD of all subjects, then of each subtype; NaN where there is none, or it is withheld. The first that is shown
        decides.
    is_scored : bool
        Whether the mean is a share or that of an ordered scale, which have 2.
    """
    return 2 if is_scored else decimals_for(next((spread for spread in spreads if math.isfinite(spread)), math.nan))
