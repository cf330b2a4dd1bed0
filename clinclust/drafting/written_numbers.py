"""Find out how a column writes its numbers: decimal commas, thousands, a unit in the cells, values beyond a limit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.files.cell_text import numbers_of, shortened
from clinclust.files.number_notation import are_flags, are_thousands, marks_of, parts_of
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.schema.as_written import number_meant
from clinclust.schema.feature import Feature

__all__ = ["WrittenNumbers", "written_numbers"]

_LEAST_SHARE = 0.9
"""The share of the cells that must write numbers, so that a column is one of numbers."""


@dataclass(frozen=True)
class WrittenNumbers:
    """How a column writes its numbers, and which they are.

    Attributes
    ----------
    fields : dict
        The fields of the feature that say so: unit, decimal, thousands, censored.
    numbers : float64 ndarray, shape (len(texts),)
        The number of each text of the column; NaN for texts that write none.
    reasons, looks : list of str
        What was found, and what a person should decide.
    """

    fields: dict[str, Any]
    numbers: NDArray[np.float64]
    reasons: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)


def written_numbers(column: ObservedColumn) -> WrittenNumbers | None:
    """Return how the column writes its numbers; None if fewer than nine cells in ten write a number in one way.

    A column of plain numbers needs no fields. The numbers of values beyond a limit are those that stand for them.
    """
    plain = np.isfinite(column.numbers)
    if plain.all() and column.has_decimal_commas and are_thousands(column.texts):
        look = "points are read as separators of thousands, because other columns have decimal commas"
        numbers = numbers_of([text.replace(".", "") for text in column.texts])
        return WrittenNumbers({"decimal": ",", "thousands": "."}, numbers, [], [look])
    if plain.all():
        return WrittenNumbers({}, column.numbers)
    parts = [parts_of(text) for text in column.texts]
    fields: dict[str, Any] = {}
    reasons: list[str] = []
    looks: list[str] = []
    units = Counter[str]()
    for part, count in zip(parts, column.counts.tolist(), strict=True):
        if part is not None and part[2]:
            units[part[2]] += count
    if len({unit.casefold() for unit in units}) > 1:
        return None  # several units cannot be one column of numbers
    if units and _are_flags(units, column.n_observed):
        return None
    if units:
        fields["unit"] = units.most_common(1)[0][0]
        reasons.append(f"the cells hold the unit {shortened(fields['unit'])!r}")
    bodies = [part[1] for part in parts if part is not None]
    fields |= _marks(bodies, looks)
    if "decimal" in fields:
        reasons.append("decimal comma")
    if any(part is not None and part[0] for part in parts):
        fields["censored"] = "half"
        looks += _beyond(column, [part[0] if part else "" for part in parts])
    if not fields:
        return None
    feature = Feature(name="x", likelihood=Gaussian.name, **fields)
    meant = [number_meant(feature, text) for text in column.texts]
    numbers = np.array([np.nan if number is None else number for number in meant], dtype=np.float64)
    if column.counts[np.isfinite(numbers)].sum() < _LEAST_SHARE * column.n_observed:
        return None
    return WrittenNumbers(fields, numbers, reasons, looks)


def _beyond(column: ObservedColumn, signs: list[str]) -> list[str]:
    """Return how many values lie below and above limits, and what stands for them."""
    told = []
    for which, marks, stands in (("below", "<≤", "half of the limit"), ("above", ">≥", "the limit")):
        found = [place for place, sign in enumerate(signs) if sign and any(mark in sign for mark in marks)]
        if found:
            n, shown = int(column.counts[found].sum()), shortened(column.texts[found[0]])
            told.append(f"{n} values {which} a limit, such as {shown!r}: {stands} stands for them")
    other = "write `censored: limit` or `censored: missing` for the limit itself or for a missing value"
    return [*told[:-1], f"{told[-1]}; {other}"]


def _are_flags(units: Counter[str], n_observed: int) -> bool:
    (unit, count), *_ = units.most_common(1)
    return are_flags(unit, count, n_observed)


def _marks(numbers: list[str], looks: list[str]) -> dict[str, Any]:
    """Return the fields of the decimal mark and the separator of thousands, if they are not a point and none."""
    marks = marks_of(numbers)
    if marks.is_guess:
        example = next(number for number in numbers if "," in number)
        looks.append(f'{example!r} is read as thousands; if the comma is a decimal comma, write `decimal: ","` instead')
    return {name: mark for name, mark in (("decimal", marks.decimal), ("thousands", marks.thousands)) if mark}
