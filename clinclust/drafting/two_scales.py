"""Recognise two units by the numbers alone: two groups apart, of one shape, at a distance that is a known conversion.

Patients fall into two groups too, and the factors between units are so many that a group of patients often lies near
one of them. Two things tell units from patients. A laboratory gives the same number of digits in either unit, so that
the smaller numbers have more decimals; and few groups of patients lie 25 times apart with a gap between them and the
same relative spread. With one of these the finding is certain, otherwise it is a suspicion.
benchmarks/odd_numbers.py measures how often groups of patients are taken for units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.laboratory_units import FACTORS

__all__ = ["FEWEST", "LEAST_SHARE", "SeenUnits", "two_scales"]

Array = NDArray[np.float64]

FEWEST, LEAST_SHARE = 3, 0.01
"""How many values the smaller of two groups has at least, and which share of all."""
_DECIMAL = {10.0: "such as g/L and g/dL, or mm and cm", 100.0: "such as m and cm", 1000.0: "such as g and mg"}
_LEAST_GAP, _LEAST_GAP_IN_SD = 0.35, 1.5
"""The least gap on the log scale between two groups: 30% of the value, and in SD of a group."""
_WIDEST = 0.6  # standard deviation of the logarithm: hardly one measurement of one population is wider across a gap
_OFF, _ERRORS, _MOST_OFF = 0.03, 2.0, 0.15  # distance from a factor on the log scale: at least, in errors, at most
_FAR = 25.0  # a factor from which on groups of patients hardly ever are so far apart
_NOT_NEAR = 5.0  # the least factor of which decimals make certain: smaller ones lie close together
_SAME_DIGITS = 0.9  # the share of values that the decimals of a group must be enough for
_MOST_DECIMALS = 6


class SeenUnits(NamedTuple):
    """What makes two units likely in a column of numbers."""

    said: str
    """A sentence without a full stop."""
    is_certain: bool
    """Whether no subtypes should be searched with the column; otherwise it deserves a look."""


def two_scales(numbers: Array) -> SeenUnits | None:
    """Return what is seen if positive numbers (n,) fall into two groups, alike but for a factor between two units."""
    logs = np.sort(np.log(numbers))
    split = _split(logs)
    if split is None:
        return None
    lower, upper = logs[:split], logs[split:]
    distance = float(np.median(upper) - np.median(lower))
    factor = min(FACTORS, key=lambda one: abs(distance - np.log(one)))
    if not _are_of_one_shape(lower, upper) or abs(distance - np.log(factor)) > _tolerance(lower, upper):
        return None
    units = _DECIMAL.get(factor, f"whose factor is {factor:.4g}")
    more_decimals = _decimals(np.exp(lower)) > _decimals(np.exp(upper))
    said = (
        f"two groups of values that differ by a factor of about {np.exp(distance):.3g}, "
        f"{min(lower.size, upper.size):,} in the smaller one: two units ({units})? Give all values in one unit"
    )
    return SeenUnits(said, is_certain=factor >= _FAR or (factor >= _NOT_NEAR and more_decimals))


def _split(logs: Array) -> int | None:
    """Return how many of the sorted logarithms lie below the widest gap; None if it is no gap between groups."""
    fewest = max(FEWEST, int(np.ceil(LEAST_SHARE * logs.size)))
    inner = np.diff(logs)[fewest - 1 : logs.size - fewest]
    if inner.size == 0 or inner.max() < _LEAST_GAP:
        return None
    split = fewest + int(np.argmax(inner))
    larger = max(logs[:split], logs[split:], key=np.size)
    return None if inner.max() < _LEAST_GAP_IN_SD * larger.std() else split  # else the tail of one group


def _are_of_one_shape(one: Array, other: Array) -> bool:
    """Return whether two groups have a spread that one measurement can have, the same as far as their sizes tell."""
    spreads = one.std(), other.std()
    if max(spreads) > _WIDEST:
        return False
    error = np.sqrt(0.5 / one.size + 0.5 / other.size)
    apart = abs(float(np.log(max(spreads[0], 1e-9) / max(spreads[1], 1e-9))))
    return min(one.size, other.size) < 5 or apart < 0.15 + 2.5 * error  # few values may be equal


def _tolerance(one: Array, other: Array) -> float:
    """Return how far from a factor the distance of two medians may be, by chance and rounding."""
    spread = float(np.sqrt((one.size * one.var() + other.size * other.var()) / (one.size + other.size)))
    error = 1.25 * spread * np.sqrt(1.0 / one.size + 1.0 / other.size)
    return float(min(_OFF + _ERRORS * error, _MOST_OFF))


def _decimals(values: Array) -> int:
    """Return how many decimals nearly all of these numbers can be written with."""
    for decimals in range(_MOST_DECIMALS):
        if np.mean(np.abs(values - np.round(values, decimals)) < 1e-6 * 10.0**-decimals) >= _SAME_DIGITS:
            return decimals
    return _MOST_DECIMALS
