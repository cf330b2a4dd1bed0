"""Choose columns by name or number, and refuse names that are unclear."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

import pandas as pd

from clinclust.errors import InputError
from clinclust.files.column_notes import add_notes
from clinclust.files.listed import argument, listed, quoted
from clinclust.files.text_table import TableRead
from clinclust.nearest import did_you_mean

MOST_COLUMNS = 20_000
"""The most columns of a table that is read whole: with 200 rows they take 13 CPU seconds."""

_ONLY_REDCAP = ("Complete?", "Event Name", "Repeat Instrument", "Repeat Instance", "Data Access Group")
_NUMBERED = re.compile(r"(?P<name>.*)#(?P<number>[0-9]{1,6})", re.DOTALL)


def place_of_column(wanted: str, names: Sequence[str], places: Sequence[int] = ()) -> int | str:
    """Return the place (from 0) of the column that a text means, or what is wrong with the text.

    It is a name; ``name#2`` for the second column of this name; ``#7`` for the seventh column of the file, whose
    numbers are `places`.
    """
    found = [at for at, name in enumerate(names) if name == wanted]
    found = found or [at for at, name in enumerate(names) if name.strip() == wanted.strip() and name.strip()]
    if len(found) == 1:
        return found[0]
    if found:
        return (
            f"there are {len(found)} columns {quoted(wanted)}: say {quoted(f'{wanted}#1')} or {quoted(f'{wanted}#2')}"
        )
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
            "apart, with `only` or in the table itself"
        )


def chosen_columns(
    read: TableRead, only: Sequence[str] | None, drop: Sequence[str] | None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with the columns to keep (`only`), without those to `drop`, and remarks on the choice.

    InputError is raised if a choice names no column or leaves none, or if columns that stay have no name, one name, or
    look like two tables in one.
    """
    names = [str(name) for name in read.frame.columns]
    kept = _places_that_stay(read, only, drop)
    unread = {number for number in read.unread if only is None and f"#{number}" not in (drop or ())}
    _refuse_unclear(read, kept, unread, only is not None)
    chosen = read.frame if len(kept) == len(names) else read.frame.iloc[:, kept]
    if read.notes:
        add_notes(chosen, {names[at]: read.notes[at] for at in kept})
    is_choice = only is not None or bool(drop)
    return chosen, [f"{len(kept)} of {len(names)} columns are kept, as `only` and `drop` say"] if is_choice else []


def _places_that_stay(read: TableRead, only: Sequence[str] | None, drop: Sequence[str] | None) -> list[int]:
    names = [str(name) for name in read.frame.columns]
    unread = {f"#{number}" for number in read.unread}
    wanted, dropped = (
        [place_of_column(text, names, read.places) for text in texts or () if text not in unread]
        for texts in (only, drop)
    )
    if problems := [place for place in [*dropped, *wanted] if isinstance(place, str)]:
        raise InputError(listed(problems))
    kept = [at for at in range(len(names)) if (only is None or at in wanted) and at not in dropped]
    if not kept:
        raise InputError("`only` and `drop` leave no column: name fewer to drop, or others to keep")
    return kept


def _refuse_unclear(read: TableRead, kept: Sequence[int], unread: set[int], was_chosen: bool) -> None:
    """Raise InputError if columns that stay have no name or one name, or belong to two tables."""
    numbers = read.places or list(range(1, read.frame.shape[1] + 1))
    columns: dict[str, list[int]] = {}
    for at in kept:
        name = str(read.frame.columns[at])
        columns.setdefault(name if name.strip() else "", []).append(numbers[at])
    unnamed = sorted(unread.union(columns.pop("", [])))
    repeated = {name: where for name, where in columns.items() if len(where) > 1}
    problems = []
    if unnamed:
        problems.append(
            f"the header has no name for column {listed(unnamed)} of {max(*numbers, *unread)}: write a name for every "
            f"column, or leave it out: {argument('drop', [f'#{unnamed[0]}'])}. If the header is further down: "
            "header_row=N; if no row holds names, header_row=0; if another table is below: rows=FIRST-LAST"
        )
    if not was_chosen and (parts := _side_by_side(read.frame, kept, numbers, repeated)):
        problems.append(
            f"two tables seem to stand side by side, in columns {parts}, with an empty column between them: give the "
            "columns of one of them with `only` (name#2 is the second column of a name, #7 the seventh column of the "
            "file), or of both if they are one table"
        )
    elif repeated:
        first, where = next(iter(repeated.items()))
        can_be_pasted = first.isprintable() and len(first) < 60
        second = argument("drop", [f"{first}#2" if can_be_pasted else f"#{where[1]}"])
        problems.append(
            f"these names are those of several columns: {listed(map(quoted, repeated))} ({quoted(first)} over columns "
            f"{listed(where)}); rename them in the file, or leave the others out: {second}"
        )
    if problems:
        raise InputError("\n  ".join(problems))


def _side_by_side(frame: pd.DataFrame, kept: Sequence[int], numbers: Sequence[int], repeated: Collection[str]) -> str:
    """Return the columns of two parts that an empty column divides, if a name is in both or one of them is shorter."""
    gaps = [after for before, after in pairwise(kept) if numbers[after] - numbers[before] > after - before]
    if not gaps or not len(frame):
        return ""
    parts = [[at for at in kept if at < gaps[0]], [at for at in kept if at >= gaps[0]]]
    names = [{str(frame.columns[at]) for at in part} for part in parts]
    ends = [(frame.iloc[::-1, part] != "").any(axis=1).idxmax() for part in parts]
    if ends[0] == ends[1] and not (names[0] & names[1] & set(repeated)):
        return ""
    return " and ".join(f"{numbers[part[0]]} to {numbers[part[-1]]}" for part in parts)


def with_distinct_names(read: TableRead) -> TableRead:
    """Return an export of REDCap with labels in which the second column of a name has ``(2)`` after it."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in map(str, read.frame.columns):
        seen[name] += 1
        distinct.append(f"{name} ({seen[name]})" if seen[name] > 1 and name.strip() else name)
    repeated = [name for name, count in seen.items() if count > 1 and name.strip()]
    if not repeated or not any(name.strip() in _ONLY_REDCAP or "(choice=" in name for name in seen):
        return read
    frame = read.frame.set_axis(pd.Index(distinct, dtype=object), axis=1)
    remark = (
        f"an export of REDCap with labels, in which {len(repeated)} names are those of several columns "
        f"({listed(map(quoted, repeated))}): the second is called {quoted(f'{repeated[0]} (2)')}, and so on in the "
        "order of the file; an export with raw names has a name of its own for each field"
    )
    return replace(read, frame=frame, remarks=[*read.remarks, remark])
