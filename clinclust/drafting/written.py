"""How a column writes its numbers: decimal commas, thousands, a unit or flags in the cells, values beyond a limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.drafting.column import Column
from clinclust.files.cell_text import numbers_of, shortened
from clinclust.files.listed import listed
from clinclust.files.number_notation import (
    Marks,
    WrittenNumber,
    are_thousands,
    is_known_unit,
    is_unit,
    limits_in_words,
    marks_of,
    number_as_written,
    parts_of,
    unit_key,
    without_flags,
)
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.schema.feature import Feature
from clinclust.schema.reading import number_meant

_NEARLY_ALL = 0.9
"""The least share of the cells that must write numbers, and of the numbers with a unit that must have the same."""
_UNDECIDED = (
    "the comma and the point could each be the decimal mark or keep thousands apart: write all numbers with one "
    "decimal mark and nothing between thousands"
)
_MOST_LEVELS = 11
"""The most different numbers behind which an unknown text may be that of a level, as in `3 cups`."""


@dataclass(frozen=True)
class Written:
    """How a column writes its numbers, and which they are. Arrays are (len(texts),)."""

    numbers: Array  # NaN for texts that write none; beyond a limit it is the limit
    fields: dict[str, Any]  # of the feature: unit, marks, decimal, thousands, synonyms
    below: NDArray[np.bool_]  # a limit
    above: NDArray[np.bool_]
    looks: tuple[str, ...] = ()  # what a person should decide
    fault: str = ""  # why the numbers cannot be compared, and how to repair it


def written_numbers(column: Column, *, has_decimal_commas: bool = False) -> Written | None:
    """Return how a column writes its numbers; None if fewer than nine cells in ten write a number in one way.

    Where other columns have decimal commas, `1.305` may be thousands.
    """
    none = np.zeros(len(column.texts), dtype=bool)
    if not column.texts:
        return None
    if np.isfinite(column.numbers).all():
        if has_decimal_commas and are_thousands(column.texts):
            if all(len(text.lstrip("-").partition(".")[0]) == 1 for text in column.texts):
                return Written(column.numbers, {}, none, none, (), _UNDECIDED)
            look = "points are read as separators of thousands, because other columns have decimal commas"
            fields = {"decimal": ",", "thousands": "."}
            return Written(numbers_of([text.replace(".", "") for text in column.texts]), fields, none, none, (look,))
        return Written(column.numbers, {}, none, none)
    if not any(character.isdigit() for text in column.texts for character in text):
        return None
    return _read(column, has_decimal_commas=has_decimal_commas)


def _read(column: Column, *, has_decimal_commas: bool) -> Written | None:
    synonyms = limits_in_words(column.texts, column.counts)
    marked = without_flags([synonyms.get(text, text) for text in column.texts], column.counts)
    parts = [parts_of(text) for text in marked.texts]
    unit, fault = _unit_of(column, parts)
    units = {"", unit_key(unit)} if unit is not None else {""}
    marks = marks_of([part.number for part in parts if part is not None and unit_key(part.unit) in units])
    if marks.is_guess and marks.thousands == "," and has_decimal_commas:
        marks = Marks(",")
    fields: dict[str, Any] = {}
    if marked.marks:
        fields["marks"] = list(marked.marks)
    if unit is not None:
        fields["unit"] = unit
    fields |= {name: mark for name, mark in (("decimal", marks.decimal), ("thousands", marks.thousands)) if mark}
    meant = _in_unit(synonyms, units, marks.decimal, marks.thousands)
    if meant:
        fields["synonyms"] = meant
    signs = [part.limit if part is not None else "" for part in parts]
    below = np.array([bool(sign) and sign[0] in "<≤" for sign in signs], dtype=bool)
    above = np.array([bool(sign) and sign[0] in ">≥" for sign in signs], dtype=bool)
    beyond = {"censored": "limit"} if (below | above).any() else {}
    feature = Feature(name="x", likelihood=Gaussian.name, **fields, **beyond)
    values = [number_meant(feature, text) for text in column.texts]
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    n_numbers = int(column.counts[np.isfinite(numbers)].sum())
    if fault:
        return Written(numbers, fields, below, above, (), fault)
    undecided = marks.is_guess and marks.decimal is not None
    n_written = int(column.counts[[part is not None for part in parts]].sum()) if undecided else n_numbers
    if n_written < _NEARLY_ALL * column.n_observed:
        return None
    looks = []
    if marked.marks:
        n = int(column.counts[marked.is_marked].sum())
        looks.append(
            f"{n:,} cells hold more than the number, such as {marked.marks[0]!r}: `marks` says what is left out"
        )
    if undecided:
        fault = _UNDECIDED
    elif marks.is_guess:
        looks.append('commas are read as thousands; if they are decimal commas, write `decimal: ","` instead')
    return Written(numbers, fields, below & np.isfinite(numbers), above & np.isfinite(numbers), tuple(looks), fault)


def _unit_of(column: Column, parts: Sequence[WrittenNumber | None]) -> tuple[str | None, str]:
    """Return the unit of the numbers, and why they cannot be compared if there are several."""
    cells: Counter[str] = Counter()
    spelled: dict[str, Counter[str]] = {}
    n_different: Counter[str] = Counter()
    for part, count in zip(parts, column.counts.tolist(), strict=True):
        if part is not None and part.unit:
            key = unit_key(part.unit)
            cells[key] += count
            n_different[key] += 1
            spelled.setdefault(key, Counter())[part.unit] += count
    known = {
        key: n for key, n in cells.items() if is_known_unit(key) or (is_unit(key) and n_different[key] > _MOST_LEVELS)
    }
    if not known:
        return None, ""
    unit = max(known, key=lambda key: known[key])
    n_bare = sum(int(n) for part, n in zip(parts, column.counts, strict=True) if part is not None and not part.unit)
    if len(known) > 1 or known[unit] < n_bare:
        if len(column.texts) <= _MOST_LEVELS or sum(known.values()) + n_bare < _NEARLY_ALL * column.n_observed:
            return None, ""
        shown = listed(f"{shortened(key)!r} ({n:,} cells)" for key, n in sorted(known.items(), key=lambda one: -one[1]))
        alone = f" and none ({n_bare:,} cells)" if n_bare else ""
        return None, f"the cells hold several units: {shown}{alone}; give all values in one unit, or leave it out"
    return max(spelled[unit], key=lambda text: spelled[unit][text]), ""


def _in_unit(synonyms: dict[str, str], units: set[str], decimal: Any, thousands: Any) -> dict[str, str]:
    """Return the texts with a limit in words whose number has the unit of the column or none, as a schema writes it."""
    parts = {text: parts_of(meant) for text, meant in synonyms.items()}
    return {
        text: part.limit + number
        for text, part in parts.items()
        if part is not None
        and unit_key(part.unit) in units
        and (number := number_as_written(part.number, decimal, thousands)) is not None
    }
