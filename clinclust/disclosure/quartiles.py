"""Round medians and quartiles, each of which is the value of one or two subjects."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["rounded_quartiles", "step_of_quartiles"]

Floats = NDArray[np.float64]

_STEPS_TO_A_QUARTER = 4.0


def step_of_quartiles(q1: float, q3: float) -> float | None:
    """Return the step to which quartiles are rounded: 1, 2 or 5 times a power of ten; None if they are not rounded.

    It is at most a quarter of the distance between the quartiles. Half of the subjects lie between them, so that about
    an eighth share a rounded value, more than one near the median. If both quartiles are equal, at least a quarter of
    the subjects have this very value, and it names nobody.
    """
    room = (q3 - q1) / _STEPS_TO_A_QUARTER
    if not 0.0 < room < math.inf:
        return None
    power = 10.0 ** math.floor(math.log10(room))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= room * (1.0 + 1e-9))


def rounded_quartiles(of_order: Sequence[Floats]) -> list[Floats]:
    """Return the medians and quartiles of a feature, rounded; the arrays are median, q1 and q3, each (1, G).

    The exact value of a subject could be looked for in other data about the same people. The step follows from the
    first group whose quartiles are shown, and so from numbers that a reader sees.
    """
    _, q1, q3 = of_order
    shown = np.flatnonzero(np.isfinite(q1[0]) & np.isfinite(q3[0]) & (q3[0] > q1[0]))
    step = step_of_quartiles(float(q1[0, shown[0]]), float(q3[0, shown[0]])) if shown.size else None
    return [values if step is None else _to_step(values, step) for values in of_order]


def _to_step(values: Floats, step: float) -> Floats:
    """Return the values rounded to multiples of a step, each the decimal number that is nearest to its multiple."""
    decimals = max(0, -math.floor(math.log10(step)))
    return np.round(np.round(values / step) * step, decimals)
