"""Choose rows: those that meet a condition, and one for each subject."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.command_words import name_in_condition, option_in_shell
from clinclust.files.layout.decimal_marks import Decimal
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.cells import Cells, Reader
from clinclust.files.selection.condition import parsed
from clinclust.files.selection.dates import DateColumn, looks_like_date
from clinclust.files.selection.matching import Matching, Part
from clinclust.files.selection.row_choice import Keep, RowChoice
from clinclust.files.selection.rows_taken import RowCounts, RowsTaken
from clinclust.files.text_table import TableRead

__all__ = ["ChoiceError", "chosen_rows"]

Mask = NDArray[np.bool_]
_MOST_SUGGESTIONS = 20


class ChoiceError(InputError):
    """Rows cannot be chosen as somebody asked."""


def chosen_rows(read: TableRead, choice: RowChoice, decimal: Decimal | None = None) -> tuple[TableRead, RowsTaken]:
    """Return the table with the rows that were chosen and remarks on them, and how many these are.

    The choice that is returned says how ambiguous dates were read, if other dates of their column told it, so that it
    means the same in a table that does not tell it.

    Parameters
    ----------
    read : TableRead
    choice : RowChoice
    decimal : {",", "."} or None
        The decimal mark of the file, if somebody said it.

    Raises
    ------
    ChoiceError
        If a column is not there, a condition cannot be understood, or no row is left.
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
        read, more = _one_row_per(Reader(read, decimal, choice.dates), choice, choice.one_row_per)
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


def _column(reader: Reader, name: str, option: str) -> Cells:
    read = reader.read
    place = place_of_column(name, [str(each) for each in read.frame.columns], read.places)
    if isinstance(place, str):
        raise ChoiceError(f"{option}: {place} The columns are {listed(map(str, read.frame.columns))}")
    return reader.cells(place)


def _one_row_per(reader: Reader, choice: RowChoice, name: str) -> tuple[TableRead, list[DateColumn]]:
    read = reader.read
    subjects = _column(reader, name, "--one-row-per")
    if subjects.missing.any():
        condition = f"{name_in_condition(subjects.name, subjects.number)} is not missing"
        raise ChoiceError(
            f"--one-row-per: {quoted(subjects.name)} has no value in {subjects.missing.sum():,} rows (first: "
            f"{_rows(read, subjects.missing)}): whose rows these are is not known; leave them out: "
            f"{option_in_shell('--where', condition)}"
        )
    order = np.arange(len(read.frame))
    told: list[str] = []
    dates: list[DateColumn] = []
    if choice.by is not None:
        order, told, dates = _ordered(read, _column(reader, choice.by, "--by"), subjects, choice.keep)
    told += _alike(read, subjects)
    chosen = pd.Series(subjects.texts[order]).duplicated(keep=choice.keep).to_numpy()
    mask = np.zeros(len(order), dtype=bool)
    mask[order[~chosen]] = True
    how = f"the {choice.keep}" + (f" by {quoted(choice.by)}" if choice.by is not None else " in the file")
    told.append(f"{mask.sum():,} of {len(mask):,} rows are kept: {how} of each {quoted(subjects.name)}")
    return _with_rows(read, mask, told), dates


def _alike(read: TableRead, subjects: Cells) -> list[str]:
    """Return a remark on subjects that differ only by case or spaces: they may be one patient."""
    spellings: dict[str, list[str]] = {}
    for text in subjects.counts:
        spellings.setdefault("".join(text.casefold().split()), []).append(text)
    several = {text for texts in spellings.values() if len(texts) > 1 for text in texts}
    if not several:
        return []
    rows = np.array([text in several for text in subjects.texts], dtype=bool)
    return [
        f"{len(several):,} values of {quoted(subjects.name)} differ only by case or spaces from another one (rows "
        f"{_rows(read, rows)}), and each keeps a row of its own: if two are one patient, write them in one way in the "
        "table"
    ]


def _rows(read: TableRead, mask: Mask) -> str:
    labels = np.asarray(read.frame.index)[mask]
    return listed((int(label) + 2 for label in labels[:5]), 5 if len(labels) > 5 else len(labels))


def _ordered(
    read: TableRead, cells: Cells, subjects: Cells, keep: Keep
) -> tuple[NDArray[np.int64], list[str], list[DateColumn]]:
    """Return the rows in the order of a column, rows without a value where they are not kept; remarks; and dates."""
    present = ~cells.missing
    values, told, dates = _values_in_order(read, cells)
    ranks = np.where(present, values, np.inf if keep == "first" else -np.inf)
    if not present.all():
        told.append(
            f"{(~present).sum():,} rows have no value in {quoted(cells.name)}, and stay only for lack of another"
        )
    best = pd.Series(ranks).groupby(subjects.texts).transform("min" if keep == "first" else "max").to_numpy()
    tied = pd.Series(subjects.texts[(ranks == best)]).duplicated().sum()
    if tied:
        told.append(
            f"{tied:,} rows have the same {quoted(cells.name)} as the one that is kept: the {keep} in the file stays"
        )
    return np.argsort(ranks, kind="stable"), told, dates


def _values_in_order(read: TableRead, cells: Cells) -> tuple[NDArray[np.float64], list[str], list[DateColumn]]:
    """Return the numbers or the moments of the cells, remarks on how they were read, and the dates."""
    if cells.looks_like_dates:
        found = cells.dates
        if isinstance(found, str):
            raise ChoiceError(
                f"--by: {quoted(cells.name)} {found}, or leave out --by, and the order in the file decides"
            )
        first = "day" if found.order == "day-first" else "month"
        told = f"dates of {quoted(cells.name)} with the year last are read with the {first} first"
        return found.moments, [told] if found.order else [], [found]
    try:
        cells.refuse_several_units()
        numbers = cells.numbers
    except InputError as error:
        raise ChoiceError(f"--by: {error.at_command_line}") from error
    wrong = ~cells.missing & np.isnan(numbers)
    if wrong.any():
        no_dates = wrong & ~np.array(list(map(looks_like_date, cells.texts.tolist())), dtype=bool)
        wrong = no_dates if no_dates.any() else wrong
        raise ChoiceError(
            f"--by: {quoted(cells.name)} holds neither numbers nor dates such as 2024-05-31 throughout (first "
            f"otherwise, in row {_rows(read, wrong).partition(',')[0]}: {quoted(cells.texts[wrong][0])}): correct "
            "them, or leave out --by, and the order in the file decides"
        )
    notation = cells.notation()
    return numbers, [f"the numbers of {quoted(cells.name)} are read with {notation}"] if notation else [], []
