"""Make the table of the subjects out of the rows of a sheet: below its header, without rows that are no subjects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.layout.above import unit_in_name
from clinclust.files.layout.below import headings, notes_below
from clinclust.files.layout.decimal_marks import Decimal, columns_with_comma
from clinclust.files.layout.doubts import Doubt, refusal
from clinclust.files.layout.header import Header, find_header
from clinclust.files.layout.header_groups import Area
from clinclust.files.layout.other_tables import filled_columns, repeated_headers, second_tables
from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.layout.sheet_rows import LOOKED_AT, SheetRows, cell, is_blank
from clinclust.files.layout.totals import Totals
from clinclust.files.listed import listed
from clinclust.files.text_table import TableRead
from clinclust.files.xlsx.references import letters_of

__all__ = ["SheetOptions", "sheet_table"]


@dataclass(frozen=True)
class SheetOptions:
    """What somebody said of a sheet."""

    header_row: int | None = None
    """The number of the row of its header, or 0 if there is none."""
    decimal: Decimal | None = None
    rows: RowRanges | None = None
    """The rows of its subjects."""
    of_subjects: bool = True
    """Whether its rows are subjects, and not the variables of a codebook."""
    most_columns: int | None = None
    """How many columns it may have; None for any number."""

    def empty_rows(self) -> SheetRows:
        """Return the place to collect rows in, which keeps as many as are needed to find the header."""
        begin = self.rows.first if self.header_row == 0 and self.rows is not None else self.header_row or 0
        return SheetRows(LOOKED_AT + begin, self.rows)

    def may_be_subject(self, number: int) -> bool:
        """Return whether nobody said that this row is no subject."""
        return self.rows is None or number in self.rows


@dataclass
class _NoSubjects:
    """Which rows below the header are no subjects (a mask), what to tell of these, and what to ask of others."""

    mask: NDArray[np.bool_]
    remarks: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def sheet_table(
    rows: SheetRows, options: SheetOptions, merged: Sequence[Area] = (), header: Header | None = None
) -> TableRead:
    """Return the table of a sheet, whose `header` may be known already.

    Raises
    ------
    InputError
        If the sheet is empty, has no row of the number that the options give, or if it is not certain which rows are
        subjects.
    """
    if not rows.first:
        raise InputError("the table is empty")
    if header is None:
        header = find_header(rows.first, merged, options.header_row, options.rows, options.of_subjects)
    frame, n_outside = rows.body(header.last), rows.n_outside
    if options.rows is not None:
        is_said = [label + 2 in options.rows for label in frame.index.tolist()]
        n_outside += len(frame) - sum(is_said)
        frame = frame[is_said]
        if not len(frame):
            raise InputError(f"--rows {options.rows.text}: none of these rows below the header holds anything")
    every = rows.columns
    named = [
        at
        for at, place in enumerate(every)
        if place in header.names or not all(map(is_blank, frame.iloc[:, at].tolist()))
    ]
    frame, places = frame.iloc[:, named], [every[at] for at in named]
    frame.columns = pd.Index([header.names.get(place, "") for place in places], dtype=object)
    body = _no_subjects(frame, [[cell(row, place) for place in places] for row in header.rows], options)
    if header.doubts or body.doubts:
        numbers = np.asarray(frame.index) + 2
        raise refusal([*header.doubts, *body.doubts], numbers[~body.mask].tolist(), numbers[body.mask].tolist())
    told = _merged_told(merged, frame, places)
    frame = frame[~body.mask] if body.mask.any() else frame
    commas, remarks = columns_with_comma(frame, options.decimal)
    notes = [_notes(header, place, at in commas) for at, place in enumerate(places)]
    remarks = [*header.remarks, *told, *body.remarks, *remarks]
    return TableRead(frame, remarks, notes, places, sorted(rows.beyond), n_outside)


def _no_subjects(frame: pd.DataFrame, headers: Sequence[Sequence[str]], options: SheetOptions) -> _NoSubjects:
    """Return which rows below the header are no subjects; none if somebody said which rows are.

    Among the rows of a codebook, headings and words of totals are usual.
    """
    found = _NoSubjects(np.zeros(len(frame), dtype=bool))
    if options.rows is not None:
        found.remarks.append(f"{len(frame):,} rows are read as subjects, as --rows {options.rows.text} says")
    if options.rows is not None or frame.shape[1] < 2 or not len(frame):
        return found
    found.mask, found.remarks, doubts = repeated_headers(frame, headers)
    _leave_out(found, *notes_below(frame, ~found.mask))
    if not options.of_subjects:
        return found
    kept = np.flatnonzero(~found.mask)
    totals = Totals(frame.iloc[kept], options.decimal, filled_columns(frame.iloc[kept]).always)
    certain, told = totals.found()
    found.mask[kept[certain]] = True
    found.remarks += told
    if certain.any():  # notes may stand above totals
        _leave_out(found, *notes_below(frame, ~found.mask))
    mask, told, asked = headings(frame, ~found.mask)
    _leave_out(found, mask, told)
    doubts += asked
    known = {row for doubt in doubts for row in doubt.rows}
    doubts += [doubt for doubt in second_tables(frame, headers, ~found.mask) if not known.issuperset(doubt.rows)]
    known = {row for doubt in doubts for row in doubt.rows}
    asked, told = totals.others((found.mask | np.isin(np.asarray(frame.index) + 2, list(known)))[kept])
    found.doubts = [*doubts, *asked]
    found.remarks += told
    return found


def _leave_out(found: _NoSubjects, mask: NDArray[np.bool_], told: Sequence[str]) -> None:
    found.mask |= mask
    found.remarks += told


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


def _notes(header: Header, place: int, has_comma: bool) -> ColumnNotes:
    name, group, unit = header.names.get(place, ""), header.groups.get(place), header.units.get(place)
    label = name.removeprefix(f"{group} - ") if group else None
    in_name = unit_in_name(label or name)
    if in_name is not None:
        label, unit = in_name[0], unit or in_name[1]
    description = " ".join(header.explanations.get(place, "").split()) or None
    return ColumnNotes(
        label=label, unit=unit, section=group, description=description, decimal="," if has_comma else None
    )
