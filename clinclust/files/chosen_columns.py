"""Choose columns by name or number, and settle what could not be told apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from clinclust.errors import InputError
from clinclust.files.column_notes import add_notes
from clinclust.files.command_words import names_in_list, option_in_shell
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.listed import listed, quoted
from clinclust.files.text_table import TableRead
from clinclust.nearest import did_you_mean

__all__ = ["MOST_COLUMNS", "chosen_columns", "place_of_column", "places_that_stay", "refuse_many_columns"]

MOST_COLUMNS = 20_000
"""The most columns of a table that is read whole: with 200 rows they take 13 CPU seconds."""

_NUMBERED = re.compile(r"(?P<name>.*)#(?P<number>[0-9]{1,6})", re.DOTALL)


def place_of_column(wanted: str, names: Sequence[str], places: Sequence[int] = ()) -> int | str:
    """Return the place (from 0) of the column that a text means, or what is wrong with the text.

    Parameters
    ----------
    wanted : str
        A name; ``name#2`` for the second column of this name; ``#7`` for the seventh column of the file.
    names : sequence of str
    places : sequence of int
        The number of each column in the file.
    """
    found = [at for at, name in enumerate(names) if name == wanted]
    found = found or [at for at, name in enumerate(names) if name.strip() == wanted.strip() and name.strip()]
    if len(found) == 1:
        return found[0]
    if found:
        options = " or ".join(quoted(f"{wanted}#{k}") for k in range(1, min(len(found), 5) + 1))
        return f"there are {len(found)} columns {quoted(wanted)}: say {options}"
    if match := _NUMBERED.fullmatch(wanted):
        name, number = match["name"].strip(), int(match["number"])
        same = [at for at, each in enumerate(names) if not name or each.strip() == name]
        numbers = range(1, len(same) + 1) if name else list(places) or range(1, len(names) + 1)
        if number in numbers:
            return same[numbers.index(number)]
    return f"there is no column {quoted(wanted)}.{did_you_mean(wanted, names)}"


def refuse_many_columns(n_columns: int, most: int | None, what: str = "read without a choice") -> None:
    """Raise InputError if a table has more columns than can be read or drafted (`what`); None is no limit."""
    if most is not None and n_columns > most:
        raise InputError(
            f"the table has {n_columns:,} columns, and at most {most:,} are {what}: keep those that may tell subtypes "
            "apart, with --only (`only` of `read_cohort`) or in the table itself"
        )


def chosen_columns(
    read: TableRead, only: Sequence[str] | None, drop: Sequence[str] | None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with the columns that were chosen, and what the reader must know of the choice.

    `only` has the columns to keep, in the order of the file, and `drop` those to leave out; see `place_of_column`.

    Raises
    ------
    InputError
        If a choice names no column or leaves none, or if columns that stay have no name, one name, or look like two
        tables side by side.
    """
    names = [str(name) for name in read.frame.columns]
    kept = places_that_stay(read, only, drop)
    unread = {number for number in read.unread if only is None and f"#{number}" not in (drop or ())}
    _refuse_unclear(read, kept, unread, only is not None)
    chosen = read.frame if len(kept) == len(names) else read.frame.iloc[:, kept]
    if read.notes:
        add_notes(chosen, {names[at]: read.notes[at] for at in kept})
    is_choice = only is not None or bool(drop)
    return chosen, [f"{len(kept)} of {len(names)} columns are kept, as --only and --drop say"] if is_choice else []


def places_that_stay(read: TableRead, only: Sequence[str] | None, drop: Sequence[str] | None) -> list[int]:
    """Return the places of the columns that are kept, in the order of the file; see `chosen_columns`.

    Raises
    ------
    InputError
        If a choice names no column or leaves none.
    """
    names = [str(name) for name in read.frame.columns]
    unread = {f"#{number}" for number in read.unread}
    wanted, dropped = (
        [place_of_column(text, names, read.places) for text in texts or () if text not in unread]
        for texts in (only, drop)
    )
    problems = [place for place in [*dropped, *wanted] if isinstance(place, str)]
    if problems:
        raise InputError(listed(problems))
    left = (set(range(len(names))) if only is None else set(wanted)) - set(dropped)
    kept = [at for at in range(len(names)) if at in left]
    if not kept:
        raise InputError("--only and --drop leave no column: name fewer to drop, or others to keep")
    return kept


def _refuse_unclear(read: TableRead, kept: Sequence[int], unread: set[int], was_chosen: bool) -> None:
    """Raise InputError if columns that stay could not be told apart, or belong to two tables."""
    frame = read.frame
    numbers = read.places or list(range(1, frame.shape[1] + 1))
    names = [str(frame.columns[at]) for at in kept]
    problems = []
    unnamed = sorted({numbers[at] for at, name in zip(kept, names, strict=True) if is_blank(name)} | unread)
    if unnamed:
        leave_out = option_in_shell("--drop", f"#{unnamed[0]}")
        problems.append(
            f"the header has no name for column {listed(unnamed)} of {max(*numbers, *unread)}: write a name for every "
            f"column, or leave it out: {leave_out}. If the header stands further down, give its row: --header-row N; "
            "if no row holds names, --header-row 0; if another table stands below, give the rows of the subjects: "
            "--rows FIRST-LAST"
        )
    repeated = [name for name, count in Counter(names).items() if count > 1 and not is_blank(name)]
    sides = [] if was_chosen else _side_by_side(frame, kept, numbers, bool(repeated))
    if sides:
        problems.append(
            f"two tables seem to stand side by side, in columns {sides[0]} and {sides[1]}, with an empty column "
            "between them: give the columns of one of them with --only (name#2 is the second column of a name, #7 the "
            "seventh column of the file), or of both if they are one table"
        )
    elif repeated:
        first = repeated[0]
        where = [numbers[at] for at, name in zip(kept, names, strict=True) if name == first]
        can_be_pasted = first.isprintable() and len(first) < 60
        second = option_in_shell("--drop", names_in_list(f"{first}#2") if can_be_pasted else f"#{where[1]}")
        problems.append(
            f"{'this name stands' if len(repeated) == 1 else 'these names stand'} over several columns: "
            f"{listed(map(quoted, repeated))} ({quoted(first)} over columns {listed(where)}); rename them in the file, "
            f"or leave the others out: {second}"
        )
    if problems:
        raise InputError("\n  ".join(problems))


def _side_by_side(frame: pd.DataFrame, kept: Sequence[int], numbers: Sequence[int], repeats: bool) -> list[str]:
    """Return the columns of two parts that an empty column divides, if they look like two tables.

    They do if a name stands in both, or if one of them ends before the other.
    """
    gaps = [at for at in range(1, len(numbers)) if numbers[at] > numbers[at - 1] + 1]
    halves = [([at for at in kept if at < gap], [at for at in kept if at >= gap]) for gap in gaps]
    left, right = next(((left, right) for left, right in halves if left and right), ([], []))
    if not left:
        return []
    shared = {str(frame.columns[at]) for at in left} & {str(frame.columns[at]) for at in right}
    ends = [_last_row(frame, part) for part in (left, right)]
    if not (repeats and shared) and ends[0] == ends[1]:
        return []
    return [f"{numbers[part[0]]} to {numbers[part[-1]]}" for part in (left, right)]


def _last_row(frame: pd.DataFrame, columns: Sequence[int]) -> int:
    last = -1
    for at in columns:
        cells = frame.iloc[:, at].tolist()
        found = next((row for row in range(len(cells) - 1, last, -1) if not is_blank(str(cells[row]))), -1)
        last = max(last, found)
    return last
