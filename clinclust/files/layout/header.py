"""Find the names of the columns: below titles, over one row or two, with units below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clinclust.errors import InputError
from clinclust.files.layout.above import explaining, names_like_values
from clinclust.files.listed import listed, quoted
from clinclust.files.number_notation import looks_like_number, share_of_numbers
from clinclust.files.text_table import Doubt, Row, RowRanges, cell, is_blank, rows_named

_HALF = 0.5
Area = tuple[int, int, int, int]  # merged cells: first row, first column, last row, last column, from 1
_MOST_IN_TITLE = 2
_MOST_BELOW = 4  # rows of units and explanations between the names and the subjects


def _filled_places(texts: Sequence[str]) -> set[int]:
    """Return the numbers, from 1, of the columns in which a row holds anything."""
    return {place for place, text in enumerate(texts, 1) if not is_blank(text)}


def _groups_of(rows: Sequence[Row], at: int, merged: Sequence[Area]) -> dict[int, str] | None:
    """Return the heading above each column if the row at this place holds headings of groups of columns, else None.

    The row below must complete the names. Merged cells prove a group; without them, either the first column has its
    name in the upper row alone, or several headings begin right of it. And numbers, not names, must be below one of
    the names.
    """
    if at + 2 >= len(rows) or rows[at + 1][0] != rows[at][0] + 1:
        return None
    (number, above), (_, names), below = rows[at], rows[at + 1], rows[at + 2 :]
    upper, lower = _filled_places(above), _filled_places(names)
    first, width = min(upper | lower), max(upper | lower)
    is_complete = set().union(*(_filled_places(texts) for _, texts in below)) <= upper | lower and lower - upper
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
    joined = _joined_names(above, names, groups)
    if len(set(joined.values())) < len(joined):
        return None
    if spans:
        return groups
    is_named_above = first in upper and first not in lower
    begins_beside = first not in upper and 1 < len(upper) <= width / 2 and len(lower) == width - first + 1
    values = [[text for row in below if not is_blank(text := cell(row, place))] for place in lower]
    has_numbers = any(share_of_numbers(cells) >= _HALF for cells in values)
    return groups if has_numbers and (is_named_above or begins_beside) else None


def _joined_names(above: Sequence[str], names: Sequence[str], groups: dict[int, str]) -> dict[int, str]:
    joined: dict[int, str] = {}
    for place in sorted(_filled_places(above) | _filled_places(names)):
        name = cell((0, list(names)), place).strip()
        joined[place] = f"{groups[place]} - {name}" if name and place in groups else name or above[place - 1].strip()
    return joined


@dataclass
class Header:
    """The names of the columns; dictionaries are by the number of a column, from 1."""

    names: dict[int, str]
    last: int  # the number of its last row, with its units and explanations; 0 if there is no header
    rows: list[Row]  # those that the names were read from; none if the user said that there is no header
    groups: dict[int, str] = field(default_factory=dict)
    units: dict[int, str] = field(default_factory=dict)
    explanations: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def find_header(
    rows: Sequence[Row],
    merged: Sequence[Area] = (),
    asked: int | None = None,
    subjects: RowRanges | None = None,
    of_subjects: bool = True,
) -> Header:
    """Return the names of the columns, from the first rows of a sheet that hold anything.

    `asked` is the number of the row of the header, or of the first of two; 0 for no header. No row of the `subjects`
    is a unit or an explanation; the rows of a codebook are not `of_subjects`. InputError is raised if there is no such
    row, or if it is among the subjects.
    """
    if asked == 0:
        filled = [_filled_places(texts) for number, texts in rows if subjects is None or number in subjects]
        names = {place: f"column {place}" for place in sorted(set().union(*filled))}
        shown = listed(map(quoted, names.values()))
        told = f"the file has no header, as header_row=0 says: its {len(names)} columns are named by number ({shown})"
        return Header(names, 0, [], remarks=[told])
    if subjects is not None:
        rows = [row for row in rows if row[0] in subjects or row[0] < subjects.first]
    at = _below_titles(rows, merged) if asked is None else _place_of(rows, asked)
    groups = _groups_of(rows, at, merged)
    first = at + (1 if groups is None else 2)
    used, below = list(rows[at:first]), rows[first:]
    names = {place: text for place, text in enumerate(rows[at][1], 1) if not is_blank(text)}
    if groups is not None:
        names = _joined_names(used[0][1], used[1][1], groups)
    header = Header(names, used[-1][0], used, groups or {})
    _tell_of_titles(rows[:at], header, asked)
    if subjects is not None and header.last in subjects:
        raise InputError(
            f"rows={subjects.text!r} names row {header.last} as a subject, but the names of the columns are read from "
            "it: begin below it, or give another row of the header (header_row=N, or 0 if there is none)"
        )
    if of_subjects and groups is None:
        _look_for_subject(header, below, asked)
    if not header.doubts:
        _read_below(header, below, None if subjects is None else subjects.first, of_subjects)
    return header


def _tell_of_titles(above: Sequence[Row], header: Header, asked: int | None) -> None:
    number = header.rows[0][0]
    if above:
        held = listed(quoted(next(text for text in texts if not is_blank(text)).strip()) for _, texts in above)
        rows = rows_named([number for number, _ in above])
        more = "" if asked is not None else ". If that is wrong, give the row of the header: header_row=N"
        header.remarks.append(f"the header is row {number}: what is above it, in {rows}, is left out ({held}){more}")
    if len(header.rows) == 2:
        one = next((header.names[place] for place in header.groups if place in header.names), "")
        header.remarks.append(
            f"the header has two rows, {number} and {header.last}, whose names are joined, such as {quoted(one)}. If "
            f"the header is row {header.last} alone, say so: header_row={header.last}"
        )


def _look_for_subject(header: Header, below: Sequence[Row], asked: int | None) -> None:
    """Add the doubt whether the row of the names is a subject, or a remark if the user said that it is not."""
    like = names_like_values(header.names, below)
    row, shown = f"row {header.last}", listed(map(quoted, like))
    if like and asked is not None:
        header.remarks.append(
            f"{row} names the columns, as `header_row` says, though it looks like a subject ({shown}); if it is one, "
            "say header_row=0"
        )
    elif like:
        header.doubts.append(
            Doubt(
                f"{row} is where the names of the columns are expected, but looks like a subject ({shown} are like the "
                "values below): if the file has no header, say header_row=0, and the columns are named 'column 1', "
                f"'column 2' and so on; if the names stand in {row}, say header_row={header.last}"
            )
        )


def _read_below(header: Header, below: Sequence[Row], first_subject: int | None, of_subjects: bool) -> None:
    """Add the units and explanations between the names and the first subject, if the user gave its row."""
    for at, (number, texts) in enumerate(below[:_MOST_BELOW]):
        found = explaining(below[at:], header.names, of_subjects)
        if found is None or (first_subject is not None and number >= first_subject):
            return
        why = f"{found.why} ({listed(quoted(text.strip()) for text in texts if not is_blank(text))})"
        if not found.is_certain and first_subject is None:
            names_too = f"; if it holds the names, say header_row={number}"
            header.doubts.append(Doubt(f"row {number} holds {why}{names_too}", (number,)))
            return
        (header.units if found.why == "units" else header.explanations).update(found.texts)
        header.remarks.append(f"row {number} explains the columns, and is no subject: it holds {why}")
        header.last = number


def _place_of(rows: Sequence[Row], asked: int) -> int:
    numbers = [number for number, _ in rows]
    if asked not in numbers:
        raise InputError(
            f"row {asked} holds nothing that could be a header; the first rows with content are {listed(numbers)}: "
            "give one of them as `header_row`, or 0 if there is no header"
        )
    return numbers.index(asked)


def _below_titles(rows: Sequence[Row], merged: Sequence[Area]) -> int:
    """Return the place of the first row that is no title above the table; 0 if there is none, or it is not clear."""
    width = len(set().union(*(_filled_places(texts) for _, texts in rows)))
    for at, (number, texts) in enumerate(rows):
        n_filled = len(_filled_places(texts))
        is_title = n_filled <= _MOST_IN_TITLE and 2 * n_filled < width
        if _groups_of(rows, at, merged) is not None or (at and not is_title and _is_header(rows, at)):
            return at
        spans_all = any(top <= number <= end and right - left + 1 >= width > 1 for top, left, end, right in merged)
        if not is_title and not spans_all:
            return 0
    return 0


def _is_header(rows: Sequence[Row], at: int) -> bool:
    """Return whether a row names every column that has a value below it, each once, and none by a number."""
    names = [text.strip() for text in rows[at][1] if not is_blank(text)]
    below = set().union(*(_filled_places(texts) for _, texts in rows[at + 1 :]))
    has_all = below <= _filled_places(rows[at][1]) and len(names) > 1
    return has_all and len(set(names)) == len(names) and not any(map(looks_like_number, names))
