"""A workbook whose first sheet is a cover or a legend: read the only other sheet that is a table, or ask."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from clinclust.errors import InputError
from clinclust.files.layout.sheet_table import SheetOptions
from clinclust.files.listed import listed, quoted
from clinclust.files.sheets import chosen_sheet
from clinclust.files.text_table import TableRead

__all__ = ["read_sheet"]

_FEW_COLUMNS, _FEW_ROWS = 2, 20
"""A sheet with no more columns and fewer rows may be a cover, if another sheet has more of both."""
_MOST_READ = 12
"""The most other sheets that are looked at."""


def read_sheet(
    sheets: Sequence[tuple[str, bool]], asked: str | None, options: SheetOptions, read: Callable[[int], TableRead]
) -> TableRead:
    """Return the table of the sheet that was asked for, or else of the first that is one.

    Parameters
    ----------
    sheets, asked
        As in `chosen_sheet`.
    options : SheetOptions
        Where they say where the table is on its sheet, or that its rows are no subjects, the first sheet is meant.
    read : callable
        Reads the sheet at a place.

    Raises
    ------
    InputError
        If the first sheet is no table, and several others are.
    """
    first, remarks = chosen_sheet(sheets, asked)
    others = [at for at, (_, is_hidden) in enumerate(sheets) if at != first and not is_hidden][:_MOST_READ]
    is_free = asked is None and options.header_row is None and options.rows is None and options.of_subjects
    if not is_free or not others:
        return _with_remarks(read(first), remarks)
    name = quoted(sheets[first][0])
    try:
        found = read(first)
    except InputError as error:
        names = _listed_tables(sheets, _tables(others, read))
        hint = f". If {name} is no table of subjects, choose another sheet by --sheet: {names}" if names else ""
        raise InputError(f"{error.at_command_line}{hint}") from error
    tables = _tables(others, read) if _may_be_a_cover(found) else {}
    if len(tables) > 1:
        raise InputError(
            f"the first sheet, {name}, is no table of subjects, and others are: choose one by --sheet: "
            f"{_listed_tables(sheets, tables)}"
        )
    for at, table in tables.items():
        told = f"read the sheet {quoted(sheets[at][0])}: the first, {name}, is no table of subjects"
        return _with_remarks(table, [f"{told} (--sheet reads another)"])
    return _with_remarks(found, remarks)


def _tables(places: Sequence[int], read: Callable[[int], TableRead]) -> dict[int, TableRead]:
    """Return the tables among sheets, by their places."""
    return {at: table for at in places if (table := _table_of(read, at)) is not None}


def _listed_tables(sheets: Sequence[tuple[str, bool]], tables: Collection[int]) -> str:
    """Return the names of sheets, or nothing if there are none."""
    return listed(quoted(sheets[at][0]) for at in tables) if tables else ""


def _with_remarks(read: TableRead, remarks: Sequence[str]) -> TableRead:
    return replace(read, remarks=[*remarks, *read.remarks])


def _may_be_a_cover(read: TableRead) -> bool:
    return read.frame.shape[1] <= _FEW_COLUMNS and len(read.frame) < _FEW_ROWS


def _table_of(read: Callable[[int], TableRead], at: int) -> TableRead | None:
    """Return the table of a sheet that has more columns and rows than a cover; None if it is none."""
    try:
        found = read(at)
    except InputError:
        return None
    return found if found.frame.shape[1] > _FEW_COLUMNS and len(found.frame) >= _FEW_ROWS else None
