"""Numbers such as 99 and 999 that too many subjects share for a measurement, and may be codes for a missing value.

A code inside the range of the values does not stand apart, but many subjects share it. How many would is told by the
subjects beside it: if the next 30 on one side spread over a distance d, one unit of the last decimal place has about
30 / d of them. A number is suspected if it is one that surveys and laboratory systems use as a code, if it has at least
three times as many subjects as expected from either side, beyond chance, and if no number beside it has half as many:
rounding and limits favour several numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.rounding import step_of

__all__ = ["Suspected", "suspected_codes"]

Array = NDArray[np.float64]

_DIGITS = ("99", "98", "97", "96", "88", "77", "999", "998", "997", "996", "888", "777")
_LONG = ("9999", "9998", "9997", "8888", "7777", "99999", "88888", "99998", "999999", "888888", "9999999")
_WITH_DECIMALS = ("9.9", "8.8", "9.99", "8.88", "99.9", "88.8", "99.99", "88.88", "999.9", "888.8", "999.99", "9999.9")
_CODES = np.array([float(code) for code in (*_DIGITS, *_LONG, *_WITH_DECIMALS)])
_FEWEST_SUBJECTS, _FEWEST_VALUES = 50, 15
_FEWEST = 3
_LEAST_SHARE = 0.01
_BESIDE = 30
_TIMES = 3.0
_CHANCE = 1e-5
_APART = 10  # subjects: a code stands apart if the next value is farther away than twice their spread
_ENDS = 0.3  # of the range of the ten largest others: a largest number as near as this is one of them
_ZERO_BELOW, _ZERO_STEPS, _ZERO_SHARE = 0.25, 5.0, 0.1
"""0 stands apart if all others exceed this share of their median, and so many units of the last decimal place."""


@dataclass(frozen=True)
class Suspected:
    """A number that may be a code for a missing value.

    Attributes
    ----------
    code : float
    n : int
        The number of subjects who have exactly this number.
    expected : float
        About how many would have it, by the values beside it.
    is_apart : bool
        Whether it is far above all other values, so that it can hardly be one of them.
    """

    code: float
    n: int
    expected: float
    is_apart: bool

    def told(self) -> str:
        """Return what deserves a look, without a full stop."""
        if self.code == 0:
            return f"{self.n:,} subjects have 0, and all others far more: does it mean that nothing was measured?"
        expected = f"about {self.expected:.0f}" if self.expected >= 1 else "hardly one"
        return f"{self.n:,} subjects have exactly {self.code:.12g}, and {expected} would by the values beside it"

    def repair(self) -> str:
        """Return the line of the schema that makes the number a missing value."""
        return f'`missing_codes: ["{self.code:.12g}"]`'

    def sentence(self) -> str:
        """Return what deserves a look, with the repair."""
        return f"{self.told()}; if it stands for a missing value, write {self.repair()}"


def suspected_codes(numbers: Array, counts: NDArray[np.int64]) -> list[Suspected]:
    """Return the numbers of a column that may be codes for a missing value, the commonest first.

    Parameters
    ----------
    numbers : float64 (V,)
        The numbers of the column; they may repeat.
    counts : int64 (V,)
        The number of subjects who have each.
    """
    values, place = np.unique(numbers[np.isfinite(numbers)], return_inverse=True)
    n_of = np.bincount(place, weights=counts[np.isfinite(numbers)], minlength=values.size).astype(np.float64)
    if n_of.sum() < _FEWEST_SUBJECTS or values.size <= _FEWEST_VALUES:
        return []
    step = step_of(values) or float(np.diff(values).min())
    candidates = np.flatnonzero(np.isin(values, _CODES) & (n_of >= max(_FEWEST, _LEAST_SHARE * n_of.sum())))
    found = [one for place in candidates if (one := _suspected(values, n_of, int(place), step))]
    return sorted([*found, *_zero(values, n_of, step)], key=lambda one: -one.n)


def _suspected(values: Array, n_of: Array, place: int, step: float) -> Suspected | None:
    from scipy.special import bdtrc

    n, code, expected = float(n_of[place]), float(values[place]), 0.0
    is_largest = place == values.size - 1
    if is_largest and code - values[place - 1] < max(1.5 * step, _ENDS * _spread(values[:-1], n_of[:-1])):
        return None  # where values end, such as percentiles at 99
    is_apart = is_largest and _is_apart(values[:-1], n_of[:-1], code)
    for side in (slice(place - 1, None, -1) if place else slice(0, 0), slice(place + 1, None)):
        distances, beside = np.abs(values[side] - code), n_of[side]
        near = np.cumsum(beside) - beside < _BESIDE
        if beside[near].sum() < _BESIDE // 2:
            continue  # too few on this side to tell
        distances, beside = distances[near], beside[near]
        share = step / (float(distances[-1]) + step)
        total = float(beside.sum())
        expected = max(expected, total * share / (1.0 - share))
        ties = 1.0 if is_apart else 2.0
        if beside.max() > n / ties or bdtrc(n - 1.0, int(n + total), share) > _CHANCE or n < _TIMES * expected:
            return None
    return Suspected(code, int(n), expected, is_apart) if expected > 0 else None


def _is_apart(others: Array, n_of: Array, code: float) -> bool:
    """Return whether a code above all others is farther from them than twice the spread of the ten next to it."""
    return bool(code - others[-1] > 2.0 * _spread(others, n_of))


def _spread(values: Array, n_of: Array) -> float:
    """Return the range of the ten largest of the values."""
    below, counts = values[::-1], n_of[::-1]
    return float(below[0] - below[np.cumsum(counts) - counts < _APART][-1])


def _zero(values: Array, n_of: Array, step: float) -> list[Suspected]:
    """Return 0 if a few subjects have it and all others far more, such as a weight of 0 kg."""
    if values[0] != 0 or not _FEWEST <= n_of[0] <= _ZERO_SHARE * n_of.sum():
        return []
    others = np.repeat(values[1:], n_of[1:].astype(np.int64))
    if values[1] < max(_ZERO_BELOW * float(np.median(others)), _ZERO_STEPS * step):
        return []
    return [Suspected(0.0, int(n_of[0]), 0.0, False)]
