"""Make the table of the subjects out of the rows of a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clinclust.errors import InputError
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.layout.body import NoSubjects, rows_without_subjects
from clinclust.files.layout.decimal_marks import Decimal, columns_with_comma
from clinclust.files.layout.doubts import refusal
from clinclust.files.layout.header import Header, find_header
from clinclust.files.layout.header_groups import Area
from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.layout.sheet_rows import LOOKED_AT, SheetRows, is_blank
from clinclust.files.layout.units import unit_in_name
from clinclust.files.listed import listed
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.references import letters_of

__all__ = ["SheetOptions", "sheet_table"]


@dataclass(frozen=True)
class SheetOptions:
    """What somebody said of a sheet.

    Attributes
    ----------
    header_row : int or None
        The number of the row of its header, or 0 if there is none.
    decimal : {",", "."} or None
        Its decimal mark.
    rows : RowRanges or None
        The rows of its subjects.
    of_subjects : bool
        Whether its rows are subjects, and not the variables of a codebook.
    most_columns : int or None
        How many columns it may have; None for any number.
    """

    header_row: int | None = None
    decimal: Decimal | None = None
    rows: RowRanges | None = None
    of_subjects: bool = True
    most_columns: int | None = None

    def empty_rows(self) -> SheetRows:
        """Return the place to collect rows in, which keeps as many as are needed to find the header."""
        begin = self.header_row or 0
        if self.header_row == 0 and self.rows is not None:
            begin = self.rows.first
        return SheetRows(LOOKED_AT + begin, self.rows)

    def may_be_subject(self, number: int) -> bool:
        """Return whether nobody said that this row is no subject."""
        return self.rows is None or number in self.rows


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
    if header is None:
        header = find_header(rows.first, merged, options.header_row, options.rows, options.of_subjects)
    frame = rows.body(header.last)
    n_outside = rows.n_outside
    if options.rows is not None:
        n_below, frame = len(frame), _as_said(frame, options.rows)
        n_outside += n_below - len(frame)
    places = rows.columns
    named = [at for at, place in enumerate(places) if place in header.names or _has_values(frame, at)]
    frame, places = frame.iloc[:, named], [places[at] for at in named]
    frame.columns = pd.Index([header.names.get(place, "") for place in places], dtype=object)
    told = _merged_told(merged, frame, places)
    body = _body(frame, [_texts_at(row, places) for _, row in header.rows], options)
    if header.doubts or body.doubts:
        numbers = np.asarray(frame.index) + 2
        raise refusal([*header.doubts, *body.doubts], numbers[~body.mask].tolist(), numbers[body.mask].tolist())
    frame = frame[~body.mask] if body.mask.any() else frame
    commas, remarks = columns_with_comma(frame, options.decimal)
    notes = [_notes(header, place, at in commas) for at, place in enumerate(places)]
    remarks = [*header.remarks, *told, *body.remarks, *remarks]
    return TableRead(frame, remarks, notes, places, sorted(rows.beyond), n_outside)


def _body(frame: pd.DataFrame, headers: Sequence[Sequence[str]], options: SheetOptions) -> NoSubjects:
    """Return which rows below the header are no subjects; none if somebody said which rows are."""
    if options.rows is None:
        return rows_without_subjects(frame, headers, options.decimal, options.of_subjects)
    told = f"{len(frame):,} rows are read as subjects, as --rows {options.rows.text} says"
    return NoSubjects(np.zeros(len(frame), dtype=bool), [told])


def _as_said(frame: pd.DataFrame, rows: RowRanges) -> pd.DataFrame:
    """Return the rows that somebody said to be the subjects."""
    frame = frame[[label + 2 in rows for label in frame.index.tolist()]]
    if not len(frame):
        raise InputError(f"--rows {rows.text}: none of these rows below the header holds anything")
    return frame


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
    explained = header.explanations.get(place)
    description = " ".join(explained.split()) if explained else None
    return ColumnNotes(
        label=label, unit=unit, section=group, description=description, decimal="," if has_comma else None
    )
