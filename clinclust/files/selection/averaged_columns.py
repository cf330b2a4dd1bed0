"""Which columns are averaged over the rows of a subject: those that somebody names, or those that measure something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.command_words import names_in_list, option_in_shell
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.averages import Column, WhyNot, differs_within
from clinclust.files.selection.cells import Cells, Reader
from clinclust.files.selection.plain_numbers import NO_NUMBERS, plain_numbers
from clinclust.files.selection.repeated_subjects import names_a_visit
from clinclust.files.text_table import TableRead

__all__ = ["Subjects", "columns_that_measure", "many_listed", "named_columns"]

_MOST_NAMED, _MOST_LISTED = 8, 40


class Subjects(NamedTuple):
    """Whose rows they are.

    Attributes
    ----------
    of_rows : int64 (N,)
        The subject of each row, from 0 to S - 1.
    places : frozenset of int
        The places of the columns that name the subjects and order their rows: these are never averaged.
    """

    of_rows: NDArray[np.int64]
    places: frozenset[int]


def named_columns(
    reader: Reader, names: Sequence[str], subjects: Subjects, stay: Sequence[int], why_not: WhyNot | None
) -> tuple[list[Column], list[str]]:
    """Return the columns that somebody named, of those that stay, and remarks on numbers that may be none.

    Raises
    ------
    InputError
        If some are not there, or hold more than numbers. The message names all of them.
    """
    read = reader.read
    headers = [str(name) for name in read.frame.columns]
    columns: dict[int, Column] = {}
    problems: list[str] = []
    for name in names:
        place = place_of_column(name, headers, read.places)
        if isinstance(place, str):
            problems.append(place)
        if isinstance(place, str) or (place not in stay and place not in subjects.places):
            continue
        found = _column(name, place, reader.cells(place))
        if place in subjects.places:
            problems.append(f"{quoted(name)} names the subjects or orders their rows, and has no mean")
        elif isinstance(found, str):
            problems.append(f"{quoted(name)} cannot be averaged: {found}")
        else:
            columns[place] = found
    if problems:
        more = f" (and {len(problems) - 10} more columns)" if len(problems) > 10 else ""
        columns_are = f"The columns are {listed(headers)}"
        raise InputError(f"{'; '.join(problems[:10])}{more}. Leave them out, or correct them. {columns_are}")
    told = []
    for column in columns.values():
        differs = differs_within(column.texts, subjects.of_rows)
        doubt = why_not(column, read, True) if why_not is not None and differs else None
        if doubt is not None:
            told.append(f"{quoted(column.name)} is averaged, as --averaged says, but deserves a look: {doubt}")
    return list(columns.values()), told


def columns_that_measure(
    reader: Reader, subjects: Subjects, stay: Sequence[int], why_not: WhyNot | None
) -> tuple[list[Column], list[str]]:
    """Return the columns whose numbers measure something, of those that stay, and remarks on the others.

    A remark tells only of columns whose cells of one subject differ; the first cell says all of the others.

    Raises
    ------
    InputError
        If there is none.
    """
    read = reader.read
    columns: list[Column] = []
    reasons: dict[str, list[str]] = {}
    for place in stay:
        if place in subjects.places:
            continue
        cells = reader.cells(place)
        name = _reference(read, place)
        found = _column(name, place, cells)
        if not isinstance(found, str):
            found = _why_no_measurement(found, read, cells, subjects, why_not) or found
        if not isinstance(found, str):
            columns.append(found)
        elif differs_within(cells.texts, subjects.of_rows):
            reasons.setdefault(found, []).append(name)
    told = [
        f"{many_listed(names)} {'is' if len(names) == 1 else 'are'} not averaged, and the value of "
        f"the first row stays: {reason}"
        for reason, names in reasons.items()
    ]
    if not columns:
        raise InputError(
            f"--keep mean averages measurements, and there are none among the columns{_why_none(told)}. Name the "
            "columns to average with --averaged, or give --keep first or --keep last"
        )
    if reasons.keys() - {NO_NUMBERS}:
        told.append(f"to average other columns than --keep mean does, name all of them: {_option(columns)}")
    return columns, told


def many_listed(names: Sequence[str]) -> str:
    """Return the names of columns in quotes: all, where a message can hold them, because each says what was done."""
    if len(names) > _MOST_LISTED:
        return listed(map(quoted, names), len(names))
    return ", ".join(map(quoted, names))


def _why_none(told: Sequence[str]) -> str:
    return f" ({'; '.join(told[:5])})" if told else ""


def _option(columns: Sequence[Column]) -> str:
    """Return the option that names these columns, if they are few enough to be read."""
    if len(columns) > _MOST_NAMED:
        return "--averaged A,B"
    return option_in_shell("--averaged", names_in_list(*(column.name for column in columns)))


def _column(name: str, place: int, cells: Cells) -> Column | str:
    numbers = plain_numbers(cells)
    return numbers if isinstance(numbers, str) else Column(name, place, cells.texts, numbers)


def _why_no_measurement(
    column: Column, read: TableRead, cells: Cells, subjects: Subjects, why_not: WhyNot | None
) -> str | None:
    if names_a_visit(cells.name) and not column.numbers.decimals and _tell_apart(cells, subjects):
        return "the cells number the visits, or say when they were"
    return why_not(column, read, False) if why_not else None


def _tell_apart(cells: Cells, subjects: Subjects) -> bool:
    """Return whether no two rows of a subject have the same cell."""
    pairs = set(zip(subjects.of_rows.tolist(), cells.texts.tolist(), strict=True))
    return len(pairs) == len(cells.texts)


def _reference(read: TableRead, place: int) -> str:
    """Return what means the column of a place in its file: its name, if no other column has it."""
    headers = [str(name) for name in read.frame.columns]
    number = read.places[place] if read.places else place + 1
    n_before = headers[: place + 1].count(headers[place])
    ways = (headers[place], f"{headers[place]}#{n_before}", f"#{number}")
    return next(way for way in ways if place_of_column(way, headers, read.places) == place)
