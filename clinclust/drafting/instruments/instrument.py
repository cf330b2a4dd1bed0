"""An instrument of clinical practice: the range and the step of its total."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Instrument"]

_SHORT_LINE = 10.0


@dataclass(frozen=True)
class Instrument:
    """An instrument: what it is called, its lowest and highest total, and the step between totals.

    A step of 0 means that it is a measurement: its totals are computed, or read from a line.
    """

    called: str
    low: float
    high: float
    step: float = 1.0

    def in_use(self, numbers: NDArray[np.float64]) -> Instrument:
        """Return the instrument as it was used: whole numbers 0 to 10 are steps, also of a line of 100 mm."""
        on_steps = bool((np.floor(numbers) == numbers).all())
        if (self.low, self.high, self.step) == (0, 100, 0) and on_steps and numbers.max() <= _SHORT_LINE:
            return replace(self, high=_SHORT_LINE, step=1.0)
        return self
