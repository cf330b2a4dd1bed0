"""The one way in which a value of a table is written as text, and text is read as a number."""

from __future__ import annotations

import datetime
import re

import numpy as np
from numpy.typing import NDArray

__all__ = ["NUMBER", "canonical_text", "number_of", "numbers_of", "shortened"]

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""Numbers as a table may write them: ASCII digits, a decimal point, an exponent. Nothing else is a number."""

_LONGEST_SHOWN = 60
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)

_CHARACTERS = frozenset("0123456789.+-eE")
_LARGEST_WHOLE_FLOAT = 2.0**53  # above it neighbouring whole numbers are no longer told apart


def number_of(text: str) -> float:
    """Return the number that `text` writes, NaN when it writes none; ``1e400`` and ``inf`` are infinite."""
    return float(text) if NUMBER.fullmatch(text) or _INFINITY.fullmatch(text) else float("nan")


def numbers_of(texts: list[str]) -> NDArray[np.float64]:
    """Return `number_of` each text, quickly when all of them are numbers."""
    if _CHARACTERS.issuperset("".join(texts)):  # of these characters Python's float reads exactly what NUMBER matches
        try:
            return np.array(texts, dtype=object).astype(np.float64)
        except ValueError:
            pass
    return np.array([number_of(text) for text in texts], dtype=np.float64)


def canonical_text(value: object) -> str:
    """Write one cell as text: 1.0 as ``1``, True as ``True``, midnight as its day (ISO); text is stripped."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (float, np.floating)):
        if abs(float(value)) < _LARGEST_WHOLE_FLOAT and float(value).is_integer():
            return str(int(value))
        return str(value)
    if isinstance(value, datetime.datetime):
        at_midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if at_midnight else value.isoformat()
    if isinstance(value, np.datetime64):
        return str(value).removesuffix("T00:00:00")
    return str(value).strip()


def shortened(text: str) -> str:
    """Return `text` as it may stand in a message: its beginning when it is long."""
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."
