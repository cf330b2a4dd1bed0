"""Match the entries of a dictionary with the columns of a table, and say what does not match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from clinclust.errors import InputError
from clinclust.files.dictionaries.plain_text import folded
from clinclust.files.dictionaries.sheet import Entry
from clinclust.files.listed import listed, quoted
from clinclust.nearest import nearest

__all__ = ["matched", "of_another_table", "said_of_the_unmatched"]

_MOST_HINTS = 5  # as many as a message shows; a search among many names takes time


def matched(entries: Sequence[Entry], columns: Sequence[str]) -> tuple[dict[str, Entry], list[str]]:
    """Return the entry of each column that has one, and remarks on names that match only in part.

    A column is matched by its name; by its name without case, spaces and signs; or by the label of a field, as an
    export with labels for names has it. What could be two columns or two entries is not matched in these ways.

    Raises
    ------
    InputError
        If no column is matched.
    """
    by_name = {entry.name: entry for entry in entries}
    found = {column: by_name[column] for column in columns if column in by_name}
    remarks = []
    for told, named in (
        ("taken for the same, though written in another way", [(entry.name, entry) for entry in entries]),
        (
            "found by their labels, which the table has for names (fields with one label are taken in the order of the "
            "dictionary)",
            [(header, entry) for entry in entries for header in entry.headers],
        ),
    ):
        new = _by_folded(named, found, columns)
        found |= new
        if new:
            pairs = listed(f"{quoted(column)} ({quoted(entry.name)})" for column, entry in new.items())
            remarks.append(f"{told}: {pairs}")
    if not found:
        raise of_another_table(len(entries), columns)
    return {column: found[column] for column in columns if column in found}, remarks


def _by_folded(named: Iterable[tuple[str, Entry]], found: dict[str, Entry], columns: Sequence[str]) -> dict[str, Entry]:
    """Return the entries of further columns whose names agree but for case, spaces and signs.

    Several entries of one name are taken in their order, where there are as many columns: whoever read the table wrote
    the number behind the name, ``Date of visit (2)``.
    """
    taken = {entry.name for entry in found.values()}
    free = [column for column in columns if column not in found]
    once = {name for name, count in Counter(map(folded, free)).items() if count == 1 and name}
    meant: dict[str, dict[str, Entry]] = {}
    for name, entry in named:
        if entry.name not in taken:
            meant.setdefault(folded(name), {})[entry.name] = entry
    matches: dict[str, Entry] = {}
    for name, those in meant.items():
        numbered = [name, *(f"{name}_{number}" for number in range(2, len(those) + 2))]
        if once.issuperset(numbered[: len(those)]) and (len(those) == 1 or numbered[-1] not in once):
            matches |= dict(zip(numbered, those.values(), strict=False))
    return {column: matches[folded(column)] for column in free if folded(column) in once and folded(column) in matches}


def of_another_table(count: int, columns: Sequence[str]) -> InputError:
    """Return the error of a dictionary that describes no column. What it holds is not shown: it may be of patients."""
    return InputError(
        f"none of the {count:,} variables that it names is a column of the table, whose columns are "
        f"{listed(map(quoted, columns))}. Give the dictionary of this table, or write the names of the columns into it"
    )


def said_of_the_unmatched(
    entries: Sequence[Entry], columns: Sequence[str], noted: Collection[str], used: Collection[str]
) -> list[str]:
    """Return a sentence on the columns that are not among the noted ones, and one on the fields that are not used."""
    strangers = [column for column in columns if column not in noted]
    absent = list(dict.fromkeys(entry.field for entry in entries if entry.field not in used))
    remarks = []
    if strangers:
        verb = "column of the table is" if len(strangers) == 1 else "columns of the table are"
        remarks.append(f"{len(strangers)} {verb} not in it, and drafted by the values: {_nearest(strangers, absent)}")
    if absent:
        verb = "variables is no column" if len(absent) == 1 else "variables are no columns"
        remarks.append(f"{len(absent)} of its {verb} of the table: {_nearest(absent, strangers)}")
    return remarks


def _nearest(names: list[str], others: list[str]) -> str:
    shown = []
    for name in names[:_MOST_HINTS]:
        close = nearest(name, others)
        shown.append(quoted(name) if close is None else f"{quoted(name)} (nearest: {quoted(close)})")
    return listed(shown, len(names))
