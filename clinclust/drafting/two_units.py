"""Recognise two units in one column of numbers: a second group that lies where the conversion would put it.

For measurements whose units are known by the name of the column, two ways of describing the numbers are compared: one
population in one unit, and one population of which some are written in the other unit. The second has no group of its
own that could lie anywhere: after the conversion, both groups must be one population (Hosmer and McLachlan call such a
mixture constrained). Without a known name, only factors of ten are asked for, and only across a clear gap.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.names import words_of

__all__ = ["two_units"]

Array = NDArray[np.float64]


class _Conversion(NamedTuple):
    """Two units of one measurement: a number in the upper unit is `factor` times that in the lower, plus `offset`."""

    names: str
    lower: str
    upper: str
    usual: tuple[float, float]
    """Where the median of a cohort may lie, in the lower unit."""
    factor: float
    offset: float = 0.0


_CONVERSIONS = (
    _Conversion("height groesse grosse taille talla altezza statura korpergrosse", "m", "cm", (0.9, 2.1), 100.0),
    _Conversion("height groesse grosse taille talla altezza waist hip bauchumfang", "inches", "cm", (20.0, 80.0), 2.54),
    _Conversion("weight gewicht poids peso wt korpergewicht", "kg", "lb", (45.0, 130.0), 2.2046),
    _Conversion("weight gewicht poids peso wt geburtsgewicht", "kg", "g", (0.5, 8.0), 1000.0),
    _Conversion("glucose gluc glukose glucosa glycemia glycemie glucosio glu", "mmol/L", "mg/dL", (3.5, 15.0), 18.016),
    _Conversion("cholesterol cholesterin colesterol chol hdl ldl", "mmol/L", "mg/dL", (0.5, 9.0), 38.67),
    _Conversion("triglycerides triglyceride triglyzeride trigliceridos trig tg", "mmol/L", "mg/dL", (0.4, 6.0), 88.57),
    _Conversion("creatinine kreatinin creatinina crea scr creat krea", "mg/dL", "µmol/L", (0.3, 12.0), 88.42),
    _Conversion("uric urate harnsaure urico urique", "mg/dL", "µmol/L", (2.0, 12.0), 59.48),
    _Conversion("bilirubin bilirubina bilirubine bili", "mg/dL", "µmol/L", (0.2, 15.0), 17.1),
    _Conversion("urea harnstoff uree", "mmol/L", "mg/dL", (2.0, 40.0), 6.006),
    _Conversion("calcium kalzium calcio", "mmol/L", "mg/dL", (1.0, 3.5), 4.008),
    _Conversion("lactate laktat lactato", "mmol/L", "mg/dL", (0.4, 10.0), 9.008),
    _Conversion("hemoglobin haemoglobin hamoglobin hemoglobina hb hgb", "mmol/L", "g/dL", (4.0, 12.0), 1.611),
    _Conversion("hemoglobin haemoglobin hamoglobin hemoglobina hb hgb", "g/dL", "g/L", (6.0, 19.0), 10.0),
    _Conversion("vitd vitamind 25ohd", "ng/mL", "nmol/L", (5.0, 60.0), 2.496),
    _Conversion("hba1c a1c ghb", "%", "mmol/mol", (4.0, 12.0), 10.929, -23.5),
    _Conversion("temperature temp temperatur temperatura fieber", "°C", "°F", (33.0, 41.0), 1.8, 32.0),
    _Conversion(
        "sbp dbp systolic diastolic systolisch pressure pco2 po2",
        "kPa",
        "mmHg",
        (2.0, 30.0),
        7.5006,
    ),
    _Conversion("age alter edad eta", "years", "months", (0.5, 90.0), 12.0),
    _Conversion("age alter edad eta", "years", "days", (0.5, 90.0), 365.25),
)
_POWERS = (
    (10.0, "such as g/L and g/dL, or mm and cm"),
    (100.0, "such as m and cm"),
    (1000.0, "such as g and mg, or g and kg"),
)
_FEWEST_VALUES, _FEWEST, _LEAST_SHARE = 20, 3, 0.01
_GAIN = 12.0
"""Nats by which two units must describe the numbers better than one population, plain or skewed."""
_LEAST_DISTANCE = 2.5  # between the groups, in standard deviations: nearer groups cannot be told apart
_SAME_MIDDLE, _SAME_SPREAD = 0.1, 2.0
"""How far the middles of the groups may differ on the log scale, beyond two standard errors, and the ratio of SDs."""
_POWERS_OF_ONE = (1.0, 0.5, 1.0 / 3.0)
"""Powers whose values may be normal in one population; the cube root makes durations nearly so (Wilson, Hilferty)."""
_STEPS = 50
_MOST_OFF = 0.18  # of a power of ten, on the log scale
_LEAST_GAP, _LEAST_GAP_IN_SD = 0.35, 1.5
"""The least gap on the log scale between groups of an unknown measurement: 30% of the value, and in SD of a group."""


def two_units(name: str, numbers: Array) -> str | None:
    """Return a sentence without a full stop if the numbers of a column (n,) seem to have two units; None otherwise."""
    if numbers.size < _FEWEST_VALUES or numbers.min() <= 0:
        return None
    known = _conversions_of(name)
    if not known:
        return _powers_of_ten(numbers)
    found = [(fit, conversion) for conversion in known if (fit := _fitted(numbers, conversion)) is not None]
    if not found:
        return None
    (_, is_upper), conversion = max(found, key=lambda one: one[0][0])
    return _told(numbers, conversion, is_upper)


def _conversions_of(name: str) -> list[_Conversion]:
    """Return the conversions of a measurement of this name; HbA1c is none of haemoglobin."""
    plain = re.sub(r"[\W_]", "", name.casefold())
    whole = [
        one for one in _CONVERSIONS if any(word in plain for word in one.names.split() if any(map(str.isdigit, word)))
    ]
    words = set(words_of(name))
    return whole or [one for one in _CONVERSIONS if not words.isdisjoint(one.names.split())]


def _fitted(numbers: Array, conversion: _Conversion) -> tuple[float, NDArray[np.bool_]] | None:
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
    fewest = max(_FEWEST, int(np.ceil(_LEAST_SHARE * logs.size)))
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


def _told(numbers: Array, conversion: _Conversion, is_upper: NDArray[np.bool_]) -> str:
    upper, lower = numbers[is_upper], numbers[~is_upper]
    return (
        f"two units in one column? {lower.size:,} values, around {np.median(lower):.3g}, look like {conversion.lower}, "
        f"and {upper.size:,}, around {np.median(upper):.3g}, like {conversion.upper}: give all values in one unit"
    )


def _powers_of_ten(numbers: Array) -> str | None:
    """Return a sentence if the numbers fall into two groups that are alike but for a factor of ten, or so."""
    logs = np.sort(np.log(numbers))
    gaps = np.diff(logs)
    fewest = max(_FEWEST, int(np.ceil(_LEAST_SHARE * logs.size)))
    inner = gaps[fewest - 1 : logs.size - fewest]
    if inner.size == 0 or inner.max() < _LEAST_GAP:
        return None
    split = fewest + int(np.argmax(inner))
    lower, upper = logs[:split], logs[split:]
    larger = lower if lower.size > upper.size else upper
    if inner.max() < _LEAST_GAP_IN_SD * larger.std():  # the tail of one group
        return None
    distance = float(np.median(upper) - np.median(lower))
    near = ((distance - np.log(factor), said) for factor, said in _POWERS)
    unit = next((said for off, said in near if abs(off) < _MOST_OFF and _are_alike(lower, upper, off)), None)
    if unit is None:
        return None
    return (
        f"two groups of values that differ by a factor of about {np.exp(distance):.3g}, "
        f"{min(lower.size, upper.size):,} in the smaller one: two units ({unit})? Give all values in one unit"
    )
