"""Choose a sheet of a workbook, by its name or its number."""

from __future__ import annotations

from collections.abc import Sequence

from clinclust.errors import InputError
from clinclust.files.listed import listed, quoted
from clinclust.nearest import did_you_mean

__all__ = ["chosen_sheet"]


def chosen_sheet(sheets: Sequence[tuple[str, bool]], asked: str | None) -> tuple[int, list[str]]:
    """Return the place of the sheet to read, and what the reader must know of the others if none was asked for.

    Parameters
    ----------
    sheets : sequence of (str, bool)
        The name of each sheet with cells, and whether it is hidden.
    asked : str or None
        A name, or a number from 1 if no sheet has it as its name.
    """
    if not sheets:
        raise InputError("the file has no sheet with cells")
    names = [name for name, _ in sheets]
    if asked is not None:
        if asked in names:
            return names.index(asked), []
        if asked.isascii() and asked.isdecimal() and 0 < int(asked[:9]) <= len(names) and len(asked) < 9:
            return int(asked) - 1, []
        numbered = listed(f"{number}: {name}" for number, name in enumerate(names, 1))
        raise InputError(f"there is no sheet {quoted(asked)}.{did_you_mean(asked, names)} It has {numbered}")
    first = next((at for at, (_, is_hidden) in enumerate(sheets) if not is_hidden), 0)
    others = [f"{name} (hidden)" if is_hidden else name for at, (name, is_hidden) in enumerate(sheets) if at != first]
    what = "read the first sheet" if not sheets[first][1] else "all sheets are hidden; read the first"
    told = f"{what}, {quoted(names[first])}; others are {listed(others)}: choose one by --sheet"
    return first, [told] if others else []
