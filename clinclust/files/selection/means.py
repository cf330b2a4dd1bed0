"""The mean of the rows of each subject, in the columns that measure something or that somebody names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.chosen_columns import place_of_column
from clinclust.files.command_words import names_in_list, option_in_shell
from clinclust.files.dictionaries.missing_words import says_missing
from clinclust.files.listed import listed, quoted
from clinclust.files.number_notation import Marks, number_as_written, parts_of
from clinclust.files.selection.cells import Cells, Reader
from clinclust.files.selection.repeated_subjects import names_a_code, names_a_visit
from clinclust.files.selection.row_choice import ChoiceError, RowChoice
from clinclust.files.text_table import TableRead

__all__ = ["Subjects", "with_means"]

_NO_NUMBERS = "the cells hold no numbers"
_MOST_DIGITS = 40  # a number that needs more, such as 1e99, is computed, not measured
_FEW_VALUES = 20
_STEP_OF_SCALES = 2  # scales go in steps of a half at least
_YEARS = (1900, 2100)
_CONSECUTIVE = 1.1  # numbers of samples leave few gaps
_MISSING = re.compile(r"-?(?:7+|8+|9+)|-1|0")
_DAY = re.compile(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
_MOST_NAMED, _MOST_LISTED = 8, 40


class Subjects(NamedTuple):
    """Whose rows they are, in which order, and which of them stay."""

    of_rows: NDArray[np.int64]
    """The subject of each row, from 0 to S - 1."""
    order: NDArray[np.int64]
    """The order of the rows: the first of a subject comes first."""
    kept: NDArray[np.bool_]
    places: frozenset[int]
    """The columns that name the subjects and order their rows: these are never averaged."""


@dataclass(frozen=True)
class _Column:
    """A column whose cells with a value all hold a number alone."""

    name: str
    """What means it among the columns of its file; see `clinclust.files.chosen_columns.place_of_column`."""
    place: int
    cells: Cells
    scaled: dict[str, int]
    """By the text of a cell, its number times ``10 ** decimals``. Texts that stand for a missing value have none."""
    decimals: int

    def written(self, number: int, marks: Marks) -> str:
        """Return a number that was multiplied by ``10 ** decimals``, with these marks."""
        whole, rest = divmod(abs(number), 10**self.decimals)
        grouped = f"{whole:,}".replace(",", marks.thousands or "")
        decimals = f"{marks.decimal or '.'}{rest:0{self.decimals}d}" if self.decimals else ""
        return f"{'-' if number < 0 else ''}{grouped}{decimals}"

    @property
    def distinct(self) -> NDArray[np.float64]:
        """The different numbers, in rising order."""
        return np.unique(np.array([number / 10**self.decimals for number in self.scaled.values()], dtype=np.float64))


_Found = tuple[list[_Column], list[str]]


def with_means(
    reader: Reader, choice: RowChoice, stay: Sequence[int], subjects: Subjects
) -> tuple[TableRead, RowChoice, list[str]]:
    """Return the kept rows with the means of all rows of each subject, the choice with the columns, and remarks.

    Averaged are columns of numbers alone that have decimals or more than 20 different values, and are no identifiers,
    dates, years or codes; or those that the choice names. A mean has as many decimals as its column, and a half is
    rounded to the even digit: whole numbers stay whole, and each mean lies between the least and the greatest value. It
    is computed exactly, so that no order of rows changes it. Where all values of a subject are equal, its first cell
    with a value stays as it is written.

    Raises
    ------
    ChoiceError
        If columns that the choice names have no mean, or if there is none to average.
    """
    if choice.averaged is None:
        columns, told = _measurements(reader, subjects, stay)
        choice = replace(choice, averaged=tuple(column.name for column in columns))
    else:
        columns, told = _named(reader, choice.averaged, subjects, stay)
    names = _many_listed([column.name for column in columns])
    told.insert(0, f"the mean of all rows of each {quoted(choice.one_row_per)} is taken in {names or 'no column'}")
    frame = reader.read.frame
    if subjects.kept.all():
        return reader.read, choice, told
    averaged = frame[subjects.kept].copy()
    for column in columns:
        averaged.isetitem(column.place, _means(column, frame.iloc[:, column.place], subjects).array)
    averaged.attrs = frame.attrs
    return replace(reader.read, frame=averaged), choice, told


def _means(column: _Column, raw: pd.Series, subjects: Subjects) -> pd.Series:
    """Return the cells of one column for the kept rows."""
    codes, texts = pd.factorize(column.cells.texts)
    numbers = np.array([column.scaled.get(text) for text in texts.tolist()], dtype=object)[codes]
    rows = subjects.order[[numbers[row] is not None for row in subjects.order.tolist()]]
    whose, values = subjects.of_rows[rows], numbers[rows]
    n_subjects = int(subjects.of_rows.max()) + 1
    first = np.full(n_subjects, -1)
    first[whose[::-1]] = rows[::-1]
    several = np.zeros(n_subjects, dtype=bool)
    several[whose[values != numbers[first[whose]]]] = True
    totals = np.zeros(n_subjects, dtype=object)  # Python's own numbers: no sum overflows
    np.add.at(totals, whose, values)
    counts = np.bincount(whose, minlength=n_subjects).tolist()
    found, cells = [], raw.tolist()
    for row in np.flatnonzero(subjects.kept).tolist():
        subject = subjects.of_rows[row]
        cell = cells[first[subject] if first[subject] >= 0 else row]
        if several[subject]:
            mean, is_text = round(Fraction(totals[subject], counts[subject])), isinstance(cell, str)
            kind: Callable[[str], Any] = type(cell)  # a column of a parquet file keeps its type
            cell = kind(column.written(mean, column.cells.marks if is_text else Marks()))
        found.append(cell)
    return pd.Series(found, index=raw.index[subjects.kept], dtype=raw.dtype, name=raw.name)


def _named(reader: Reader, names: Sequence[str], subjects: Subjects, stay: Sequence[int]) -> _Found:
    """Return the columns that somebody named, of those that stay, and remarks on numbers that may be none."""
    read = reader.read
    headers = [str(name) for name in read.frame.columns]
    columns: dict[int, _Column] = {}
    problems, told = list[str](), list[str]()
    for name in names:
        place = place_of_column(name, headers, read.places)
        if isinstance(place, str):
            problems.append(place)
        elif place in subjects.places:
            problems.append(f"{quoted(name)} names the subjects or orders their rows, and has no mean")
        elif place in stay:
            found = _column(name, place, reader.cells(place))
            if isinstance(found, str):
                problems.append(f"{quoted(name)} cannot be averaged: {found}")
                continue
            columns[place] = found
            if _differs(found.cells, subjects) and (doubt := _may_be_missing(found.distinct)):
                told.append(f"{quoted(name)} is averaged, as --averaged says, but deserves a look: {doubt}")
    if problems:
        more = f" (and {len(problems) - 10} more columns)" if len(problems) > 10 else ""
        raise ChoiceError(
            f"--averaged: {'; '.join(problems[:10])}{more}. Leave them out, or correct them. The columns are "
            f"{listed(headers)}"
        )
    return list(columns.values()), told


def _measurements(reader: Reader, subjects: Subjects, stay: Sequence[int]) -> _Found:
    """Return the columns whose numbers measure something, of those that stay, and remarks on the others.

    A remark tells only of columns whose cells of one subject differ; the first cell says all of the others.
    """
    columns: list[_Column] = []
    reasons: dict[str, list[str]] = {}
    for place in stay:
        if place not in subjects.places:
            cells, name = reader.cells(place), _reference(reader.read, place)
            found = _column(name, place, cells)
            why = found if isinstance(found, str) else _why_no_measurement(found, subjects)
            if isinstance(found, _Column) and why is None:
                columns.append(found)
            elif _differs(cells, subjects):
                reasons.setdefault(str(why), []).append(name)
    told = [
        f"{_many_listed(names)} {'is' if len(names) == 1 else 'are'} not averaged, and the value of the first row "
        f"stays: {reason}"
        for reason, names in reasons.items()
    ]
    if not columns:
        raise ChoiceError(
            f"--keep mean averages measurements, and there are none among the columns ({'; '.join(told[:5])}). Name "
            "the columns to average with --averaged, or give --keep first or --keep last"
        )
    if reasons.keys() - {_NO_NUMBERS}:
        names = "A,B" if len(columns) > _MOST_NAMED else names_in_list(*(column.name for column in columns))
        told.append(
            f"to average other columns than --keep mean does, name all of them: {option_in_shell('--averaged', names)}"
        )
    return columns, told


def _why_no_measurement(column: _Column, subjects: Subjects) -> str | None:
    """Return why the mean of a column of numbers could mislead, or None."""
    cells, values = column.cells, column.distinct
    is_whole = column.decimals == 0
    if names_a_visit(cells.name) and is_whole:
        pairs = set(zip(subjects.of_rows.tolist(), cells.texts.tolist(), strict=True))
        if len(pairs) == len(cells.texts):
            return "the cells number the visits, or say when they were"
    if doubt := _may_be_missing(values):
        return doubt
    is_noted = cells.notes is not None and (cells.notes.levels or cells.notes.kind in ("nominal", "ordinal", "id"))
    halves = values * _STEP_OF_SCALES
    if is_noted or (values.size <= _FEW_VALUES and bool((halves == np.floor(halves)).all())):
        return f"few different values (at most {_FEW_VALUES}, or with levels), as of a scale or of codes"
    if is_whole and _YEARS[0] <= values[0] and values[-1] <= _YEARS[1]:
        return "calendar years"
    numbers_samples = len(cells.counts) == len(cells.texts) and np.ptp(values) <= _CONSECUTIVE * values.size
    are_codes = all(map(_DAY.fullmatch, column.scaled)) or any(re.match("0[0-9]", text) for text in column.scaled)
    if is_whole and (names_a_code(cells.name) or numbers_samples or are_codes):
        return "the cells seem to name, to date or to code something"
    return None


def _may_be_missing(values: NDArray[np.float64]) -> str | None:
    """Return that numbers such as 999 may stand for a missing value, if some lie far outside of all others.

    Far is farther from the others than these lie apart.
    """
    is_code = np.array([_MISSING.fullmatch(f"{value:.15g}") is not None for value in values], dtype=bool)
    others = values[~is_code]
    if others.size < 2:
        return None
    spread = others[-1] - others[0]
    far = values[is_code & ((values < others[0] - spread) | (values > others[-1] + spread))]
    if not far.size:
        return None
    shown = listed((f"{code:.15g}" for code in far), len(far))
    return (
        f"{shown} may stand for a missing value, and the mean would mix them: leave the cell empty, or correct it in "
        "the table"
    )


def _differs(cells: Cells, subjects: Subjects) -> bool:
    """Return whether the cells of one subject differ."""
    by_subject = pd.Series(pd.factorize(cells.texts)[0]).groupby(subjects.of_rows)
    return bool((by_subject.transform("min") != by_subject.transform("max")).any())


def _many_listed(names: Sequence[str]) -> str:
    """Return the names of columns in quotes: all, where a message can hold them, because each says what was done."""
    if len(names) > _MOST_LISTED:
        return listed(map(quoted, names), len(names))
    return ", ".join(map(quoted, names))


def _reference(read: TableRead, place: int) -> str:
    """Return what means the column of a place in its file: its name, if no other column has it."""
    headers = [str(name) for name in read.frame.columns]
    number = read.places[place] if read.places else place + 1
    n_before = headers[: place + 1].count(headers[place])
    ways = (headers[place], f"{headers[place]}#{n_before}", f"#{number}")
    return next(way for way in ways if place_of_column(way, headers, read.places) == place)


def _column(name: str, place: int, cells: Cells) -> _Column | str:
    """Return the numbers of a column, or why it cannot be averaged: a part of a sentence about several such columns.

    All cells with a value must hold a number alone: no unit, no flag, no limit such as ``<5``. Words and signs that say
    that a value is missing (``NA``, ``n.d.``, ``.``) are no values.
    """
    texts = [text for text in cells.counts if not says_missing(text)]
    if texts and cells.marks.is_guess and cells.decimal is None:
        example = next(text for text in texts if "," in text)
        return f"the comma in {quoted(example)} may be a decimal mark or keep thousands apart: say --decimal , or ."
    numbers: dict[str, Decimal] = {}
    for text in texts:
        parts = parts_of(text)
        if parts is not None and not parts.limit and not parts.unit:
            written = number_as_written(parts.number, cells.marks.decimal, cells.marks.thousands)
            if written is not None:
                numbers[text] = Decimal(written)
    strange = [text for text in texts if text not in numbers]
    if strange and not numbers:
        return _NO_NUMBERS
    if strange:
        n = sum(cells.counts[text] for text in strange)
        return (
            f"not all cells hold a number alone ({n:,} {'does' if n == 1 else 'do'} not, first {quoted(strange[0])}): "
            "write numbers alone in the table, and the unit in the header"
        )
    decimals = max((max(0, -int(number.as_tuple().exponent)) for number in numbers.values()), default=0)
    if max((number.adjusted() for number in numbers.values()), default=0) + decimals > _MOST_DIGITS:
        return f"the numbers have more than {_MOST_DIGITS} digits"
    scaled = {text: int(Fraction(number) * 10**decimals) for text, number in numbers.items()}
    return _Column(name, place, cells, scaled, decimals)
