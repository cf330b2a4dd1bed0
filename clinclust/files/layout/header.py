"""Find the row of the names of columns: below titles, over two rows, with units below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clinclust.errors import InputError
from clinclust.files.layout.sheet_rows import Row, is_blank
from clinclust.files.layout.units import units_in_row
from clinclust.files.layout.written_numbers import looks_like_number
from clinclust.files.listed import listed, quoted

__all__ = ["Area", "Header", "find_header"]

Area = tuple[int, int, int, int]
"""Merged cells: first row, first column, last row, last column, from 1."""

_MOST_IN_TITLE = 2
_FEWEST_BELOW, _FEWEST_WORDS = 5, 2  # what is needed to find the first row of the subjects odd
_FEWEST_FOR_UNITS = 3  # in a narrow table a row of a subject may look like units


@dataclass(frozen=True)
class Header:
    """The names of the columns.

    Attributes
    ----------
    names : dict of int to str
        The name of each column that has one, by its number from 1.
    first : int
        The place of the first row below the header, among the first rows of the sheet.
    rows : list of Row
        The rows that the names were read from.
    groups, units : dict of int to str
        What stands above and below the names, by the number of the column.
    remarks : list of str
    """

    names: dict[int, str]
    first: int
    rows: list[Row]
    groups: dict[int, str] = field(default_factory=dict)
    units: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def find_header(rows: Sequence[Row], merged: Sequence[Area] = (), asked: int | None = None) -> Header:
    """Return the names of the columns.

    Parameters
    ----------
    rows : sequence of Row
        The first rows of a sheet that hold anything.
    merged : sequence of Area
    asked : int, optional
        The number of the row of the header, if somebody said it; a header of two rows begins there.

    Raises
    ------
    InputError
        If there is no row of this number.
    """
    at = _below_titles(rows, merged) if asked is None else _place_of(rows, asked)
    remarks = _titles_told(rows[:at], rows[at][0], asked)
    groups = _groups(rows, at, merged)
    if groups is None:
        names = {place: text for place, text in enumerate(rows[at][1], 1) if not is_blank(text)}
        used = [rows[at]]
    else:
        names = _joined(rows[at][1], rows[at + 1][1], groups)
        used = [rows[at], rows[at + 1]]
        one = next((names[place] for place in groups if place in names), "")
        remarks.append(
            f"the header has two rows, {used[0][0]} and {used[1][0]}, whose names are joined, such as {quoted(one)}"
            f"{_otherwise(used[1][0])}"
        )
    first = at + len(used)
    units = _units(rows, first, names)
    if units:
        shown = listed(f"{names[place].strip()}: {unit}" for place, unit in units.items())
        remarks.append(f"row {rows[first][0]} holds units, and is no subject ({shown})")
        first += 1
    else:
        remarks += _doubtful_first_row(rows[first:], names)
    return Header(names, first, used, groups or {}, units, remarks)


def _doubtful_first_row(rows: Sequence[Row], names: dict[int, str]) -> list[str]:
    """Return a remark if the first row holds different words where all rows below it hold numbers."""
    if not rows:
        return []
    number, texts = rows[0]
    words: list[str] = []
    for place in (place for place in names if place <= len(texts)):
        word = texts[place - 1].strip()
        below = [row[place - 1] for _, row in rows[1:] if place <= len(row) and not is_blank(row[place - 1])]
        if word and not looks_like_number(word) and len(below) >= _FEWEST_BELOW and all(map(looks_like_number, below)):
            words.append(word)
    if len(set(words)) < _FEWEST_WORDS:
        return []
    return [
        f"row {number} holds words where all rows below it hold numbers ({listed(map(quoted, words))}), and is read as "
        f"a subject: if it is none, leave it out with --where; if it holds the names, say --header-row {number}"
    ]


def _otherwise(row: int) -> str:
    return f". If the header is row {row} alone, say so: --header-row {row}"


def _place_of(rows: Sequence[Row], asked: int) -> int:
    for at, (number, _) in enumerate(rows):
        if number == asked:
            return at
    raise InputError(
        f"row {asked} holds nothing that could be a header; the first rows with content are "
        f"{listed(number for number, _ in rows)}: give one of them as --header-row"
    )


def _titles_told(above: Sequence[Row], header_row: int, asked: int | None) -> list[str]:
    if not above:
        return []
    held = listed(quoted(next(text for text in texts if not is_blank(text)).strip()) for _, texts in above)
    rows = f"row {above[0][0]}" if len(above) == 1 else f"rows {above[0][0]} to {above[-1][0]}"
    told = f"the header is row {header_row}: what stands above it, in {rows}, is left out ({held})"
    return [told if asked is not None else f"{told}. If that is wrong, give the row of the header: --header-row N"]


def _filled(texts: Sequence[str]) -> set[int]:
    return {place for place, text in enumerate(texts, 1) if not is_blank(text)}


def _below_titles(rows: Sequence[Row], merged: Sequence[Area]) -> int:
    """Return the place of the first row that is no title above the table; 0 if there is none, or it is not clear."""
    width = len(set().union(*(_filled(texts) for _, texts in rows)))
    for at, (number, texts) in enumerate(rows):
        is_title = len(_filled(texts)) <= _MOST_IN_TITLE and 2 * len(_filled(texts)) < width
        if _groups(rows, at, merged) is not None or (at and not is_title and _is_header(rows, at)):
            return at
        if not is_title and not _spans_all(number, merged, width):
            return 0
    return 0


def _spans_all(number: int, merged: Sequence[Area], width: int) -> bool:
    """Return whether the cells of a row are merged over the whole width of the table."""
    return any(top <= number <= bottom and right - left + 1 >= width > 1 for top, left, bottom, right in merged)


def _is_header(rows: Sequence[Row], at: int) -> bool:
    """Return whether a row names every column that has a value below it, each once, and none by a number."""
    names = [text.strip() for text in rows[at][1] if not is_blank(text)]
    below = set().union(*(_filled(texts) for _, texts in rows[at + 1 :])) if len(rows) > at + 1 else set()
    has_all = below <= _filled(rows[at][1]) and len(names) > 1
    return has_all and len(set(names)) == len(names) and not any(map(looks_like_number, names))


def _groups(rows: Sequence[Row], at: int, merged: Sequence[Area]) -> dict[int, str] | None:
    """Return the heading above each column if the row at this place holds headings of groups of columns, else None.

    The row below must then complete the names. Merged cells prove a group; without them, as in a text file, either the
    first column must have its name in the upper row alone, or several headings must begin beside it. And no value of a
    subject may look like a name: somewhere numbers must stand below one.
    """
    if at + 2 >= len(rows) or rows[at + 1][0] != rows[at][0] + 1:
        return None
    (number, above), (_, names) = rows[at], rows[at + 1]
    upper, lower = _filled(above), _filled(names)
    values = set().union(*(_filled(texts) for _, texts in rows[at + 2 :]))
    texts = [text.strip() for text in names if not is_blank(text)]
    if not lower - upper or not values <= upper | lower or any(map(looks_like_number, texts)):
        return None
    width = max(upper | lower)
    spans = {left: right for top, left, bottom, right in merged if top == bottom == number and left < right <= width}
    spans = {left: right for left, right in spans.items() if left in upper and right - left + 1 < width}
    if upper == {min(upper | lower)} and upper <= lower:  # a title, whose cells may be merged over a part of the table
        return None
    groups = _spread(above, spans, upper, lower)
    joined = list(_joined(above, names, groups).values())
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
    heading, last = "", 0
    for place in range(1, max(upper | lower) + 1):
        if place in upper:
            heading = above[place - 1].strip()
            last = spans.get(place, place) if spans else max(upper | lower)
        if place in lower and heading and place <= last:
            groups[place] = heading
    return groups


def _joined(above: Sequence[str], names: Sequence[str], groups: dict[int, str]) -> dict[int, str]:
    joined: dict[int, str] = {}
    for place in sorted(_filled(above) | _filled(names)):
        name = names[place - 1].strip() if place <= len(names) else ""
        if name:
            joined[place] = f"{groups[place]} - {name}" if place in groups else name
        else:
            joined[place] = above[place - 1].strip()
    return joined


def _numeric_below(rows: Sequence[Row], place: int) -> bool:
    cells = [texts[place - 1] for _, texts in rows if place <= len(texts) and not is_blank(texts[place - 1])]
    return bool(cells) and 2 * sum(map(looks_like_number, cells)) >= len(cells)


def _units(rows: Sequence[Row], first: int, names: dict[int, str]) -> dict[int, str]:
    """Return the unit of each column if the row at place `first` holds units, and stands right below the header."""
    if len(rows) <= first + 1 or rows[first][0] != rows[first - 1][0] + 1:
        return {}
    places = sorted(names)

    def cells(texts: Sequence[str]) -> list[str]:
        return [texts[place - 1] if place <= len(texts) else "" for place in places]

    if _filled(rows[first][1]) - set(places) or len(places) < _FEWEST_FOR_UNITS:
        return {}
    units = units_in_row(cells(rows[first][1]), [cells(texts) for _, texts in rows[first + 1 :]])
    return {places[at]: unit for at, unit in units.items()}
