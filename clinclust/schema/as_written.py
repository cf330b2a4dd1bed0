"""What the texts of a column mean: synonyms of levels; numbers with units, marks, decimal commas, or beyond a limit.

A feature declares each of these; without a declaration a text means what it writes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
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

__all__ = ["Censored", "Decimal", "Thousands", "number_meant", "without_marks"]

Decimal = DecimalMark
Thousands = ThousandsMark
Censored = Literal["limit", "half", "missing"]

_NUMBER_FIRST = re.compile(r"(?P<number>[^0-9]*[0-9][0-9.,' ]*(?<! ))(?P<rest>.+)")


def number_meant(feature: Feature, text: str) -> float | None:
    """Return the number that a cell means under the declarations of its feature; NaN if none, None if it is missing.

    Parameters
    ----------
    feature : Feature
        A feature without levels. Its `synonyms`, `marks`, `unit`, `decimal`, `thousands`, `limit` and `censored` are
        applied.
    text : str
        The canonical text of a cell that is no missing code.
    """
    meant = (feature.synonyms or {}).get(text)  # a plain number, whatever marks the column has
    cell = without_marks(with_plain_spaces(text), feature.marks) if meant is None else meant
    limit = BEYOND_A_LIMIT.fullmatch(cell) if feature.censored is not None or feature.limit else None
    written = limit[2] if limit else cell
    number = _number(feature, written) if meant is None else number_of(written)
    if limit is None or math.isnan(number):
        return number
    is_upper = "<" in limit[1] or limit[1] == "≤"
    if feature.limit:
        beyond = -math.inf if is_upper else math.inf
        return beyond if beyond in feature.point_masses else math.nan
    return _censored(number, is_upper=is_upper, feature=feature)


def without_marks(cell: str, marks: Sequence[str]) -> str:
    """Return a cell without the marks before and after its number, and without the white space beside them.

    A mark of letters is taken off whole words only: ``H`` off ``137 H`` and ``137H``, but not off ``137 mmHg H2O``.
    """
    left = None
    while left != cell:
        left = cell
        for mark in marks:
            rest = cell.removeprefix(mark)
            if rest != cell and not (mark[-1].isalpha() and rest[:1].isalpha()):
                cell = rest.lstrip()
            rest = cell.removesuffix(mark)
            if rest != cell and not (mark[0].isalpha() and rest[-1:].isalpha()):
                cell = rest.rstrip()
            cell = _without_mark_before_unit(cell, mark)
    return cell


def _without_mark_before_unit(cell: str, mark: str) -> str:
    """Return a cell without a mark between its number and the unit: ``6.5* mg/l``, ``6.5 H mg/l``."""
    found = _NUMBER_FIRST.match(cell)
    if found is None or not found["rest"].lstrip().startswith(mark):
        return cell
    behind = found["rest"].lstrip()[len(mark) :]
    return found["number"] + behind if behind[:1].isspace() else cell


def _number(feature: Feature, text: str) -> float:
    """Return the number that a text writes, with or without the unit at one end; NaN if it writes none."""
    number = number_as_written(text, feature.decimal, feature.thousands)
    if number is None and feature.unit is not None:
        number = number_as_written(_without_unit(text, feature.unit), feature.decimal, feature.thousands)
    return math.nan if number is None else number_of(number)


def _without_unit(text: str, unit: str) -> str:
    """Return a text without the unit behind it (``5 mg``) or before it (``€ 5``), with or without a full stop."""
    unit = unit.rstrip(".") or unit
    stem = text.rstrip(".")
    if unit.casefold() == "°c" and stem.endswith("°"):  # people leave the letter out
        return stem.removesuffix("°").rstrip()
    if stem.casefold().endswith(unit.casefold()):
        return stem[: len(stem) - len(unit)].rstrip()
    return text[len(unit) :].lstrip() if text.casefold().startswith(unit.casefold()) else text


def _censored(number: float, *, is_upper: bool, feature: Feature) -> float | None:
    """Return the number that stands for a value below (`is_upper`) or above a limit; None for a missing value."""
    if feature.censored == "missing":
        return None
    if feature.censored == "limit" or not is_upper:
        return number
    return math.floor(number / 2.0) if feature.traits.is_whole else number / 2.0
