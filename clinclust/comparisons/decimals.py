"""With how many decimals a mean is printed: reports, and those who judge what a report gives away, must agree."""

from __future__ import annotations

import math

__all__ = ["decimals_for"]


def decimals_for(spread: float) -> int:
    """Decimals that show a mean to about a hundredth of its standard deviation."""
    if not 0 < spread < math.inf:
        return 2
    return max(0, 2 - math.floor(math.log10(spread)))
