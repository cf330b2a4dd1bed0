"""What a number in a condition means, in the notation of the column that it is compared with."""

from __future__ import annotations

import numpy as np

from clinclust.errors import InputError
from clinclust.files.cell_text import number_of
from clinclust.files.listed import quoted
from clinclust.files.number_notation import GROUPED_BY_POINT, marks_of, number_as_written, parts_of, unit_key
from clinclust.files.selection.cells import Cells

__all__ = ["number_meant", "number_or_nan"]


def number_or_nan(text: str) -> float:
    """Return a number if a text writes one in any notation, whatever its unit; otherwise NaN."""
    parts = parts_of(text)
    if parts is None or parts.limit:
        return number_of(text)
    marks = marks_of([parts.number])
    written = number_as_written(parts.number, marks.decimal, marks.thousands)
    return np.nan if written is None else number_of(written)


def number_meant(text: str, cells: Cells, *, in_quotes: bool) -> float:
    """Return the number that a condition gives for a column.

    In quotes it is written as the cells are, with their unit or without. Without quotes the point is a decimal point.

    Raises
    ------
    InputError
        If it has another unit than the column, or could be read in two ways.
    """
    parts = parts_of(text)
    if parts is None:
        return number_of(text)
    if unit_key(parts.unit) not in ("", unit_key(cells.unit)):
        has = f"in {cells.unit}" if cells.unit else "without a unit in its cells"
        raise InputError(f"{quoted(cells.name)} is {has}, and compared with {quoted(text)}: give the number alone")
    marks = cells.marks
    written = None
    if in_quotes or "," in text:
        written = number_as_written(parts.number, marks.decimal, marks.thousands)
    elif not (marks.decimal and GROUPED_BY_POINT.fullmatch(text)):
        written = text
    if written is None and not marks.decimal:
        own = marks_of([parts.number])
        written = None if own.is_guess else number_as_written(parts.number, own.decimal, own.thousands)
    if written is None:
        raise InputError(
            f"{quoted(text)}, with which {quoted(cells.name)} is compared, could be read in two ways, or as no number: "
            "write it with nothing between its thousands, or in quotes, as the cells of the column are written"
        )
    return number_of(written)
