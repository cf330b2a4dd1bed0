"""Numbers as people write them: with a point or a comma, and with thousands kept apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["DECIMAL_COMMA", "GROUPED_OR_DECIMAL", "looks_like_number", "number_with", "share_of_numbers"]

_WRITTEN = re.compile(
    r"[<>≤≥~]?\s*[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+|"
    r"\d{1,3}(?:[.,'\u2019\u00a0\u202f ]\d{3})+(?:[.,]\d+)?)(?:[eE][+-]?\d+)?\s*%?"
)
DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)?,\d+(?:[eE][+-]?\d+)?")
"""Numbers whose decimal mark is, or could be, a comma."""
GROUPED_OR_DECIMAL = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""Numbers whose comma could also keep thousands apart."""


def looks_like_number(text: str) -> bool:
    """Return whether a cell holds a number, written in any usual way, such as ``3,5`` or ``<5`` or ``1.234,5``."""
    return bool(_WRITTEN.fullmatch(text.strip()))


def share_of_numbers(texts: Iterable[str]) -> float:
    """Return the share of texts that are numbers; 0 if there are none."""
    found = [looks_like_number(text) for text in texts]
    return sum(found) / len(found) if found else 0.0


def number_with(text: str, decimal: str | None) -> str:
    """Return a text with a point as its decimal mark if it is a number with this decimal mark, otherwise unchanged."""
    if decimal == "," and DECIMAL_COMMA.fullmatch(text.strip()):
        return text.strip().replace(".", "").replace(",", ".")
    return text
