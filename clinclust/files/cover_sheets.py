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
    if not sheets:
        raise InputError("the file has no sheet with cells")
    names = [name for name, _ in sheets]
    if asked is not None:
        return read(_place_of(asked, names))
    visible = [at for at, (_, is_hidden) in enumerate(sheets) if not is_hidden]
    first, name = (visible or [0])[0], quoted(names[(visible or [0])[0]])
    others = [f"{other} (hidden)" if is_hidden else other for other, is_hidden in sheets if other != names[first]]
    told = f"read the first sheet, {name}; others are {listed(others)}: choose one by `sheet`"
    try:
        found = read(first)
    except InputError as error:
        if others:
            hint = f"If {name} is no table of subjects, choose another sheet by `sheet`: {listed(others)}"
            raise InputError(f"{error.at_command_line}. {hint}") from error
        raise
    is_free = options.header_row is None and options.rows is None and options.of_subjects
    if is_free and found.frame.shape[1] <= _FEW_COLUMNS and len(found.frame) < _FEW_ROWS:
        larger = {at: table for at in visible[1 : 1 + _MOST_READ] if (table := _larger_table(read, at)) is not None}
        if len(larger) > 1:
            raise InputError(
                f"the first sheet, {name}, is no table of subjects, and others are: choose one by `sheet`: "
                f"{listed(quoted(names[at]) for at in larger)}"
            )
        for at, table in larger.items():
            told = f"read the sheet {quoted(names[at])}: the first, {name}, is no table (`sheet` reads another)"
            found = table
    return replace(found, remarks=[told, *found.remarks]) if others else found


def _place_of(asked: str, names: Sequence[str]) -> int:
    """Return the place of the sheet of this name or number."""
    if asked in names:
        return names.index(asked)
    if asked.isascii() and asked.isdecimal() and len(asked) < 9 and 0 < int(asked) <= len(names):
        return int(asked) - 1
    numbered = listed(f"{number}: {name}" for number, name in enumerate(names, 1))
    raise InputError(f"there is no sheet {quoted(asked)}.{did_you_mean(asked, names)} It has {numbered}")


def _larger_table(read: Callable[[int], TableRead], at: int) -> TableRead | None:
    """Return the table of a sheet that has more columns and rows than a cover; None if it is none."""
    try:
        found = read(at)
    except InputError:
        return None
    return found if found.frame.shape[1] > _FEW_COLUMNS and len(found.frame) >= _FEW_ROWS else None
