"""Match the entries of a dictionary with the columns of a table, and say what does not match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from clinclust.errors import InputError
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.dictionaries.levels import plural
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
    alike = _by_folded(((entry.name, entry) for entry in entries), found, columns)
    labelled = _by_folded(
        ((header, entry) for entry in entries for header in entry.headers), {**found, **alike}, columns
    )
    in_order = _in_order(entries, {**found, **alike, **labelled}, columns)
    remarks = []
    if in_order:
        remarks.append(
            f"fields with one label are taken in the order of the dictionary, as REDCap has them: {_pairs(in_order)}"
        )
    if alike:
        remarks.append(f"taken for the same, though written in another way: {_pairs(alike)}")
    if labelled:
        remarks.append(f"found by their labels, which the table has for names: {_pairs(labelled)}")
    found = {**found, **alike, **labelled, **in_order}
    if not found:
        raise of_another_table(len(entries), columns)
    return {column: found[column] for column in columns if column in found}, remarks


def _in_order(entries: Sequence[Entry], found: dict[str, Entry], columns: Sequence[str]) -> dict[str, Entry]:
    """Return the entries of columns whose label several fields have, where there are as many columns as fields.

    The reader of the table wrote the number of the column behind the label: ``Date of visit (2)``.
    """
    taken = {entry.name for entry in found.values()}
    labelled: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        for header in entry.headers if entry.name not in taken else ():
            labelled.setdefault(header, {})[entry.name] = entry
    ordered: dict[str, Entry] = {}
    for label, those in labelled.items():
        wanted = [label, *(f"{label} ({number})" for number in range(2, len(those) + 1))]
        beyond = f"{label} ({len(those) + 1})"
        if len(those) > 1 and all(name in columns and name not in found for name in wanted) and beyond not in columns:
            ordered |= dict(zip(wanted, those.values(), strict=True))
    return ordered


def of_another_table(count: int, columns: Sequence[str]) -> InputError:
    """Return the error of a dictionary that describes no column. What it holds is not shown: it may be of patients."""
    return InputError(
        f"none of the {count:,} variables that it names is a column of the table, whose columns are "
        f"{listed(map(quoted, columns), len(columns))}. Give the dictionary of this table, or write the names of the "
        "columns into it"
    )


def _by_folded(named: Iterable[tuple[str, Entry]], found: dict[str, Entry], columns: Sequence[str]) -> dict[str, Entry]:
    """Return the entries of further columns, where one column and one entry agree but for case, spaces and signs."""
    taken = {entry.name for entry in found.values()}
    free = [column for column in columns if column not in found]
    once = {name for name, count in Counter(map(folded, free)).items() if count == 1 and name}
    meant: dict[str, dict[str, Entry]] = {}
    for name, entry in named:
        if entry.name not in taken:
            meant.setdefault(folded(name), {})[entry.name] = entry
    unique = {name: next(iter(those.values())) for name, those in meant.items() if len(those) == 1}
    return {column: unique[folded(column)] for column in free if folded(column) in once and folded(column) in unique}


def _pairs(found: dict[str, Entry]) -> str:
    return listed([f"{quoted(column)} ({quoted(entry.name)})" for column, entry in found.items()], len(found))


def said_of_the_unmatched(
    entries: Sequence[Entry], columns: Sequence[str], notes: dict[str, ColumnNotes], used: set[str]
) -> list[str]:
    """Return one sentence on the columns that have no entry, and one on the fields that have no column.

    Parameters
    ----------
    entries, columns
        As in `matched`.
    notes : dict of str to ColumnNotes
        The notes on all columns that have some.
    used : set of str
        The fields of which some entry was matched.
    """
    strangers = [column for column in columns if column not in notes]
    absent = list(dict.fromkeys(entry.field for entry in entries if entry.field not in used))
    remarks = []
    if strangers:
        verb = plural(len(strangers), "column of the table is", "columns of the table are")
        remarks.append(
            f"{len(strangers)} {verb} not in it, and drafted by the values: {_with_nearest(strangers, absent)}"
        )
    if absent:
        verb = plural(len(absent), "of its variables is no column", "of its variables are no columns")
        remarks.append(f"{len(absent)} {verb} of the table: {_with_nearest(absent, strangers)}")
    return remarks


def _with_nearest(names: list[str], others: list[str]) -> str:
    shown = []
    for name in names[:_MOST_HINTS]:
        close = nearest(name, others)
        shown.append(quoted(name) if close is None else f"{quoted(name)} (nearest: {quoted(close)})")
    return listed(shown, len(names))
