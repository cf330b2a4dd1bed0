"""Choose one row for each subject: the first or last, or the first with the means of all its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.command_words import name_in_condition, option_in_shell
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.averaged_columns import Subjects, columns_that_measure, many_listed, named_columns
from clinclust.files.selection.averages import WhyNot, with_means
from clinclust.files.selection.cells import Cells, Reader
from clinclust.files.selection.dates import DateColumn, looks_like_date
from clinclust.files.selection.row_choice import ChoiceError, RowChoice
from clinclust.files.text_table import TableRead

__all__ = ["one_row_per_subject"]

Mask = NDArray[np.bool_]
Order = NDArray[np.int64]
FirstOrLast = Literal["first", "last"]


def one_row_per_subject(
    reader: Reader, choice: RowChoice, stay: Sequence[int], why_not: WhyNot | None
) -> tuple[TableRead, RowChoice, list[DateColumn]]:
    """Return the table with one row of each subject, the choice with what the table told of it, and the dates.

    Parameters
    ----------
    reader : Reader
    choice : RowChoice
        It must name the column of the subjects.
    stay : sequence of int
        The places of the columns that the table keeps; others are not averaged.
    why_not : callable or None
        Says why the mean of a column of numbers could mislead.

    Raises
    ------
    ChoiceError
        If a column is not there, has no value in some rows, cannot be ordered, or has no mean.
    """
    assert choice.one_row_per is not None
    read = reader.read
    subjects = _subjects(reader, choice.one_row_per)
    order = np.arange(len(read.frame))
    told: list[str] = []
    dates: list[DateColumn] = []
    which: FirstOrLast = "last" if choice.keep == "last" else "first"
    if choice.by is not None:
        order, told, dates = _ordered(read, _column(reader, choice.by, "--by"), subjects, which)
    told += _alike(read, subjects)
    chosen = pd.Series(subjects.texts[order]).duplicated(keep=which).to_numpy()
    kept = np.zeros(len(order), dtype=bool)
    kept[order[~chosen]] = True
    how = f"the {which}" + (f" by {quoted(choice.by)}" if choice.by is not None else " in the file")
    told.append(f"{kept.sum():,} of {len(kept):,} rows are kept: {how} of each {quoted(subjects.name)}")
    if choice.keep == "mean":
        averaged, choice, more = _averaged(reader, choice, stay, why_not, kept, order)
        return _with_remarks(averaged, [*told, *more]), choice, dates
    frame = read.frame if kept.all() else read.frame[kept]
    return _with_remarks(replace(read, frame=frame), told), choice, dates


def _with_remarks(read: TableRead, told: Sequence[str]) -> TableRead:
    return replace(read, remarks=[*read.remarks, *told])


def _averaged(
    reader: Reader, choice: RowChoice, stay: Sequence[int], why_not: WhyNot | None, kept: Mask, order: Order
) -> tuple[TableRead, RowChoice, list[str]]:
    """Return the kept rows with the means of all rows of each subject, the choice with the columns, and remarks."""
    assert choice.one_row_per is not None
    name_places = {_place(reader, choice.one_row_per, "--one-row-per")}
    if choice.by is not None:
        name_places.add(_place(reader, choice.by, "--by"))
    whose = pd.factorize(reader.cells(_place(reader, choice.one_row_per, "--one-row-per")).texts)[0]
    subjects = Subjects(whose, frozenset(name_places))
    try:
        if choice.averaged is None:
            columns, told = columns_that_measure(reader, subjects, stay, why_not)
            choice = replace(choice, averaged=tuple(column.name for column in columns))
        else:
            columns, told = named_columns(reader, choice.averaged, subjects, stay, why_not)
    except InputError as error:
        said = error.at_command_line
        raise ChoiceError(said if said.startswith("--keep") else f"--averaged: {said}") from error
    names = many_listed([column.name for column in columns])
    told.insert(0, f"the mean of all rows of each {quoted(choice.one_row_per)} is taken in {names or 'no column'}")
    return with_means(reader.read, kept, whose, order, columns), choice, told


def _place(reader: Reader, name: str, option: str) -> int:
    read = reader.read
    place = place_of_column(name, [str(each) for each in read.frame.columns], read.places)
    if isinstance(place, str):
        raise ChoiceError(f"{option}: {place} The columns are {listed(map(str, read.frame.columns))}")
    return place


def _column(reader: Reader, name: str, option: str) -> Cells:
    return reader.cells(_place(reader, name, option))


def _subjects(reader: Reader, name: str) -> Cells:
    """Return the cells of the column that says whose rows they are; every row must have one."""
    read = reader.read
    subjects = _column(reader, name, "--one-row-per")
    if subjects.missing.any():
        condition = f"{name_in_condition(subjects.name, subjects.number)} is not missing"
        raise ChoiceError(
            f"--one-row-per: {quoted(subjects.name)} has no value in {subjects.missing.sum():,} rows (first: "
            f"{_rows(read, subjects.missing)}): whose rows these are is not known; leave them out: "
            f"{option_in_shell('--where', condition)}"
        )
    return subjects


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
    read: TableRead, cells: Cells, subjects: Cells, keep: FirstOrLast
) -> tuple[Order, list[str], list[DateColumn]]:
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
