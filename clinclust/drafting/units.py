"""Numbers that contradict what they measure: two units in one column, impossible values, values far from all others."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.names import words_of
from clinclust.drafting.two_units import two_units
from clinclust.likelihoods.far_values import without_far_values

__all__ = ["far_counts", "impossible_numbers", "impossible_values", "is_never_zero", "odd_numbers"]

Array = NDArray[np.float64]

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
_NEVER_ZERO = (
    "height groesse grosse taille talla altezza korpergrosse weight gewicht poids peso wt korpergewicht bmi imc "
    "waist bauchumfang temperature temp temperatur temperatura spo2 sao2 pulse puls pouls pulso polso heartrate hr "
    "sbp dbp systolic systolisch systolique sistolica diastolic diastolisch diastolique diastolica bp blutdruck rr "
    "sodium natrium natremie sodio potassium kalium kaliemie potasio calcium kalzium calcio creatinine kreatinin "
    "creatinina hemoglobin haemoglobin hamoglobin hemoglobina hb hgb hba1c hematocrit haematocrit hamatokrit albumin "
    "albumina cholesterol cholesterin colesterol glucose glukose glucosa glycemie egfr gfr"
)
_DIFFERENT = (
    "change diff difference delta loss gain verlust zunahme perte perdida score scale item days tage duration dauer n "
    "number anzahl count medication urine urin training lifted"
)
"""Words that make something else of the name of a measurement, which may be 0: `weight_loss`."""


def is_never_zero(name: str) -> bool:
    """Return whether the name of a column names a measurement of the living that is never 0, such as a weight."""
    words = words_of(name)
    named = {*words, *(first + second for first, second in pairwise(words))}
    return not named.isdisjoint(_NEVER_ZERO.split()) and named.isdisjoint(_DIFFERENT.split())


def odd_numbers(name: str, numbers: Array) -> list[str]:
    """Return what contradicts itself in the numbers of a column (n,), each as a sentence without a full stop."""
    numbers = numbers[np.isfinite(numbers)]
    two = two_units(name, numbers)
    return [two.said] if two else impossible_numbers(name, numbers)


def impossible_numbers(name: str, numbers: Array) -> list[str]:
    """Return a sentence if finite numbers (n,) are hardly possible, or far from all others."""
    if numbers.size < _FEWEST or np.ptp(numbers) == 0:
        return []
    impossible = impossible_values(name, numbers)
    return [impossible] if impossible else _far_values(numbers)


def impossible_values(name: str, numbers: Array) -> str | None:
    """Return a sentence if some of the numbers (n,) cannot be what the name of the column says; None otherwise."""
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
    return [told_far(numbers[far])]


def far_counts(numbers: Array) -> list[str]:
    """Return a sentence if a few counts (n,) are absurdly far from all others."""
    farthest_usual = without_far_values(numbers).max()
    far = numbers[numbers > farthest_usual]
    return [told_far(far)] if far.size else []


def told_far(far: Array) -> str:
    """Return what is said of values that lie far from all others."""
    lie = "1 value lies" if far.size == 1 else f"{far.size} values lie"
    return f"{lie} far from all others, such as {far[0]:g}: is it right?"
