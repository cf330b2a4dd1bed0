"""Odd values for the arguments of functions: of the wrong type, empty, not finite, nested, or nearly right."""

import datetime
import decimal
import fractions
from pathlib import Path

import numpy as np
import pandas as pd

KEYS = ("a", "gait", 1, 2, -1, 0, None, 1.5, "")
SCALARS = (
    *(None, True, False, 0, -1, 3, 10**30, -2.5, 0.5, float("nan"), float("inf"), 1j, "x", "", "refit", b"x"),
    *(np.float64("nan"), np.int64(3), np.float32(0.5), np.bool_(True), np.str_("x"), np.datetime64("2020-01-01")),
    *(decimal.Decimal("0.5"), fractions.Fraction(1, 3), datetime.date(2020, 1, 1), pd.NA, pd.NaT),
)
OBJECTS = (
    *(object(), int, len, Ellipsis, NotImplemented, range(3), Path(), Path("/nowhere/at/all.csv")),
    *(np.array(3), np.zeros((0, 2)), np.zeros((2, 2, 2)), np.array(["a", None], dtype=object), np.array([1, 2])),
    *(pd.Series([1, 2]), pd.Series(dtype=object), pd.Index([]), pd.DataFrame(), pd.DataFrame({"a": [1]})),
    pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
)


def odd_value(rng, depth=0):
    """Return an odd value: a scalar, an object, or a collection of odd values."""
    kind = rng.integers(5 if depth < 2 else 2)
    if kind == 0:
        return SCALARS[rng.integers(len(SCALARS))]
    if kind == 1:
        return OBJECTS[rng.integers(len(OBJECTS))]
    inside = [odd_value(rng, depth + 1) for _ in range(rng.integers(4))]
    if kind == 2:
        return inside
    if kind == 3:
        return tuple(inside)
    return {KEYS[rng.integers(len(KEYS))]: value for value in inside}


def shown(value):
    """Return a short text of an odd value for the line of a failure."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 80 else f"{type(value).__name__} {text[:60]}..."
