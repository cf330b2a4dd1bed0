"""What the texts of a column mean: synonyms of levels, and numbers with units, decimal commas, or beyond a limit.

A feature declares each of these; without a declaration a text means what it writes.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Literal

from clinclust.files.cell_text import number_of

if TYPE_CHECKING:
    from clinclust.schema.feature import Feature

__all__ = ["BEYOND_A_LIMIT", "Censored", "Decimal", "Thousands", "number_as_written", "number_meant"]

Decimal = Literal[".", ","]
Thousands = Literal[".", ",", " ", "'"]
Censored = Literal["limit", "half", "missing"]

BEYOND_A_LIMIT = re.compile(r"(<=|>=|=<|=>|<|>|≤|≥)\s*(.+)")
"""The texts of values below or above a limit of detection, such as ``<5``: a sign, then a number."""

_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2019": "'", "\u2212": "-"})
_AMBIGUOUS = re.compile(r"[+-]?[0-9]{1,3}\.[0-9]{3}")


def number_meant(feature: Feature, text: str) -> float | None:
    """Return the number that a cell means under the declarations of its feature; NaN if none, None if it is missing.

    Parameters
    ----------
    feature : Feature
        A feature without levels. Its `synonyms`, `unit`, `decimal`, `thousands` and `censored` are applied.
    text : str
        The canonical text of a cell that is no missing code.
    """
    cell = (feature.synonyms or {}).get(text, text).translate(_SPACES)
    limit = BEYOND_A_LIMIT.fullmatch(cell) if feature.censored is not None else None
    number = _number(feature, limit[2] if limit else cell)
    if limit is None or math.isnan(number):
        return number
    return _censored(number, is_upper="<" in limit[1] or limit[1] == "≤", feature=feature)


def _number(feature: Feature, text: str) -> float:
    """Return the number that a text writes, with or without the unit at its end; NaN if it writes none."""
    number = number_as_written(text, feature.decimal, feature.thousands)
    if number is None and feature.unit is not None and text.casefold().endswith(feature.unit.casefold()):
        bare = text[: len(text) - len(feature.unit)].rstrip()
        number = number_as_written(bare, feature.decimal, feature.thousands)
    return math.nan if number is None else number_of(number)


def number_as_written(text: str, decimal: Decimal | None, thousands: Thousands | None) -> str | None:
    """Return a number without separators of thousands and with a decimal point; None if the text writes none.

    With a decimal comma and no declared separator of thousands, ``1.5`` is read as a program writes it, but ``1.500``
    could be 1,500 and is no number.
    """
    if thousands is not None and thousands in text:
        whole, mark, rest = text.partition(decimal or ".")
        head, *groups = whole.split(thousands)
        if not re.fullmatch(r"[+-]?[0-9]{1,3}", head) or not all(re.fullmatch("[0-9]{3}", group) for group in groups):
            return None
        text = f"{head}{''.join(groups)}{mark}{rest}"
    if decimal == ",":
        if "," in text:
            text = text.replace(".", " ").replace(",", ".")  # a point beside a decimal comma makes no number
        elif _AMBIGUOUS.fullmatch(text) and thousands is None:
            return None
    return None if math.isnan(number_of(text)) else text


def _censored(number: float, *, is_upper: bool, feature: Feature) -> float | None:
    """Return the number that stands for a value below (`is_upper`) or above a limit; None for a missing value."""
    if feature.censored == "missing":
        return None
    if feature.censored == "limit" or not is_upper:
        return number
    return math.floor(number / 2.0) if feature.traits.is_whole else number / 2.0
