"""Choose rows: those that meet a condition, and one for each subject."""

from __future__ import annotations

from collections.abc import Sequence
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
from clinclust.files.selection.means import Subjects, with_means
from clinclust.files.selection.row_choice import ChoiceError, RowChoice
from clinclust.files.selection.rows_taken import RowCounts, RowsTaken
from clinclust.files.text_table import TableRead

__all__ = ["ChoiceError", "chosen_rows"]

Mask = NDArray[np.bool_]
_MOST_SUGGESTIONS = 20


def chosen_rows(
    read: TableRead, choice: RowChoice, decimal: Decimal | None = None, *, stay: Sequence[int] | None = None
) -> tuple[TableRead, RowsTaken]:
    """Return the table with the rows that were chosen and remarks on them, and how many these are.

    The choice that is returned says how ambiguous dates were read, if other dates of their column told it, and which
    columns were averaged, so that it means the same in a table that does not tell it.

    `stay` are the places of the columns that the table keeps, by default all; others are not averaged.

    Raises
    ------
    ChoiceError
        If a column is not there, a condition cannot be understood, no row is left, or a column has no mean.
    """
    counts = RowCounts(len(read.frame) + read.n_outside, outside=read.n_outside)
    dates: list[DateColumn] = []
    if choice.where is not None:
        matching = Matching(Reader(read, decimal, choice.dates))
        try:
            met = matching.of(parsed(choice.where))
        except InputError as error:
            said = error.at_command_line
            raise ChoiceError(said if said.startswith("--where") else f"--where: {said}") from error
        counts = replace(counts, not_meeting=int((~met).sum()), unknown=int((~met & matching.unknown).sum()))
        read = _with_rows(read, met, _told_of_condition(choice.where, matching, met))
        dates = matching.dates
    if choice.one_row_per is not None:
        n_before = len(read.frame)
        stay = range(read.frame.shape[1]) if stay is None else stay
        read, choice, more = _one_row_per_subject(Reader(read, decimal, choice.dates), choice, stay)
        dates = [*dates, *more]
        counts = replace(counts, further=n_before - len(read.frame))
    derived = {column.order for column in dates if column.was_derived}
    if choice.dates is None and len(derived) == 1:
        choice = replace(choice, dates=derived.pop())
    return read, RowsTaken(choice, counts)


def _with_rows(read: TableRead, mask: Mask, told: Sequence[str]) -> TableRead:
    frame = read.frame if mask.all() else read.frame[mask]
    return replace(read, frame=frame, remarks=[*read.remarks, *told])


def _told_of_condition(where: str, matching: Matching, met: Mask) -> list[str]:
    """Return what a condition did with the rows.

    Raises
    ------
    ChoiceError
        If no row meets it.
    """
    n_unknown = int(matching.unknown.sum())
    if not met.any():
        parts = "; ".join(part.sentence() for part in matching.parts[:5])
        unknown = (
            "" if not n_unknown else f"; of {n_unknown:,} rows it is not known, because a value is missing or lies "
        )
        unknown += "beyond a limit" if n_unknown else ""
        held = parts or "the columns that it asks for have values throughout, or none"
        raise ChoiceError(
            f"--where {quoted(where)} keeps none of {len(met):,} rows: {held}{unknown if n_unknown else ''}. Correct "
            "the condition"
        )
    told = [*matching.remarks]
    absent: dict[str, dict[str, Part]] = {}
    for part in matching.parts:
        if part.seeks_absent_value:
            absent.setdefault(part.cells.name, {})[part.comparison.right.text] = part
    for name, sought in absent.items():
        hint = next((said for part in islice(sought.values(), _MOST_SUGGESTIONS) if (said := part.suggestion())), "")
        told.append(f"no cell of {quoted(name)} is {listed(map(quoted, sought), len(sought))}{hint}")
    if n_unknown and matching.has_opposites:
        names = list(dict.fromkeys(part.cells.name for part in matching.parts))
        told.append(
            f"{n_unknown:,} rows are left out because their cells in {listed(map(quoted, names), len(names))} are "
            "empty, or do not tell whether they meet the condition; to keep those with an empty cell, add `or ... is "
            "missing`"
        )
    return [*told, f"{met.sum():,} of {len(met):,} rows are kept, as --where says ({quoted(where)})"]


def _one_row_per_subject(
    reader: Reader, choice: RowChoice, stay: Sequence[int]
) -> tuple[TableRead, RowChoice, list[DateColumn]]:
    """Return the table with one row of each subject, the choice with what the table told of it, and the dates."""
    assert choice.one_row_per is not None
    read, last = reader.read, choice.keep == "last"
    subjects = _cells(reader, choice.one_row_per, "--one-row-per")
    if subjects.missing.any():
        condition = f"{name_in_condition(subjects.name, subjects.number)} is not missing"
        raise ChoiceError(
            f"--one-row-per: {quoted(subjects.name)} has no value in {subjects.missing.sum():,} rows (first: "
            f"{_rows(read, subjects.missing)}): whose rows these are is not known; leave them out: "
            f"{option_in_shell('--where', condition)}"
        )
    order, told, dates = np.arange(len(read.frame)), list[str](), list[DateColumn]()
    whose = pd.factorize(subjects.texts)[0]
    if choice.by is not None:
        cells = _cells(reader, choice.by, "--by")
        values, told, dates = _values_in_order(read, cells)
        ranks = np.where(cells.missing, -np.inf if last else np.inf, values)
        order = np.argsort(ranks, kind="stable")
        if cells.missing.any():
            told.append(
                f"{cells.missing.sum():,} rows have no value in {quoted(cells.name)}, and stay only for lack of another"
            )
        best = pd.Series(ranks).groupby(whose).transform("max" if last else "min").to_numpy()
        if tied := int(pd.Series(whose[ranks == best]).duplicated().sum()):
            told.append(
                f"{tied:,} rows have the same {quoted(cells.name)} as the one that is kept: the "
                f"{'last' if last else 'first'} in the file stays"
            )
    kept = np.zeros(len(order), dtype=bool)
    kept[order[~pd.Series(whose[order]).duplicated(keep="last" if last else "first").to_numpy()]] = True
    by = f" by {quoted(choice.by)}" if choice.by is not None else " in the file"
    told += _alike(read, subjects)
    told.append(
        f"{kept.sum():,} of {len(kept):,} rows are kept: the {'last' if last else 'first'}{by} of each "
        f"{quoted(subjects.name)}"
    )
    if choice.keep != "mean":
        return _with_rows(read, kept, told), choice, dates
    places = frozenset(_place(reader, name, "--by") for name in (choice.one_row_per, choice.by) if name is not None)
    averaged, choice, more = with_means(reader, choice, stay, Subjects(whose, order, kept, places))
    return replace(averaged, remarks=[*read.remarks, *told, *more]), choice, dates


def _place(reader: Reader, name: str, option: str) -> int:
    read = reader.read
    place = place_of_column(name, [str(each) for each in read.frame.columns], read.places)
    if isinstance(place, str):
        raise ChoiceError(f"{option}: {place} The columns are {listed(map(str, read.frame.columns))}")
    return place


def _cells(reader: Reader, name: str, option: str) -> Cells:
    return reader.cells(_place(reader, name, option))


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


def _values_in_order(read: TableRead, cells: Cells) -> tuple[NDArray[np.float64], list[str], list[DateColumn]]:
    """Return the numbers or the moments of the cells, remarks on how they were read, and the dates."""
    if cells.looks_like_dates:
        dates = cells.dates
        if isinstance(dates, str):
            raise ChoiceError(
                f"--by: {quoted(cells.name)} {dates}, or leave out --by, and the order in the file decides"
            )
        return dates.moments, dates.told(cells.name), [dates]
    try:
        cells.refuse_several_units()
        numbers = np.where(cells.ranges.low == cells.ranges.high, cells.ranges.low, np.nan)
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
    return numbers, cells.notation(), []
