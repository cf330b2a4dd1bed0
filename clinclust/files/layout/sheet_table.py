"""Make the table of the subjects out of the rows of a sheet: below its header, without rows that are no subjects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.layout.above import unit_in_name
from clinclust.files.layout.header import Area, Header, find_header
from clinclust.files.layout.other_rows import headings, names_again, notes_below, second_tables
from clinclust.files.layout.totals import totals
from clinclust.files.listed import listed, quoted
from clinclust.files.number_notation import DecimalMark, columns_with_comma
from clinclust.files.text_table import (
    LOOKED_AT,
    Doubt,
    Finding,
    RowRanges,
    SheetRows,
    TableRead,
    cell,
    is_blank,
    letters_of,
    refusal,
    rows_named,
)


@dataclass(frozen=True)
class SheetOptions:
    """What the user said of a sheet; the rows of a codebook are not `of_subjects`."""

    header_row: int | None = None  # 0 for none
    decimal: DecimalMark | None = None
    rows: RowRanges | None = None  # of the subjects
    of_subjects: bool = True
    most_columns: int | None = None

    def empty_rows(self) -> SheetRows:
        """Return the place to collect rows in, which keeps as many as are needed to find the header."""
        begin = self.rows.first if self.header_row == 0 and self.rows is not None else self.header_row or 0
        return SheetRows(LOOKED_AT + begin, self.rows)

    def may_be_subject(self, number: int) -> bool:
        """Return whether the user did not exclude this row."""
        return self.rows is None or number in self.rows


def sheet_table(
    rows: SheetRows, options: SheetOptions, merged: Sequence[Area] = (), header: Header | None = None
) -> TableRead:
    """Return the table of a sheet, whose `header` may be known already; InputError if it is empty or uncertain."""
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
            raise InputError(f"rows={options.rows.text!r}: none of these rows below the header holds anything")
    every = rows.columns
    named = [
        at
        for at, place in enumerate(every)
        if place in header.names or not all(map(is_blank, frame.iloc[:, at].tolist()))
    ]
    frame, places = frame.iloc[:, named], [every[at] for at in named]
    frame.columns = pd.Index([header.names.get(place, "") for place in places], dtype=object)
    headers = [[cell(row, place) for place in places] for row in header.rows]
    kept, left_out = _subjects(frame, headers, header.doubts, options)
    remarks = [*header.remarks, *_of_merged(merged, frame, places), *left_out]
    frame = frame if kept.all() else frame[kept]
    commas, of_commas = columns_with_comma(frame, options.decimal)
    notes = [_notes(header, place, at in commas) for at, place in enumerate(places)]
    return TableRead(frame, remarks + of_commas, notes, places, sorted(rows.beyond), n_outside)


def _subjects(
    frame: pd.DataFrame, headers: Sequence[Sequence[str]], doubts: Sequence[Doubt], options: SheetOptions
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows below the header are subjects, and remarks on the others; if in doubt, refuse.

    Among the rows of a codebook, headings and words of totals are usual.
    """
    kept, numbers = np.ones(len(frame), dtype=bool), np.asarray(frame.index) + 2
    looks: list[Callable[[], list[Finding]]] = []
    remarks, asked = list[str](), list[Finding]()
    if options.rows is not None:
        remarks.append(f"{len(frame):,} rows are read as subjects, as rows={options.rows.text!r} says")
    elif frame.shape[1] > 1:
        looks = [lambda: names_again(frame, kept, headers), lambda: notes_below(frame, kept)]
        if options.of_subjects:
            looks += [lambda: totals(frame, kept, options.decimal), looks[1]]  # notes may be above totals
            looks += [lambda: headings(frame, kept), lambda: second_tables(frame, kept)]
    for look in looks:
        for finding in look():
            if not finding.is_certain:
                asked.append(finding)
            elif finding.places:
                kept[finding.places] = False
                remarks.append(f"{_said(finding.what, finding.places, frame)}, left out")
    known, every = set[int](), list(doubts)
    for finding in sorted(asked, key=lambda finding: -len(finding.places)):
        places = [at for at in finding.places if kept[at]]
        if not known.issuperset(places):
            every.append(Doubt(_said(finding.what, places, frame), tuple(numbers[places].tolist())))
        known.update(places)
    if every:
        raise refusal(every, numbers[kept].tolist(), numbers[~kept].tolist())
    return kept, remarks


def _said(what: str, places: Sequence[int], frame: pd.DataFrame) -> str:
    numbers = (np.asarray(frame.index)[places] + 2).tolist()
    texts = [next(text.strip() for text in frame.iloc[at].tolist() if not is_blank(text)) for at in places[:5]]
    return f"{rows_named(numbers)} ({listed(map(quoted, texts), len(places))}): {what}"


def _of_merged(merged: Sequence[Area], frame: pd.DataFrame, places: Sequence[int]) -> list[str]:
    if not merged or not len(frame):
        return []
    first, last, width = frame.index[0] + 2, frame.index[-1] + 2, max(places, default=0)
    inside = [
        f"{letters_of(left)}{top}:{letters_of(right)}{bottom}"
        for top, left, bottom, right in merged
        if first <= top <= last and right <= width
    ]
    value = "the value counts for the first cell only: unmerge them, and write the value into each cell"
    return [f"merged cells ({listed(inside)}): {value}"] if inside else []


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
