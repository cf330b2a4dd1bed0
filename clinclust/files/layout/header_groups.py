"""Headers of two rows: headings of groups of columns above their names."""

from __future__ import annotations

from collections.abc import Sequence

from clinclust.files.layout.decimal_marks import looks_like_number, share_of_numbers
from clinclust.files.layout.sheet_rows import Row, cell, is_blank

__all__ = ["Area", "filled_places", "groups_of", "joined_names"]

_HALF = 0.5
Area = tuple[int, int, int, int]
"""Merged cells: first row, first column, last row, last column, from 1."""


def filled_places(texts: Sequence[str]) -> set[int]:
    """Return the numbers, from 1, of the columns in which a row holds anything."""
    return {place for place, text in enumerate(texts, 1) if not is_blank(text)}


def groups_of(rows: Sequence[Row], at: int, merged: Sequence[Area]) -> dict[int, str] | None:
    """Return the heading above each column if the row at this place holds headings of groups of columns, else None.

    The row below must then complete the names. Merged cells prove a group; without them, as in a text file, either the
    first column must have its name in the upper row alone, or several headings must begin beside it. And no value of a
    subject may look like a name: somewhere numbers must stand below one.
    """
    if at + 2 >= len(rows) or rows[at + 1][0] != rows[at][0] + 1:
        return None
    (number, above), (_, names), below = rows[at], rows[at + 1], rows[at + 2 :]
    upper, lower = filled_places(above), filled_places(names)
    first, width = min(upper | lower), max(upper | lower)
    is_complete = set().union(*(filled_places(texts) for _, texts in below)) <= upper | lower and lower - upper
    is_title = upper == {first} and upper <= lower  # its cells may be merged over a part of the table
    if not is_complete or is_title or any(map(looks_like_number, filter(str.strip, names))):
        return None
    spans = {left: right for top, left, bottom, right in merged if top == bottom == number and left in upper}
    spans = {left: right for left, right in spans.items() if left < right <= width and right - left + 1 < width}
    groups, heading, last = dict[int, str](), "", 0
    for place in range(first, width + 1):
        if place in upper:
            heading, last = above[place - 1].strip(), spans.get(place, place) if spans else width
        if place in lower and place <= last:
            groups[place] = heading
    joined = joined_names(above, names, groups)
    if len(set(joined.values())) < len(joined):
        return None
    if spans:
        return groups
    is_named_above = first in upper and first not in lower
    begins_beside = first not in upper and 1 < len(upper) <= width / 2 and len(lower) == width - first + 1
    values = [[text for row in below if not is_blank(text := cell(row, place))] for place in lower]
    has_numbers = any(share_of_numbers(cells) >= _HALF for cells in values)
    return groups if has_numbers and (is_named_above or begins_beside) else None


def joined_names(above: Sequence[str], names: Sequence[str], groups: dict[int, str]) -> dict[int, str]:
    """Return the names of a header of two rows: each with the heading above it."""
    joined: dict[int, str] = {}
    for place in sorted(filled_places(above) | filled_places(names)):
        name = cell((0, list(names)), place).strip()
        joined[place] = f"{groups[place]} - {name}" if name and place in groups else name or above[place - 1].strip()
    return joined
