"""Choose the sheet of a workbook that is the table: the one asked for, or the first that is no cover or legend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from clinclust.errors import InputError
from clinclust.files.layout.sheet_table import SheetOptions
from clinclust.files.listed import listed, quoted
from clinclust.files.text_table import TableRead
from clinclust.nearest import did_you_mean

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
    sheets : sequence of (str, bool)
        The name of each sheet with cells, and whether it is hidden.
    asked : str or None
        A name, or a number from 1 if no sheet has it as its name.
    options : SheetOptions
        Where they say where the table is on its sheet, or that its rows are no subjects, the first sheet is meant.
    read : callable
        Reads the sheet at a place.
    """
    first, remarks = _chosen(sheets, asked)
    others = [at for at, (_, is_hidden) in enumerate(sheets) if at != first and not is_hidden][:_MOST_READ]
    is_free = asked is None and options.header_row is None and options.rows is None and options.of_subjects

    def tables() -> dict[int, TableRead]:
        return {at: table for at in others if is_free and (table := _larger_table(read, at)) is not None}

    name = quoted(sheets[first][0])
    try:
        found = read(first)
    except InputError as error:
        if names := listed(quoted(sheets[at][0]) for at in tables()):
            hint = f"If {name} is no table of subjects, choose another sheet by --sheet: {names}"
            raise InputError(f"{error.at_command_line}. {hint}") from error
        raise
    larger = tables() if found.frame.shape[1] <= _FEW_COLUMNS and len(found.frame) < _FEW_ROWS else {}
    if len(larger) > 1:
        raise InputError(
            f"the first sheet, {name}, is no table of subjects, and others are: choose one by --sheet: "
            f"{listed(quoted(sheets[at][0]) for at in larger)}"
        )
    for at, table in larger.items():
        told = f"read the sheet {quoted(sheets[at][0])}: the first, {name}, is no table of subjects"
        found, remarks = table, [f"{told} (--sheet reads another)"]
    return replace(found, remarks=[*remarks, *found.remarks])


def _chosen(sheets: Sequence[tuple[str, bool]], asked: str | None) -> tuple[int, list[str]]:
    """Return the place of the sheet to read first, and a remark on the others if none was asked for."""
    if not sheets:
        raise InputError("the file has no sheet with cells")
    names = [name for name, _ in sheets]
    if asked is not None:
        if asked in names:
            return names.index(asked), []
        if asked.isascii() and asked.isdecimal() and len(asked) < 9 and 0 < int(asked) <= len(names):
            return int(asked) - 1, []
        numbered = listed(f"{number}: {name}" for number, name in enumerate(names, 1))
        raise InputError(f"there is no sheet {quoted(asked)}.{did_you_mean(asked, names)} It has {numbered}")
    first = next((at for at, (_, is_hidden) in enumerate(sheets) if not is_hidden), 0)
    others = [f"{name} (hidden)" if is_hidden else name for at, (name, is_hidden) in enumerate(sheets) if at != first]
    what = "read the first sheet" if not sheets[first][1] else "all sheets are hidden; read the first"
    told = f"{what}, {quoted(names[first])}; others are {listed(others)}: choose one by --sheet"
    return first, [told] if others else []


def _larger_table(read: Callable[[int], TableRead], at: int) -> TableRead | None:
    """Return the table of a sheet that has more columns and rows than a cover; None if it is none."""
    try:
        found = read(at)
    except InputError:
        return None
    return found if found.frame.shape[1] > _FEW_COLUMNS and len(found.frame) >= _FEW_ROWS else None
