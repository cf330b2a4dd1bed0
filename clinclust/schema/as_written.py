"""What the texts of a column mean: synonyms of levels, and numbers with units, decimal commas, or beyond a limit.

A feature declares each of these; without a declaration a text means what it writes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from clinclust.files.cell_text import number_of
from clinclust.files.number_notation import (
    BEYOND_A_LIMIT,
    DecimalMark,
    ThousandsMark,
    number_as_written,
    with_plain_spaces,
)

if TYPE_CHECKING:
    from clinclust.schema.feature import Feature

__all__ = ["Censored", "Decimal", "Thousands", "number_meant"]

Decimal = DecimalMark
Thousands = ThousandsMark
Censored = Literal["limit", "half", "missing"]


def number_meant(feature: Feature, text: str) -> float | None:
    """Return the number that a cell means under the declarations of its feature; NaN if none, None if it is missing.

    Parameters
    ----------
    feature : Feature
        A feature without levels. Its `synonyms`, `unit`, `decimal`, `thousands` and `censored` are applied.
    text : str
        The canonical text of a cell that is no missing code.
    """
    cell = with_plain_spaces((feature.synonyms or {}).get(text, text))
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


def _censored(number: float, *, is_upper: bool, feature: Feature) -> float | None:
    """Return the number that stands for a value below (`is_upper`) or above a limit; None for a missing value."""
    if feature.censored == "missing":
        return None
    if feature.censored == "limit" or not is_upper:
        return number
    return math.floor(number / 2.0) if feature.traits.is_whole else number / 2.0
