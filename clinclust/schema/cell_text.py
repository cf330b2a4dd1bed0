"""The one way in which a value of a table is written as text, and text is read as a number."""

from __future__ import annotations

import datetime
import re

import numpy as np

__all__ = ["INFINITY", "NUMBER", "canonical_text", "number_of"]

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""Numbers as a table may write them: ASCII digits, a decimal point, an exponent. Nothing else is a number."""

INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)

_LARGEST_WHOLE_FLOAT = 2.0**53  # above it neighbouring whole numbers are no longer told apart


def number_of(text: str) -> float:
    """Return the number that `text` writes, NaN when it does not write one (``1e400`` is infinite)."""
    return float(text) if NUMBER.fullmatch(text) else float("nan")


def canonical_text(value: object) -> str:
    """Write one cell as text: 1.0 as ``1``, True as ``True``, midnight as the day in ISO form, text stripped."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (float, np.floating)):
        if abs(value) < _LARGEST_WHOLE_FLOAT and value == int(value):
            return str(int(value))
        return str(value)
    if isinstance(value, datetime.datetime):
        at_midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if at_midnight else value.isoformat()
    if isinstance(value, np.datetime64):
        return str(value).removesuffix("T00:00:00")
    return str(value).strip()
