"""Numbers that contradict what they measure: two units in one column, impossible values, values far from all others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.names import words_of

__all__ = ["odd_numbers"]

Array = NDArray[np.float64]

_FACTORS = (
    # the factor, words of the name (any name if there are none), and what it is
    (10.0, "", "such as g/L and g/dL, or mm and cm"),
    (100.0, "", "such as m and cm"),
    (1000.0, "", "such as g and mg, or g and kg"),
    (18.02, "glucose gluc glukose glucosa glycemia bz", "glucose in mg/dL and mmol/L"),
    (38.67, "cholesterol cholesterin colesterol chol hdl ldl", "cholesterol in mg/dL and mmol/L"),
    (88.4, "creatinine kreatinin creatinina crea scr", "creatinine in µmol/L and mg/dL"),
    (88.57, "triglycerides triglyceride trig tg", "triglycerides in mg/dL and mmol/L"),
    (59.48, "uric urate harnsaure", "uric acid in µmol/L and mg/dL"),
    (17.1, "bilirubin bilirubina bili", "bilirubin in µmol/L and mg/dL"),
    (7.0, "hba1c a1c", "HbA1c in mmol/mol and %"),
    (2.66, "temperature temp temperatur", "temperature in °F and °C"),
    (12.0, "age alter edad duration dauer", "months and years"),
    (365.25, "age alter edad duration dauer survival", "days and years"),
)
_TOLERANCE = 1.2
_LEAST_GAP = 0.35
"""The least gap between two units, in ln units: the largest value of one is 30% below the smallest of the other."""
_LEAST_GAP_IN_SD = 1.5
_FEWEST, _LEAST_SHARE = 3, 0.01
_FAR = 15.0
"""How far, in robust standard deviations, a value lies from the middle to be told, on the better of two scales."""
_POSSIBLE = (
    # words of the name, the lowest and highest possible value, and the median from which on the unit is this one
    ("age alter edad", 0.0, 120.0, 0.0, 120.0),
    ("height groesse grosse taille talla", 25.0, 260.0, 20.0, 260.0),
    ("bmi imc", 7.0, 120.0, 7.0, 120.0),
    ("temperature temp temperatur", 24.0, 45.0, 30.0, 45.0),
    ("spo2 saturation sao2 percent percentage prozent pct", 0.0, 100.0, 0.0, 100.0),
    ("ph", 6.3, 8.2, 6.3, 8.2),
    ("pulse puls heartrate hr", 0.0, 350.0, 30.0, 350.0),
    ("sbp systolic systolisch", 30.0, 330.0, 60.0, 330.0),
    ("dbp diastolic diastolisch", 10.0, 230.0, 30.0, 230.0),
)


def odd_numbers(name: str, numbers: Array) -> list[str]:
    """Return what contradicts itself in the numbers of a column (n,), each as a sentence without a full stop."""
    numbers = numbers[np.isfinite(numbers)]
    if numbers.size < _FEWEST or np.ptp(numbers) == 0:
        return []
    two = _two_units(set(words_of(name)), numbers)
    if two:
        return [two]
    impossible = _impossible(name, numbers)
    return [impossible] if impossible else _far_values(numbers)


def _two_units(words: set[str], numbers: Array) -> str | None:
    """Return a sentence if the numbers fall apart into two groups whose medians differ by the factor of two units."""
    if numbers.min() <= 0 or numbers.size < 20:
        return None
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
    factor = float(np.exp(np.median(upper) - np.median(lower)))
    unit = next((said for known, named, said in _FACTORS if _may_be(factor, known, named, words)), None)
    if unit is None:
        return None
    smaller = min(lower.size, upper.size)
    return (
        f"two groups of values that differ by a factor of about {factor:.3g}, {smaller} in the smaller one: two units "
        f"({unit})? Give all values in one unit"
    )


def _may_be(factor: float, known: float, named: str, words: set[str]) -> bool:
    return known / _TOLERANCE < factor < known * _TOLERANCE and (not named or not words.isdisjoint(named.split()))


def _impossible(name: str, numbers: Array) -> str | None:
    words = set(words_of(name))
    middle = float(np.median(numbers))
    for named, low, high, least, most in _POSSIBLE:
        if words.isdisjoint(named.split()) or not least <= middle <= most:
            continue
        outside = numbers[(numbers < low) | (numbers > high)]
        if outside.size:
            return (
                f"{outside.size} values outside {low:g} to {high:g}, such as {outside[0]:g}, are hardly possible: "
                "correct them, or list them in `missing_codes`"
            )
    return None


def _far_values(numbers: Array) -> list[str]:
    """Return a sentence if a few values lie far from all others, on the plain and on the log scale."""
    scales = [numbers] + ([np.log(numbers)] if numbers.min() > 0 else [])
    far = np.ones(numbers.size, dtype=bool)
    for values in scales:
        middle = np.median(values)
        spread = 1.4826 * np.median(np.abs(values - middle))
        if spread == 0:
            return []
        far &= np.abs(values - middle) > _FAR * spread
    if not 0 < far.sum() <= max(2.0, _LEAST_SHARE * numbers.size):
        return []
    return [f"{int(far.sum())} values lie far from all others, such as {numbers[far][0]:g}: is it right?"]
