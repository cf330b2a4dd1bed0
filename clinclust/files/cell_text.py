"""Canonical texts of cells, and the numbers that texts write."""

from __future__ import annotations

import datetime
import re

import numpy as np
from numpy.typing import NDArray

# A float written in full has 25 characters, with groups of thousands, a unit and flags 50. A cell may have 131,072.
LONGEST_NUMBER = 64


def compile_short(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern that matches no text of more than 64 characters, such as a signal or a genotype in a cell.

    The work of most patterns of numbers grows with the square or the cube of the length. Use it with `match` and
    `fullmatch`.
    """
    return re.compile(rf"(?=(?s:.{{0,{LONGEST_NUMBER}}})\Z)(?:{pattern})", flags)


NUMBER = compile_short(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""The texts that are numbers: ASCII digits with an optional sign, decimal point and exponent."""

_LONGEST_SHOWN = 60
_INFINITY = compile_short(r"[+-]?inf(?:inity)?", re.IGNORECASE)

_CHARACTERS = frozenset("0123456789.+-eE")
_LARGEST_WHOLE_FLOAT = 2.0**53  # a float64 cannot represent every whole number above it


def number_of(text: str) -> float:
    """Return the number that `text` writes, or NaN if it writes none. ``1e400`` and ``inf`` are infinite."""
    return float(text) if NUMBER.fullmatch(text) or _INFINITY.fullmatch(text) else float("nan")


def without_letters(texts: list[str]) -> bool:
    """Return whether the texts are as short as numbers, and hold only their characters."""
    return max(map(len, texts), default=0) <= LONGEST_NUMBER and _CHARACTERS.issuperset("".join(texts))


def numbers_of(texts: list[str]) -> NDArray[np.float64]:
    """Return `number_of` each text, float64 (len(texts),)."""
    if without_letters(texts):  # of these characters float() accepts exactly what NUMBER matches
        try:
            return np.array(texts, dtype=object).astype(np.float64)
        except ValueError:
            pass
    return np.array([number_of(text) for text in texts], dtype=np.float64)


def canonical_text(value: object) -> str:
    """Return the canonical text of one cell.

    Text is stripped. A whole float below 2^53 has no decimals (1.0 is ``1``), a date and time is in ISO form, without
    the time if it is midnight.
    """
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
    """Return `text` for a message: unchanged if it has at most 60 characters, otherwise its beginning."""
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."
