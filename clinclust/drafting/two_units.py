"""Recognise two units in one column of numbers: a second group that lies where the conversion would put it.

For measurements whose units are known by the name of the column, two ways of describing the numbers are compared: one
population in one unit, and one population of which some are written in the other unit. The second has no group of its
own that could lie anywhere: after the conversion, both groups must be one population (Hosmer and McLachlan call such a
mixture constrained). Without a known name, the numbers alone are asked (`two_scales`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.laboratory_units import Conversion, conversions_of
from clinclust.drafting.two_scales import FEWEST, LEAST_SHARE, SeenUnits, two_scales

__all__ = ["two_units"]

Array = NDArray[np.float64]


_FEWEST_VALUES = 20
_GAIN = 12.0
"""Nats by which two units must describe the numbers better than one population, plain or skewed."""
_LEAST_DISTANCE = 2.5  # between the groups, in standard deviations: nearer groups cannot be told apart
_SAME_MIDDLE, _SAME_SPREAD = 0.1, 2.0
"""How far the middles of the groups may differ on the log scale, beyond two standard errors, and the ratio of SDs."""
_POWERS_OF_ONE = (1.0, 0.5, 1.0 / 3.0)
"""Powers whose values may be normal in one population; the cube root makes durations nearly so (Wilson, Hilferty)."""
_STEPS = 50


def two_units(name: str, numbers: Array) -> SeenUnits | None:
    """Return what is seen if the numbers of a column (n,) seem to have two units; None otherwise."""
    if numbers.size < _FEWEST_VALUES or numbers.min() <= 0:
        return None
    known = conversions_of(name)
    if not known:
        return two_scales(numbers)
    found = [(fit, conversion) for conversion in known if (fit := _fitted(numbers, conversion)) is not None]
    if not found:
        return None
    (_, is_upper), conversion = max(found, key=lambda one: one[0][0])
    return SeenUnits(_told(numbers, conversion, is_upper), is_certain=True)


def _fitted(numbers: Array, conversion: Conversion) -> tuple[float, NDArray[np.bool_]] | None:
    """Return the nats that two units gain over one, and which numbers are in the upper unit; None if too few nats."""
    logs = np.log(numbers)
    back = (numbers - conversion.offset) / conversion.factor
    usable = back > 0
    as_upper = np.log(np.where(usable, back, 1.0))
    # The log density of x in the upper unit: that of the converted logarithm, times the derivative of the conversion.
    jacobian = np.where(usable, -np.log(np.where(usable, numbers - conversion.offset, 1.0)), -np.inf)
    alone = max(
        _log_likelihood(logs) - logs.sum(),
        *(
            _log_likelihood(numbers**power) + numbers.size * np.log(power) + (power - 1.0) * logs.sum()
            for power in _POWERS_OF_ONE
        ),
    )
    best = None
    for start in (np.quantile(logs, 0.5), np.median(as_upper[usable]) if usable.any() else 0.0):
        fit = _expected(logs, as_upper, jacobian, float(start))
        best = fit if best is None or fit[0] > best[0] else best
    assert best is not None
    total, is_upper = best
    gain = total - alone
    if gain < _GAIN or not _are_one_population(logs, as_upper, is_upper, np.log(conversion.usual)):
        return None
    return gain, is_upper


def _log_likelihood(values: Array) -> float:
    return float(-0.5 * values.size * (np.log(2.0 * np.pi * max(float(values.var()), 1e-12)) + 1.0))


def _expected(logs: Array, as_upper: Array, jacobian: Array, middle: float) -> tuple[float, NDArray[np.bool_]]:
    """Return the log likelihood of two units after expectation and maximisation, and who is in the upper unit."""
    deviation = np.minimum(np.abs(logs - middle), np.where(np.isfinite(jacobian), np.abs(as_upper - middle), np.inf))
    spread, share = max(float(np.sqrt(np.mean(deviation**2))), 1e-3), 0.5
    for _ in range(_STEPS):
        lower = np.log1p(-share) - 0.5 * ((logs - middle) / spread) ** 2 - logs
        upper = np.log(share) - 0.5 * ((as_upper - middle) / spread) ** 2 + jacobian
        both = np.logaddexp(lower, upper)
        weight = np.exp(upper - both)
        share = float(np.clip(weight.mean(), 1e-6, 1.0 - 1e-6))
        middle = float(np.mean((1.0 - weight) * logs + weight * as_upper))
        squares = (1.0 - weight) * (logs - middle) ** 2 + weight * (as_upper - middle) ** 2
        spread = max(float(np.sqrt(squares.mean())), 1e-3)
    constant = -np.log(spread) - 0.5 * np.log(2.0 * np.pi)
    return float(both.sum() + logs.size * constant), weight > 0.5


def _are_one_population(logs: Array, as_upper: Array, is_upper: NDArray[np.bool_], usual: Array) -> bool:
    """Return whether two groups are far apart as they are written, and alike and usual after the conversion."""
    fewest = max(FEWEST, int(np.ceil(LEAST_SHARE * logs.size)))
    if min(int(is_upper.sum()), int((~is_upper).sum())) < fewest:
        return False
    lower, upper = logs[~is_upper], as_upper[is_upper]
    spread = float(np.std(np.concatenate([lower, upper])))
    distance = abs(float(np.median(logs[is_upper]) - np.median(lower)))
    middles = np.array([np.median(lower), np.median(upper)])
    are_usual = bool(((usual[0] < middles) & (middles < usual[1])).all())
    return are_usual and distance > _LEAST_DISTANCE * spread and _are_alike(lower, upper, float(np.diff(middles)[0]))


def _are_alike(one: Array, other: Array, apart: float) -> bool:
    """Return whether two groups with middles so far apart could be of one population, as far as their sizes tell."""
    fewer = min(one.size, other.size)
    spread = float(np.sqrt((one.size * one.var() + other.size * other.var()) / (one.size + other.size)))
    error = 1.25 * spread * np.sqrt(1.0 / one.size + 1.0 / other.size)  # of the difference of two medians
    if abs(apart) > _SAME_MIDDLE + 2.0 * error:
        return False
    ratio = float(one.std() / max(float(other.std()), 1e-9))
    most = _SAME_SPREAD if fewer >= 10 else 2.0 * _SAME_SPREAD
    return fewer < 5 or 1.0 / most < ratio < most


def _told(numbers: Array, conversion: Conversion, is_upper: NDArray[np.bool_]) -> str:
    upper, lower = numbers[is_upper], numbers[~is_upper]
    return (
        f"two units in one column? {lower.size:,} values, around {np.median(lower):.3g}, look like {conversion.lower}, "
        f"and {upper.size:,}, around {np.median(upper):.3g}, like {conversion.upper}: give all values in one unit"
    )
