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
    (number, above), (_, names) = rows[at], rows[at + 1]
    upper, lower = filled_places(above), filled_places(names)
    values = set().union(*(filled_places(texts) for _, texts in rows[at + 2 :]))
    texts = [text.strip() for text in names if not is_blank(text)]
    if not lower - upper or not values <= upper | lower or any(map(looks_like_number, texts)):
        return None
    width = max(upper | lower)
    spans = {left: right for top, left, bottom, right in merged if top == bottom == number and left < right <= width}
    spans = {left: right for left, right in spans.items() if left in upper and right - left + 1 < width}
    if upper == {min(upper | lower)} and upper <= lower:  # a title, whose cells may be merged over a part of the table
        return None
    groups = _spread(above, spans, upper, lower)
    joined = list(joined_names(above, names, groups).values())
    if len(set(joined)) < len(joined):
        return None
    if spans:
        return groups
    has_numbers = any(_numeric_below(rows[at + 2 :], place) for place in lower)
    first = min(upper | lower)
    if first in upper and first not in lower:
        return groups if has_numbers else None
    begins_beside = first not in upper and len(upper) > 1 and 2 * len(upper) <= width
    return groups if begins_beside and has_numbers and len(lower) == width - first + 1 else None


def _spread(above: Sequence[str], spans: dict[int, int], upper: set[int], lower: set[int]) -> dict[int, str]:
    """Return the heading of each column: over its merged cells or, without any, up to the next heading."""
    groups: dict[int, str] = {}
    heading, last, width = "", 0, max(upper | lower)
    for place in range(1, width + 1):
        if place in upper:
            heading, last = above[place - 1].strip(), spans.get(place, place) if spans else width
        if place in lower and heading and place <= last:
            groups[place] = heading
    return groups


def joined_names(above: Sequence[str], names: Sequence[str], groups: dict[int, str]) -> dict[int, str]:
    """Return the names of a header of two rows: each with the heading above it."""
    joined: dict[int, str] = {}
    for place in sorted(filled_places(above) | filled_places(names)):
        name = cell((0, list(names)), place).strip()
        joined[place] = f"{groups[place]} - {name}" if name and place in groups else name or above[place - 1].strip()
    return joined


def _numeric_below(rows: Sequence[Row], place: int) -> bool:
    return share_of_numbers(text for row in rows if not is_blank(text := cell(row, place))) >= _HALF
