"""A scale of how far numbers lie from what is expected, in standard deviations: linear in the middle, then logarithmic.

The middle shows whether a number is within chance; beyond it, the order of magnitude is enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import asinh

__all__ = ["ScaleOfExcess"]

_LINEAR_BELOW = 2.0
_LEAST = 3.0
"""Standard deviations on each side that every scale shows."""
_TICKS = (-100.0, -10.0, -2.0, 0.0, 2.0, 5.0, 10.0, 30.0, *(10.0**power for power in range(2, 16)))
_APART = 0.1
"""Least distance of two ticks, as a share of the scale."""


@dataclass(frozen=True)
class ScaleOfExcess:
    """The scale from `low` to `high`, in standard deviations from the expectation."""

    low: float
    high: float

    @classmethod
    def over(cls, numbers: Iterable[float]) -> ScaleOfExcess:
        """Return the scale that shows all these numbers."""
        found = [-_LEAST, _LEAST, *numbers]
        return cls(min(found), max(found))

    def share(self, number: float) -> float:
        """Return the place of a number on the scale, from 0 at its low end to 1 at its high end."""
        low, at, high = (asinh(each / _LINEAR_BELOW) for each in (self.low, number, self.high))
        return (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """Return a few round numbers, 0 and 2 on each side among them."""
        found = [-2.0, 0.0, 2.0]
        for tick in _TICKS:
            is_near = any(abs(self.share(tick) - self.share(other)) < _APART for other in found)
            if self.low <= tick <= self.high and not is_near:
                found.append(tick)
        return sorted(found)
