"""Make the table of the subjects out of the rows of a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clinclust.errors import InputError
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.layout.below import rows_without_subjects
from clinclust.files.layout.decimal_marks import Decimal, columns_with_comma
from clinclust.files.layout.header import Area, Header, find_header
from clinclust.files.layout.sheet_rows import LOOKED_AT, SheetRows, is_blank
from clinclust.files.layout.units import unit_in_name
from clinclust.files.listed import listed
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.references import letters_of

__all__ = ["SheetOptions", "sheet_table"]


@dataclass(frozen=True)
class SheetOptions:
    """What somebody said of a sheet: the number of the row of its header, and its decimal mark."""

    header_row: int | None = None
    decimal: Decimal | None = None

    def empty_rows(self) -> SheetRows:
        """Return the place to collect rows in, which keeps as many as are needed to find the header."""
        return SheetRows(LOOKED_AT + (self.header_row or 0))


def sheet_table(
    rows: SheetRows, options: SheetOptions, merged: Sequence[Area] = (), header: Header | None = None
) -> TableRead:
    """Return the table of a sheet.

    Parameters
    ----------
    rows : SheetRows
    options : SheetOptions
    merged : sequence of Area
    header : Header, optional
        The header, if it is known already.

    Raises
    ------
    InputError
        If the sheet is empty, or has no row of the number that the options give.
    """
    if not rows.first:
        raise InputError("the table is empty")
    header = find_header(rows.first, merged, options.header_row) if header is None else header
    frame = rows.body(header.first)
    places = rows.columns
    named = [at for at, place in enumerate(places) if place in header.names or _has_values(frame, at)]
    frame, places = frame.iloc[:, named], [places[at] for at in named]
    frame.columns = pd.Index([header.names.get(place, "") for place in places], dtype=object)
    told = _merged_told(merged, frame, places)
    below = rows_without_subjects(frame, [_texts_at(row, places) for _, row in header.rows], options.decimal)
    frame = frame[~below.mask] if below.mask.any() else frame
    commas, remarks = columns_with_comma(frame, options.decimal)
    notes = [_notes(header, place, at in commas) for at, place in enumerate(places)]
    return TableRead(frame, [*header.remarks, *told, *below.remarks, *remarks], notes, places, sorted(rows.beyond))


def _merged_told(merged: Sequence[Area], frame: pd.DataFrame, places: Sequence[int]) -> list[str]:
    """Return what the reader must know of merged cells among the rows below the header."""
    if not merged or not len(frame):
        return []
    first, last, width = int(frame.index[0]) + 2, int(frame.index[-1]) + 2, max(places, default=0)
    inside = [area for area in merged if first <= area[0] <= last and area[1] <= width]
    if not inside:
        return []
    shown = listed(f"{letters_of(left)}{top}:{letters_of(right)}{bottom}" for top, left, bottom, right in inside)
    return [
        f"merged cells ({shown}): the value counts for the first cell only, and the others are empty; unmerge them, "
        "and write the value into each cell"
    ]


def _has_values(frame: pd.DataFrame, at: int) -> bool:
    cells = frame.iloc[:, at]
    return bool(np.asarray(cells != "", dtype=bool).any()) and not all(map(is_blank, cells.tolist()))


def _texts_at(row: Sequence[str], places: Sequence[int]) -> list[str]:
    return [row[place - 1] if place <= len(row) else "" for place in places]


def _notes(header: Header, place: int, has_comma: bool) -> ColumnNotes:
    name = header.names.get(place, "")
    group = header.groups.get(place)
    label = name.removeprefix(f"{group} - ") if group else None
    in_name = unit_in_name(label or name)
    unit = header.units.get(place)
    if in_name is not None:
        label, unit = in_name[0], unit or in_name[1]
    return ColumnNotes(label=label, unit=unit, section=group, decimal="," if has_comma else None)
