"""Choose rows: those that meet a condition, and one for each subject."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.listed import argument, name_in_condition, quoted
from clinclust.files.number_notation import DecimalMark
from clinclust.files.selection.condition import parsed
from clinclust.files.selection.dates import DateColumn, looks_like_date
from clinclust.files.selection.matching import Cells, Matching, Reader
from clinclust.files.selection.row_choice import ChoiceError, RowChoice, RowCounts, RowsTaken
from clinclust.files.text_table import TableRead

__all__ = ["chosen_rows"]

Mask = NDArray[np.bool_]


def chosen_rows(read: TableRead, choice: RowChoice, decimal: DecimalMark | None = None) -> tuple[TableRead, RowsTaken]:
    """Return the table with the rows that were chosen and remarks on them, and how many these are.

    The choice that is returned says how dates were read, if others of their column told it, so that it means the same
    in a table that does not tell it. ChoiceError is raised if rows cannot be chosen so, or none is left.
    """
    counts = RowCounts(len(read.frame) + read.n_outside, outside=read.n_outside)
    dates: list[DateColumn] = []
    if choice.where is not None:
        matching = Matching(Reader(read, decimal, choice.dates))
        try:
            met = matching.of(parsed(choice.where))
        except InputError as error:
            raise ChoiceError(f"`where`: {error.at_command_line.removeprefix('`where`').lstrip(': ')}") from error
        n_met, where = int(met.sum()), quoted(choice.where)
        if not n_met:
            why = "; ".join(matching.told()) or "rows meet each part of it, and none meets all"
            raise ChoiceError(f"`where` {where} keeps none of {len(met):,} rows: {why}")
        told = [*matching.told(), f"{n_met:,} of {len(met):,} rows are kept, as `where` says ({where})"]
        read, dates = _with_rows(read, met, told), matching.dates
        counts = replace(counts, not_meeting=len(met) - n_met, unknown=int(matching.unknown.sum()))
    if choice.one_row_per is not None:
        try:
            kept, told, more = _one_row_per_subject(Reader(read, decimal, choice.dates), choice, choice.one_row_per)
        except InputError as error:
            raise ChoiceError(error.at_command_line) from error
        read, dates = _with_rows(read, kept, told), [*dates, *more]
        counts = replace(counts, further=int((~kept).sum()))
    derived = {column.order for column in dates if column.was_derived}
    if choice.dates is None and len(derived) == 1:
        choice = replace(choice, dates=derived.pop())
    return read, RowsTaken(choice, counts)


def _with_rows(read: TableRead, mask: Mask, told: list[str]) -> TableRead:
    frame = read.frame if mask.all() else read.frame[mask]
    return replace(read, frame=frame, remarks=[*read.remarks, *told])


def _one_row_per_subject(reader: Reader, choice: RowChoice, name: str) -> tuple[Mask, list[str], list[DateColumn]]:
    subjects, told, dates = reader.cells(name), list[str](), list[DateColumn]()
    if subjects.missing.any():
        condition = f"{name_in_condition(subjects.name, subjects.number)} is not missing"
        raise InputError(
            f"`one_row_per`: {quoted(subjects.name)} has no value in {subjects.missing.sum():,} rows (first: "
            f"{reader.read.frame.index[subjects.missing][0] + 2}): leave them out, "
            f"{argument('where', condition)}"
        )
    n_alike = len(subjects.counts) - len({"".join(text.casefold().split()) for text in subjects.counts})
    if n_alike:
        told.append(
            f"{n_alike:,} values of {quoted(subjects.name)} differ only by case or spaces from another one, and each "
            "keeps a row: if two are one patient, write them in one way in the table"
        )
    order = np.arange(len(subjects.texts))
    if choice.by is not None:
        cells = reader.cells(choice.by)
        dates = [cells.dates] if cells.looks_like_dates else []
        values = dates[0].moments if dates else _numbers(cells)
        order = np.argsort(np.where(cells.missing, -np.inf if choice.keep == "last" else np.inf, values), kind="stable")
        told += dates[0].told(cells.name) if dates else cells.notation()
        if n_without := int(cells.missing.sum()):
            told.append(f"{n_without:,} rows without {quoted(cells.name)} stay only for lack of another")
    kept = np.zeros(len(order), dtype=bool)
    kept[order[~pd.Series(subjects.texts[order]).duplicated(keep=choice.keep).to_numpy()]] = True
    by = "in the file" if choice.by is None else f"by {quoted(choice.by)}"
    of_each = f"the {choice.keep} {by} of each {quoted(subjects.name)}"
    return kept, [*told, f"{kept.sum():,} of {len(kept):,} rows are kept: {of_each}"], dates


def _numbers(cells: Cells) -> NDArray[np.float64]:
    """Return the numbers by which rows are ordered."""
    low, high = cells.bounds
    wrong = cells.texts[~cells.missing & ~(low == high)].tolist()
    if wrong:
        raise InputError(
            f"`by`: {quoted(cells.name)} holds neither numbers nor dates such as 2024-05-31 throughout "
            f"({quoted(min(wrong, key=looks_like_date))}): correct them, or leave out `by`, and the order in the file "
            "decides"
        )
    return low
