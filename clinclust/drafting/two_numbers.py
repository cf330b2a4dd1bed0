"""Columns whose cells hold two numbers each: a blood pressure `130/80`, or one value in two units beside others in one.

No number of such a cell is taken for the cell. The draft leaves the column out, and says how to divide it.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.durations import durations_of
from clinclust.drafting.feet_and_inches import heights_of, is_height
from clinclust.drafting.names import looks_dated, looks_identifying
from clinclust.drafting.odd_cells import told_cells
from clinclust.drafting.orders.quantities import parts_of_quantity
from clinclust.drafting.proposal import Proposal

__all__ = ["proposal_of_two_numbers"]

_PAIR = re.compile(r"([0-9]{1,3})\s*[/\\|]\s*([0-9]{1,3})(?:\s*(?:mm\s?hg|cm\s?hg))?\.?", re.IGNORECASE)
_NEARLY_ALL, _MOST = 0.9, 0.5
_FEWEST_NUMBERS, _FEWEST_PAIRS = 3, 5
"""How many different numbers stand on each side, and how many different pairs; `4/5` is one number out of 5."""
_PRESSURES = (((60, 300), (30, 180)), ((6, 30), (3, 18)))
"""The range of systolic and diastolic blood pressures, in mmHg and cmHg."""
_APART = (
    "give each a column of its own in the table (in a spreadsheet: Text to Columns, with the sign between them as the "
    "separator), and draft it again"
)


def proposal_of_two_numbers(column: ObservedColumn) -> Proposal | None:
    """Return the proposal to leave out a column of two numbers a cell, with its repair; None for other columns."""
    if column.is_time or looks_dated(column.name) or looks_identifying(column.name):
        return None
    if column.counts[np.isfinite(column.numbers)].sum() > _MOST * column.n_observed:
        return None
    return _of_pairs(column) or _of_several_units(column)


def _of_pairs(column: ObservedColumn) -> Proposal | None:
    found = [_PAIR.fullmatch(text) for text in column.texts]
    places = [place for place, match in enumerate(found) if match is not None]
    if not places or column.counts[places].sum() < _NEARLY_ALL * column.n_observed:
        return None
    numbers = np.array([(int(match[1]), int(match[2])) for match in found if match is not None], dtype=np.int64)
    if len(places) < _FEWEST_PAIRS or min(np.unique(side).size for side in numbers.T) < _FEWEST_NUMBERS:
        return None
    are = "a systolic and a diastolic blood pressure" if _are_pressures(numbers) else "two numbers"
    look = f"each cell holds {are}, such as {told_cells(column, places[:1])}: {_APART}"
    return Proposal({"role": "ignore"}, "two numbers in each cell", (look,))


def _are_pressures(numbers: NDArray[np.int64]) -> bool:
    """Return whether nearly all pairs of numbers (n, 2) are a higher and a lower pressure of one unit."""
    high, low = numbers.T
    return any(
        np.mean(
            (high > low) & (high >= systolic[0]) & (high <= systolic[1]) & (low >= diastolic[0]) & (low <= diastolic[1])
        )
        >= _NEARLY_ALL
        for systolic, diastolic in _PRESSURES
    )


def _of_several_units(column: ObservedColumn) -> Proposal | None:
    """Return the proposal for values in two units each, of which some cells hold others: `1h 30min` beside `90`."""
    kinds = {place: kind for place, text in enumerate(column.texts) if (kind := _kind(text))}
    if not kinds or column.counts[list(kinds)].sum() < _MOST * column.n_observed:
        return None
    if heights_of(column) is not None or durations_of(column) is not None:
        return None  # all are read
    others = [place for place in range(len(column.texts)) if place not in kinds]
    beside = f", and others do not: {told_cells(column, others)}" if others else ""
    kind = next(iter(kinds.values()))
    look = (
        f"cells such as {told_cells(column, list(kinds)[:1])} hold {kind}{beside}; write all cells in one way, best as "
        "one number in one unit"
    )
    return Proposal({"role": "ignore"}, "values in two units", (look,))


def _kind(text: str) -> str:
    """Return what a text in two units is, in words; nothing for other texts."""
    if not text[:1].isdigit():
        return ""
    if is_height(text):
        return "feet and inches"
    parts = parts_of_quantity(text)
    return f"two units ({' and '.join(unit for _, unit in parts)})" if parts is not None and len(parts) > 1 else ""
