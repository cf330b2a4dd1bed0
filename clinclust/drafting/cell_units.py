"""The unit that stands beside the numbers of a column, and whether the numbers without a unit have the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.names import names_a_unit
from clinclust.drafting.odd_cells import told_cells
from clinclust.drafting.orders.plain import plain
from clinclust.drafting.products import is_factor
from clinclust.drafting.unit_words import factors_of, words_for
from clinclust.files.cell_text import numbers_of, shortened
from clinclust.files.listed import listed
from clinclust.files.number_notation import WrittenNumber, is_unit, unit_key

__all__ = ["CellUnit", "several_units", "unit_of_cells"]

_NEARLY_ALL, _FEW = 0.9, 0.1
_COMMON, _MOSTLY = 0.03, 0.5  # the least shares of the cells for one of several units, and for all of them
_APART = 2.0
"""How many standard deviations lie between the numbers with a unit and those without, if they have two units."""
_FEWEST = 3
_FEWEST_CELLS = 10
"""Fewer cells than this give no unit to more numbers without one: it would be the word of few in every report."""
_BESIDE_ANOTHER = frozenset(
    (
        *("lb", "lbs", "pound", "pounds", "st", "stone", "in", "inch", "inches", "ft", "foot", "feet", "oz"),
        *("f", "°f", "fahrenheit", "día", "días"),
    )
) | words_for("minute", "hour", "day", "week", "month")
"""Units that people write where they are not the usual one: few `lb` among bare numbers say that these are kg."""


_MOST_LEVELS = 11
"""The most different numbers before one unknown text for which it may be that of a level, such as `3 cups`."""


@dataclass(frozen=True)
class CellUnit:
    """The unit of the numbers of a column.

    Attributes
    ----------
    unit : str or None
        The unit of all numbers, as most cells write it.
    marks : tuple of str
        The unit of few numbers, as they write it, which says nothing of the others.
    looks : list of str
        What a person should decide.
    doubt : str or None
        Why the numbers cannot be compared, and how to repair it; None if they can.
    """

    unit: str | None = None
    marks: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    doubt: str | None = None


def is_known_unit(text: str) -> bool:
    """Return whether what stands beside a number is a unit, or a factor; other texts make levels: `1_yes`, `0_no`.

    Examples
    --------
    >>> from clinclust.drafting.cell_units import is_known_unit
    >>> [is_known_unit(text) for text in ("mg/dL", "weeks", "x10^9/L", "%", "_yes", "_to_24.9")]
    [True, True, True, True, False, False]
    """
    folded = plain(text).rstrip(".")
    is_sign = is_unit(text) and not any(map(str.isalpha, text))
    is_word = folded in _BESIDE_ANOTHER or factors_of([folded.rpartition("/")[2]]) is not None
    return is_sign or is_word or names_a_unit(text) or is_factor(text)


def unit_of_cells(column: ObservedColumn, parts: Sequence[WrittenNumber | None]) -> CellUnit:
    """Return the unit that nearly all cells with a unit name, and whether it is that of the numbers without one.

    Parameters
    ----------
    column : ObservedColumn
    parts : sequence of WrittenNumber, len(column.texts)
        The parts of each text; None where it writes no number.
    """
    named: dict[str, list[int]] = {}
    spelled = Counter[str]()
    for place, part in enumerate(parts):
        if part is not None and part.unit:
            named.setdefault(unit_key(part.unit), []).append(place)
            spelled[part.unit] += int(column.counts[place])
    if not named:
        return CellUnit()
    cells = {unit: int(column.counts[places].sum()) for unit, places in named.items()}
    unit = max(cells, key=lambda one: cells[one])
    written = max((text for text in spelled if unit_key(text) == unit), key=lambda text: spelled[text])
    is_known = is_known_unit(written) or (is_unit(unit) and len(named[unit]) > _MOST_LEVELS)
    if not is_known or cells[unit] < _NEARLY_ALL * sum(cells.values()):
        return CellUnit()
    without = [place for place, part in enumerate(parts) if part is not None and not part.unit]
    bare = [place for place in named[unit] if (part := parts[place]) is not None and part.unit == "°" != written]
    degrees = (f"'°' is read as {shortened(written)!r}: {told_cells(column, bare)}",) if bare else ()
    if not without:
        return CellUnit(written, looks=degrees)
    if _is_of_some(column, parts, named[unit], without, unit):
        return _of_some(column, named[unit], without, written)
    if cells[unit] < min(_FEWEST_CELLS, column.counts[without].sum()):
        told = (
            f"{cells[unit]:,} {'number has' if cells[unit] == 1 else 'numbers have'} {shortened(written)!r} beside "
            "the others, which have no unit: write `unit` if it is that of all"
        )
        spelled_so = tuple(dict.fromkeys(part.unit for place in named[unit] if (part := parts[place]) is not None))
        return CellUnit(marks=spelled_so, looks=(told,))
    told = (
        f"{column.counts[without].sum():,} numbers have no unit, and are read as {shortened(written)!r} like the others"
    )
    return CellUnit(written, looks=(*degrees, f"{told}: {told_cells(column, without)}"))


def _is_of_some(
    column: ObservedColumn,
    parts: Sequence[WrittenNumber | None],
    named: Sequence[int],
    without: Sequence[int],
    unit: str,
) -> bool:
    """Return whether the numbers without a unit may have another unit than those with one."""
    n_named, n_without = int(column.counts[named].sum()), int(column.counts[without].sum())
    if is_factor(unit) or (unit in _BESIDE_ANOTHER and n_named < n_without):
        return True
    numbers = numbers_of([part.number.replace(",", ".") if part is not None else "" for part in parts])
    one, other = (np.repeat(numbers[places], column.counts[places]) for places in (list(named), list(without)))
    one, other = one[np.isfinite(one)], other[np.isfinite(other)]
    if min(one.size, other.size) < _FEWEST:
        few, many = sorted((one, other), key=len)
        return bool(few.size and many.size and ((few < many.min()) | (few > many.max())).any())
    spread = float(np.sqrt((one.size * one.var() + other.size * other.var()) / (one.size + other.size)))
    return bool(abs(np.median(one) - np.median(other)) > _APART * spread)


def _of_some(column: ObservedColumn, named: list[int], without: list[int], written: str) -> CellUnit:
    """Return that the unit is not that of all numbers: these cells are left, if they are few, or the whole column."""
    n_named, n_without = int(column.counts[named].sum()), int(column.counts[without].sum())
    if n_named <= _FEW * (n_named + n_without):
        told = f"only {n_named:,} cells have {shortened(written)!r}, so the other numbers are not read in this unit"
        return CellUnit(looks=(f"{told}: write all in one unit in the table",))
    return CellUnit(
        doubt=f"{n_named:,} numbers have {shortened(written)!r} beside them ({told_cells(column, named)}), and "
        f"{n_without:,} stand alone ({told_cells(column, without)}): the unit of these is not known; write all numbers "
        "in one unit and one way in the table"
    )


def several_units(column: ObservedColumn, parts: Sequence[WrittenNumber | None]) -> str | None:
    """Return that the numbers of a column have several units, and which; None if they have not."""
    named: dict[str, list[int]] = {}
    for place, part in enumerate(parts):
        if part is not None and (not part.unit or is_known_unit(part.unit)):
            named.setdefault(unit_key(part.unit), []).append(place)
    cells = {unit: int(column.counts[places].sum()) for unit, places in named.items()}
    n_alone = cells.pop("", 0)
    common = sorted(
        (unit for unit in cells if cells[unit] >= _COMMON * column.n_observed), key=lambda unit: -cells[unit]
    )
    if all(len(unit) == 1 for unit in common) and factors_of(common) is None:
        return None  # the letters of `3A`, `3B` and `4C` are no units
    if len(common) < 2 or n_alone + sum(cells[unit] for unit in common) < _MOSTLY * column.n_observed:
        return None
    shown = listed(f"{shortened(unit)!r} ({cells[unit]:,} cells)" for unit in common)
    alone = f", and {n_alone:,} numbers have none" if n_alone else ""
    return (
        f"the cells hold several units: {shown}{alone}; give all values in one unit, or each unit a column of its own"
    )
