"""Measurements that were recorded in few steps: how coarse the steps are, and the levels of the whole scale.

A Gaussian makes subtypes of rounded values where the standard deviation is about a step or less: one group of 500
subjects with one such column beside three continuous ones was divided into 4 to 5 at 0.5 and 0.7 steps, into 1 to 5 at
one step, and not at all from 1.5 steps on; with an ordinal likelihood it was not divided at any of them. The levels go
beyond those observed, because a new subject may have the next.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.names import looks_graded, looks_measured, names_a_percentage

__all__ = ["is_fine_enough", "is_recorded_finely", "levels_beyond", "levels_of_percentages", "regular_step"]

Array = NDArray[np.float64]

_FINE = 0.2
"""The widest step of decimals that are measured; scales are graded in halves and quarters."""
_FINE_ENOUGH = 1.5
"""The standard deviation, in steps, from which on a density describes rounded values (see above)."""
_PERCENT_STEPS = (50, 25, 20, 10, 5)
_FEWEST_STEPS = 3


def regular_step(distinct: Array) -> float:
    """Return the greatest step of which all differences of ascending numbers are multiples, to four decimals."""
    units = np.rint(np.diff(distinct) * 10_000).astype(np.int64)
    return float(np.gcd.reduce(units)) / 10_000


def is_recorded_finely(name: str, distinct: Array) -> bool:
    """Return whether numbers are measurements by their step: decimals, or equal steps under such a name."""
    if looks_graded(name):
        return False
    step = regular_step(distinct)
    if step < 1:
        return 0 < step <= _FINE
    is_even = len(distinct) > _FEWEST_STEPS and bool((np.diff(distinct) == step).all())
    return is_even and looks_measured(name) and distinct[0] > 0


def is_fine_enough(values: Array, step: float) -> bool:
    """Return whether a density describes values that were recorded in this step."""
    return float(values.std()) >= _FINE_ENOUGH * step


def levels_beyond(distinct: Array, text_of: Mapping[float, str]) -> list[str]:
    """Return the levels of the grid, as far beyond the numbers observed on either side as these reach, but not below 0.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust.drafting.coarse_grids import levels_beyond
    >>> levels_beyond(np.array([0.1, 0.2, 0.4]), {0.1: "0.1", 0.2: "0.2", 0.4: "0.4"})
    ['0.0', '0.1', '0.2', '0.3', '0.4', '0.5', '0.6', '0.7']
    """
    step = regular_step(distinct)
    reach = float(distinct[-1] - distinct[0])
    low = max(float(distinct[0]) - reach, float(distinct[0]) % step) if distinct[0] >= 0 else distinct[0] - reach
    return _levels(low, float(distinct[-1]) + reach, step, text_of)


def levels_of_percentages(name: str, distinct: Array, text_of: Mapping[float, str]) -> list[str] | None:
    """Return the levels from 0 to 100 of percentages in equal steps; None for other numbers."""
    if not names_a_percentage(name) or distinct[0] < 0 or distinct[-1] > 100:
        return None
    for step in _PERCENT_STEPS:
        if len(distinct) > _FEWEST_STEPS and not (distinct % step).any():
            return _levels(0.0, 100.0, float(step), text_of)
    return None


def _levels(low: float, high: float, step: float, text_of: Mapping[float, str]) -> list[str]:
    """Return the text of each number of the grid: as the column writes it, or in the same way."""
    known = {round(number, 4): text for number, text in text_of.items()}
    numbers = [round(low + place * step, 4) for place in range(math.floor((high - low) / step + 1e-6) + 1)]
    return [known.get(number, _written_like(number, known)) for number in numbers]


def _written_like(number: float, known: Mapping[float, str]) -> str:
    """Return the text of a number with the decimals, and the decimal mark, that the column writes."""
    decimals = max(len(re.split("[.,]", text)[1]) if re.search("[.,]", text) else 0 for text in known.values())
    shortest = [text for value, text in known.items() if float(value).is_integer()]
    is_bare = float(number).is_integer() and bool(shortest) and not any(re.search("[.,]", text) for text in shortest)
    text = f"{number:.{0 if is_bare else decimals}f}"
    return text.replace(".", ",") if any("," in text for text in known.values()) else text
