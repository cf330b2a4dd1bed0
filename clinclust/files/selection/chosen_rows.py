"""Choose rows: those that meet a condition, and one for each subject."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.layout.decimal_marks import Decimal
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.averages import WhyNot
from clinclust.files.selection.cells import Reader
from clinclust.files.selection.condition import parsed
from clinclust.files.selection.dates import DateColumn
from clinclust.files.selection.matching import Matching, Part
from clinclust.files.selection.one_row_per_subject import one_row_per_subject
from clinclust.files.selection.row_choice import ChoiceError, RowChoice
from clinclust.files.selection.rows_taken import RowCounts, RowsTaken
from clinclust.files.text_table import TableRead

__all__ = ["ChoiceError", "chosen_rows"]

Mask = NDArray[np.bool_]
_MOST_SUGGESTIONS = 20


def chosen_rows(
    read: TableRead,
    choice: RowChoice,
    decimal: Decimal | None = None,
    *,
    stay: Sequence[int] | None = None,
    why_not: WhyNot | None = None,
) -> tuple[TableRead, RowsTaken]:
    """Return the table with the rows that were chosen and remarks on them, and how many these are.

    The choice that is returned says how ambiguous dates were read, if other dates of their column told it, and which
    columns were averaged, so that it means the same in a table that does not tell it.

    Parameters
    ----------
    read : TableRead
    choice : RowChoice
    decimal : {",", "."} or None
        The decimal mark of the file, if somebody said it.
    stay : sequence of int, optional
        The places of the columns that the table keeps; by default all. Others are not averaged.
    why_not : callable, optional
        Says why the mean of a column of numbers could mislead.

    Raises
    ------
    ChoiceError
        If a column is not there, a condition cannot be understood, no row is left, or a column has no mean.
    """
    counts = RowCounts(len(read.frame) + read.n_outside, outside=read.n_outside)
    dates: list[DateColumn] = []
    if choice.where is not None:
        try:
            read, met, dates = _meeting(Reader(read, decimal, choice.dates), choice.where)
            counts = replace(counts, not_meeting=met.not_meeting, unknown=met.unknown)
        except ChoiceError:
            raise
        except InputError as error:
            said = error.at_command_line
            raise ChoiceError(said if said.startswith("--where") else f"--where: {said}") from error
    if choice.one_row_per is not None:
        n_before = len(read.frame)
        stay = range(read.frame.shape[1]) if stay is None else stay
        read, choice, more = one_row_per_subject(Reader(read, decimal, choice.dates), choice, stay, why_not)
        dates = [*dates, *more]
        counts = replace(counts, further=n_before - len(read.frame))
    return read, RowsTaken(_with_order_of_dates(choice, dates), counts)


def _with_order_of_dates(choice: RowChoice, dates: Sequence[DateColumn]) -> RowChoice:
    derived = {column.order for column in dates if column.was_derived}
    return replace(choice, dates=derived.pop()) if choice.dates is None and len(derived) == 1 else choice


def _meeting(reader: Reader, where: str) -> tuple[TableRead, RowCounts, list[DateColumn]]:
    """Return the rows that meet a condition, how many these are, and the dates that it compares."""
    matching, read = Matching(reader), reader.read
    found = matching.of(parsed(where))
    if not found.any():
        met = "; ".join(part.sentence() for part in matching.parts[:5])
        raise ChoiceError(
            f"--where {quoted(where)} keeps none of {len(found):,} rows: "
            f"{met or 'the columns that it asks for have values throughout, or none'}{_told_unknown(matching)}. "
            "Correct the condition"
        )
    told = [*matching.remarks, *_absent(matching), *_left_out_unknown(matching)]
    told.append(f"{found.sum():,} of {len(found):,} rows are kept, as --where says ({quoted(where)})")
    left_out = ~found
    counts = RowCounts(len(found), int(left_out.sum()), int((left_out & matching.unknown).sum()))
    return _with_rows(read, found, told), counts, matching.dates


def _told_unknown(matching: Matching) -> str:
    n = int(matching.unknown.sum())
    return f"; of {n:,} rows it is not known, because a value is missing or lies beyond a limit" if n else ""


def _absent(matching: Matching) -> list[str]:
    """Return a remark for each column on the values that a condition asks for, but no cell of the column is."""
    absent: dict[str, dict[str, Part]] = {}
    for part in matching.parts:
        if part.seeks_absent_value:
            absent.setdefault(part.cells.name, {})[part.comparison.right.text] = part
    return [
        f"no cell of {quoted(name)} is {listed(map(quoted, parts), len(parts))}{_first_suggestion(parts.values())}"
        for name, parts in absent.items()
    ]


def _first_suggestion(parts: Iterable[Part]) -> str:
    return next((said for part in islice(parts, _MOST_SUGGESTIONS) if (said := part.suggestion())), "")


def _left_out_unknown(matching: Matching) -> list[str]:
    """Return a remark on the rows that neither a condition nor its opposite takes, if it asks for an opposite."""
    n_unknown = int(matching.unknown.sum())
    if not n_unknown or not matching.has_opposites:
        return []
    names = list(dict.fromkeys(part.cells.name for part in matching.parts))
    return [
        f"{n_unknown:,} rows are left out because their cells in {listed(map(quoted, names), len(names))} are empty, "
        "or do not tell whether they meet the condition; to keep those with an empty cell, add `or ... is missing`"
    ]


def _with_rows(read: TableRead, mask: Mask, told: Sequence[str]) -> TableRead:
    frame = read.frame if mask.all() else read.frame[mask]
    return replace(read, frame=frame, remarks=[*read.remarks, *told])
