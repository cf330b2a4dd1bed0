"""Find out how a column writes its numbers: decimal commas, thousands, a unit in the cells, values beyond a limit."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.files.cell_text import numbers_of, shortened
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.schema.as_written import BEYOND_A_LIMIT, number_meant
from clinclust.schema.feature import Feature

__all__ = ["WrittenNumbers", "written_numbers"]

_LEAST_SHARE = 0.9
"""The share of the cells that must write numbers, so that a column is one of numbers."""
_PARTS = re.compile(
    r"(?P<number>[-+]?[0-9][0-9.,'’ \u00a0\u202f\u2009]*(?:[eE][+-]?[0-9]+)?)\s*(?P<unit>[^\W\d].*|[%‰°µ].*)?"
)
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'", "−": "-"})
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_GROUPED = {
    mark: re.compile(rf"[+-]?[0-9]{{1,3}}(?:{re.escape(mark)}[0-9]{{3}})+(?P<rest>[.,][0-9]+)?") for mark in ",.' "
}


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
    if plain.all() and column.has_decimal_commas and _are_thousands(column.texts):
        look = "points are read as separators of thousands, because other columns have decimal commas"
        numbers = numbers_of([text.replace(".", "") for text in column.texts])
        return WrittenNumbers({"decimal": ",", "thousands": "."}, numbers, [], [look])
    if plain.all():
        return WrittenNumbers({}, column.numbers)
    parts = [_parts(text) for text in column.texts]
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
    """Return whether what follows the numbers are the flags of a laboratory (`5.2 H`) or parts of numbers (`3½`)."""
    (unit, count), *_ = units.most_common(1)
    return not any(letter.isalpha() or letter in "%‰°" for letter in unit) or (
        unit.upper() in ("H", "L", "HH", "LL", "N", "A") and count < _LEAST_SHARE * n_observed
    )


def _are_thousands(texts: list[str]) -> bool:
    """Return whether all points stand before three digits, as in `1.305` beside `987`."""
    pointed = [text for text in texts if "." in text]
    return bool(pointed) and all(_GROUPED["."].fullmatch(text) and text[0] != "0" for text in pointed)


def _parts(text: str) -> tuple[str, str, str] | None:
    """Return the sign of a limit, the number as it is written, and the unit; None if the text is no number."""
    cell = text.translate(_SPACES)
    limit = BEYOND_A_LIMIT.fullmatch(cell)
    found = _PARTS.fullmatch(limit[2] if limit else cell)
    if found is None:
        return None
    return (limit[1] if limit else ""), found["number"].strip(), (found["unit"] or "").strip()


def _marks(bodies: list[str], looks: list[str]) -> dict[str, Any]:
    """Return the decimal mark and the separator of thousands, where they are not a point and none."""
    with_comma = [body for body in bodies if "," in body]
    if not with_comma:
        mark = next((mark for mark in "' " if any(_GROUPED[mark].fullmatch(body) for body in bodies)), None)
        if mark is None and any(body.count(".") > 1 for body in bodies):
            mark = "."
        return {} if mark is None else {"thousands": mark} | ({"decimal": ","} if mark == "." else {})
    if all(_GROUPED[","].fullmatch(body) and body.lstrip("+-")[0] != "0" for body in with_comma):
        if not any("." in body for body in bodies) and all(body.count(",") == 1 for body in with_comma):
            looks.append(
                f'{with_comma[0]!r} is read as thousands; if the comma is a decimal comma, write `decimal: ","` instead'
            )
        return {"thousands": ","}
    grouped = next((mark for mark in ".' " if any(_GROUPED[mark].fullmatch(body) for body in bodies)), None)
    if all(_DECIMAL_COMMA.fullmatch(body) or _GROUPED[grouped or "."].fullmatch(body) for body in with_comma):
        return {"decimal": ","} | ({"thousands": grouped} if grouped else {})
    return {}
