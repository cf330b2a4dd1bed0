"""Find the row of the names of columns: below titles, over two rows, with units below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clinclust.errors import InputError
from clinclust.files.layout.doubts import Doubt
from clinclust.files.layout.explanations import explaining
from clinclust.files.layout.header_groups import Area, filled_places, groups_of, joined_names
from clinclust.files.layout.headerless import name_without_header, names_by_numbers, seems_a_subject
from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.layout.sheet_rows import Row, is_blank
from clinclust.files.layout.units import units_in_row
from clinclust.files.layout.written_numbers import looks_like_number
from clinclust.files.listed import listed, quoted

__all__ = ["Area", "Header", "find_header"]

_MOST_IN_TITLE = 2
_MOST_BELOW = 4  # rows of units and explanations between the names and the subjects
_FEWEST_FOR_UNITS = 3  # in a narrow table a row of a subject may look like units


@dataclass(frozen=True)
class Header:
    """The names of the columns.

    Attributes
    ----------
    names : dict of int to str
        The name of each column that has one, by its number from 1.
    last : int
        The number of the last row of the header, with its units and explanations; 0 if there is no header.
    rows : list of Row
        The rows that the names were read from; none if somebody said that there is no header.
    groups, units, explanations : dict of int to str
        What stands above and below the names, by the number of the column.
    remarks : list of str
    doubts : list of Doubt
        What only a person can decide.
    """

    names: dict[int, str]
    last: int
    rows: list[Row]
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
    """Return the names of the columns.

    Parameters
    ----------
    rows : sequence of Row
        The first rows of a sheet that hold anything.
    merged : sequence of Area
    asked : int, optional
        The number of the row of the header, if somebody said it; a header of two rows begins there. 0 if somebody said
        that there is none.
    subjects : RowRanges, optional
        The rows of the subjects, if somebody said it: none of them is taken for a unit or an explanation.
    of_subjects : bool
        Whether the rows are subjects: in a codebook, words that explain are no sign of anything.

    Raises
    ------
    InputError
        If there is no row of this number, or if the header is among the rows of the subjects.
    """
    if asked == 0:
        return _no_header(rows, subjects)
    if subjects is not None:
        rows = [row for row in rows if row[0] in subjects or row[0] < subjects.first]
    at = _below_titles(rows, merged) if asked is None else _place_of(rows, asked)
    remarks = _titles_told(rows[:at], rows[at][0], asked)
    groups = groups_of(rows, at, merged)
    if groups is None:
        names = {place: text for place, text in enumerate(rows[at][1], 1) if not is_blank(text)}
        used = [rows[at]]
    else:
        names = joined_names(rows[at][1], rows[at + 1][1], groups)
        used = [rows[at], rows[at + 1]]
        one = next((names[place] for place in groups if place in names), "")
        remarks.append(
            f"the header has two rows, {used[0][0]} and {used[1][0]}, whose names are joined, such as {quoted(one)}"
            f"{_otherwise(used[1][0])}"
        )
    if subjects is not None and used[-1][0] in subjects:
        raise InputError(
            f"--rows {subjects.text} names row {used[-1][0]} as a subject, but the names of the columns are read from "
            "it: begin below it, give another row of the header (--header-row N), or say that there is none "
            "(--header-row 0)"
        )
    below = rows[at + len(used) :]
    doubts = [] if groups is not None or not of_subjects else _doubt_of_names(names, used[0][0], below, asked, remarks)
    end = 0 if subjects is None else subjects.first
    found = _below_the_names(rows, at + len(used), names, end, of_subjects)
    return Header(
        names,
        rows[found.first - 1][0],
        used,
        groups or {},
        found.units,
        found.explanations,
        [*remarks, *found.remarks],
        doubts or ([] if subjects is not None else found.doubts),
    )


def _no_header(rows: Sequence[Row], subjects: RowRanges | None) -> Header:
    """Return what stands for the header of a file without one: every column is named by its number."""
    filled = sorted(
        set().union(*(filled_places(texts) for number, texts in rows if subjects is None or number in subjects))
    )
    names = {place: name_without_header(place) for place in filled}
    shown = listed((quoted(name) for name in names.values()), len(names))
    told = f"the file has no header, as --header-row 0 says: its {len(names)} columns are named by number ({shown})"
    return Header(names, 0, [], remarks=[told])


def _doubt_of_names(
    names: dict[int, str], number: int, below: Sequence[Row], asked: int | None, remarks: list[str]
) -> list[Doubt]:
    """Return the doubt whether the row of the names is a subject; add a remark instead if somebody said that it is not.

    The remark is added to `remarks`, as that on names which are numbers.
    """
    why = seems_a_subject(names, below)
    counted = names_by_numbers(names, below)
    if counted is not None and asked is None:
        remarks.append(
            f"the numbers {counted} in row {number} are taken for names of columns; if row {number} is a subject, say "
            "--header-row 0"
        )
    if why is None:
        return []
    if asked is not None:
        remarks.append(
            f"row {number} names the columns, as --header-row says, though it looks like a subject ({why}); if it is "
            "one, say --header-row 0"
        )
        return []
    return [
        Doubt(
            f"row {number} is where the names of the columns are expected, but looks like a subject ({why}): if the "
            f"file has no header, say --header-row 0, and the columns are named {quoted(name_without_header(1))}, "
            f"{quoted(name_without_header(2))} and so on; if the names stand in row {number}, say --header-row {number}"
        )
    ]


@dataclass
class _Below:
    """What stands between the names and the subjects: the place of the first subject, units and explanations."""

    first: int
    units: dict[int, str] = field(default_factory=dict)
    explanations: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def _below_the_names(rows: Sequence[Row], first: int, names: dict[int, str], end: int, of_subjects: bool) -> _Below:
    """Return what stands between the names and the subjects.

    Parameters
    ----------
    rows : sequence of Row
    first : int
        The place of the first row below the names.
    names : dict of int to str
    end : int
        The number of the first row that somebody said to be a subject; 0 if nobody said it.
    of_subjects : bool
    """
    found = _Below(first)
    for at in range(first, min(first + _MOST_BELOW, len(rows))):
        number = rows[at][0]
        if end and number >= end:
            break
        units = {} if found.units else _units(rows, at, names)
        explained = explaining(rows[at:], names) if of_subjects and not units else None
        if units:
            found.units = units
            shown = listed(f"{names[place].strip()}: {unit}" for place, unit in units.items())
            found.remarks.append(f"row {number} holds units, and is no subject ({shown})")
        elif explained is not None and (explained.is_certain or end):
            found.explanations |= explained.texts
            found.remarks.append(f"row {number} explains the columns, and is no subject: it holds {explained.why}")
        elif explained is not None:
            names_too = f"; if it holds the names, say --header-row {number}"
            found.doubts.append(Doubt(f"row {number} holds {explained.why}{names_too}", (number,)))
            break
        else:
            break
        found.first = at + 1
    return found


def _otherwise(row: int) -> str:
    return f". If the header is row {row} alone, say so: --header-row {row}"


def _place_of(rows: Sequence[Row], asked: int) -> int:
    for at, (number, _) in enumerate(rows):
        if number == asked:
            return at
    raise InputError(
        f"row {asked} holds nothing that could be a header; the first rows with content are "
        f"{listed(number for number, _ in rows)}: give one of them as --header-row, or 0 if there is no header"
    )


def _titles_told(above: Sequence[Row], header_row: int, asked: int | None) -> list[str]:
    if not above:
        return []
    held = listed(quoted(next(text for text in texts if not is_blank(text)).strip()) for _, texts in above)
    rows = f"row {above[0][0]}" if len(above) == 1 else f"rows {above[0][0]} to {above[-1][0]}"
    told = f"the header is row {header_row}: what stands above it, in {rows}, is left out ({held})"
    return [told if asked is not None else f"{told}. If that is wrong, give the row of the header: --header-row N"]


def _below_titles(rows: Sequence[Row], merged: Sequence[Area]) -> int:
    """Return the place of the first row that is no title above the table; 0 if there is none, or it is not clear."""
    width = len(set().union(*(filled_places(texts) for _, texts in rows)))
    for at, (number, texts) in enumerate(rows):
        is_title = len(filled_places(texts)) <= _MOST_IN_TITLE and 2 * len(filled_places(texts)) < width
        if groups_of(rows, at, merged) is not None or (at and not is_title and _is_header(rows, at)):
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
    below = set().union(*(filled_places(texts) for _, texts in rows[at + 1 :])) if len(rows) > at + 1 else set()
    has_all = below <= filled_places(rows[at][1]) and len(names) > 1
    return has_all and len(set(names)) == len(names) and not any(map(looks_like_number, names))


def _units(rows: Sequence[Row], first: int, names: dict[int, str]) -> dict[int, str]:
    """Return the unit of each column if the row at place `first` holds units, and stands right below the header."""
    if len(rows) <= first + 1 or rows[first][0] != rows[first - 1][0] + 1:
        return {}
    places = sorted(names)

    def cells(texts: Sequence[str]) -> list[str]:
        return [texts[place - 1] if place <= len(texts) else "" for place in places]

    if filled_places(rows[first][1]) - set(places) or len(places) < _FEWEST_FOR_UNITS:
        return {}
    units = units_in_row(cells(rows[first][1]), [cells(texts) for _, texts in rows[first + 1 :]])
    return {places[at]: unit for at, unit in units.items()}
