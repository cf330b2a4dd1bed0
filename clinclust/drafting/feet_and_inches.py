"""Heights in feet and inches: `5'10"`, `5 ft 10 in`; the schema reads them in centimetres, through `synonyms`."""

from __future__ import annotations

import re

import numpy as np

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.durations import MOST_DURATIONS
from clinclust.drafting.orders.plain import plain
from clinclust.drafting.written_numbers import WrittenNumbers

__all__ = ["heights_of", "is_height"]

_FEET, _INCH = r"(?:'|′|ft\.?|feet|foot)", r"(?:\"|''|”|″|′′|in\.?|inch|inches)"
_HEIGHT = re.compile(rf"([2-8])\s*{_FEET}\s*(?:([0-9]|1[01])(\.[0-9]+|\s?1/2)?\s*{_INCH}?)?")
_CM_A_FOOT, _CM_AN_INCH, _HALF = 30.48, 2.54, 0.5


def is_height(text: str) -> bool:
    """Return whether a text is a height in feet and inches."""
    return _HEIGHT.fullmatch(plain(text)) is not None


def heights_of(column: ObservedColumn) -> WrittenNumbers | None:
    """Return how the column writes heights in feet and inches, and each in cm; None if a text is none."""
    if not column.texts or not is_height(column.texts[0]):
        return None
    found = [_HEIGHT.fullmatch(plain(text)) for text in column.texts]
    heights = [_centimetres(match) for match in found if match is not None]
    if len(heights) < len(column.texts) or not any(match[2] for match in found if match is not None):
        return None
    if len(heights) > MOST_DURATIONS:
        return None
    numbers = np.array(heights, dtype=np.float64)
    synonyms = {text: f"{height:g}" for text, height in zip(column.texts, heights, strict=True)}
    example = f"{column.texts[0]!r} is {heights[0]:g}"
    look = f"feet and inches are read as cm, {example}: `synonyms` lists the number of each text"
    return WrittenNumbers({"unit": "cm", "synonyms": synonyms}, numbers, [], [look])


def _centimetres(match: re.Match[str]) -> float:
    inches = float(match[2] or 0)
    if match[3]:
        inches += _HALF if "/" in match[3] else float(f"0{match[3]}")
    return round(_CM_A_FOOT * float(match[1]) + _CM_AN_INCH * inches, 1)
