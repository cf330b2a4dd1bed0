"""Which rows of a table meet a condition: the cells of a column as texts, numbers in its notation, and dates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import and_, eq, ge, gt, le, lt, or_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas.arrays import BooleanArray

from clinclust.arrays import Array, Mask
from clinclust.errors import InputError
from clinclust.files.cell_text import canonical_text, number_of, numbers_of
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.listed import listed, quoted
from clinclust.files.number_notation import (
    GROUPED_BY_POINT,
    DecimalMark,
    Marks,
    WrittenNumber,
    are_thousands,
    marks_of,
    number_as_written,
    parts_of,
)
from clinclust.files.selection.condition import (
    IS_MISSING,
    Comparison,
    Condition,
    Joined,
    Not,
    is_order,
    name_in_condition,
)
from clinclust.files.selection.dates import A_DAY, DateColumn, DateOrder, date_column, date_of, looks_like_date
from clinclust.files.text_table import TableRead
from clinclust.nearest import did_you_mean

_FEW_LEVELS = 10
_SIGNS = {"==": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


class Reader(NamedTuple):
    """A table, and how it writes numbers and dates, if the user said so."""

    read: TableRead
    decimal: DecimalMark | None = None
    dates: DateOrder | None = None

    def cells(self, name: str) -> Cells:
        """Return the cells of the column that a text means; InputError if there is none."""
        names = [str(each) for each in self.read.frame.columns]
        place = place_of_column(name, names, self.read.places)
        if isinstance(place, str):
            raise InputError(f"{place} The columns are {listed(names)}")
        return Cells(self, place)


class Cells:
    """The cells of a column: their canonical texts, object (N,), and which of them are missing, bool (N,)."""

    def __init__(self, reader: Reader, place: int) -> None:
        read, decimal = reader.read, reader.decimal
        notes = read.notes[place] if read.notes else None
        self.decimal, self.order_of_dates = decimal, reader.dates
        self.has_comma = decimal == "," or (notes is not None and notes.decimal == ",")
        self.others_have_comma = decimal == "," or any(each.decimal == "," for each in read.notes)
        values = read.frame.iloc[:, place]
        missing = np.asarray(values.isna(), dtype=bool)
        texts = [canonical_text(value) for value in values.astype(object).where(~missing, "").tolist()]
        codes = {"", *(notes.missing_codes if notes else ())}
        self.texts = np.array(texts, dtype=object)
        self.missing = missing | np.array([text in codes for text in texts], dtype=bool)
        self.name = str(read.frame.columns[place])
        self.number = read.places[place] if read.places else place + 1

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each text is in the column, without missing values, the most frequent first."""
        return Counter(dict(Counter(self.texts[~self.missing].tolist()).most_common()))

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The least and the greatest number that each cell may be: ``<5`` ends below 5. NaN: none, or with a unit."""
        if self.marks.is_guess and self.decimal is None:
            example = next(text for text in self.counts if "," in text)
            said = f"the comma in {quoted(self.name)} ({quoted(example)}) may be a decimal mark or keep thousands apart"
            raise InputError(f"{said}: say decimal=',' or decimal='.'")
        known = {text: self._bounds(parts) for text, parts in self._parts.items()}
        bounds = [known.get(text, (np.nan, np.nan)) for text in self.texts.tolist()]
        low, high = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
        return low, high

    def _bounds(self, parts: WrittenNumber) -> tuple[float, float]:
        number = self._number(parts.number, self.marks)
        if not parts.limit or np.isnan(number):
            return number, number
        end = -np.inf if {"<", "≤"} & set(parts.limit) else np.inf
        if not {"=", "≤", "≥"} & set(parts.limit):
            number = float(np.nextafter(number, end))
        return (end, number) if end < 0 else (number, end)

    @cached_property
    def are_words(self) -> NDArray[np.bool_]:
        """Which cells hold no digit, and so are certainly no number."""
        return np.array([not any(map(str.isdigit, text)) for text in self.texts.tolist()], dtype=bool)

    def _number(self, number: str, marks: Marks) -> float:
        written = number_as_written(number, marks.decimal, marks.thousands)
        return np.nan if written is None else number_of(written)

    def meant(self, text: str, *, in_quotes: bool) -> float:
        """Return the number that a condition gives: in quotes as the cells are written; else with a decimal point."""
        number, parts, marks = np.nan, parts_of(text), self.marks
        if in_quotes or "," in text:
            if parts is not None and not parts.limit and not parts.unit:
                number, own = self._number(parts.number, marks), marks_of([parts.number])
                if np.isnan(number) and not marks.decimal and not own.is_guess:
                    number = self._number(parts.number, own)
        elif not (marks.decimal and GROUPED_BY_POINT.fullmatch(text)):
            number = number_of(text)
        if np.isnan(number):
            raise InputError(
                f"{quoted(text)}, with which {quoted(self.name)} is compared, is no date and no number as its cells "
                "write them, or could be read in two ways: write it without a unit, in quotes as the cells are, or "
                "with a decimal point and nothing between its thousands"
            )
        return number

    def notation(self) -> list[str]:
        """Return how the numbers are read, in words; nothing if they are plain."""
        said = ["a decimal comma"] if self.marks.decimal else []
        said += [f"thousands kept apart by {self.marks.thousands!r}"] if self.marks.thousands else []
        return [f"the numbers of {quoted(self.name)} are read with {' and '.join(said)}"] if said else []

    @cached_property
    def _parts(self) -> dict[str, WrittenNumber]:
        """The parts of the texts that are a number, or a limit and a number, and nothing else."""
        found = {text: parts_of(text) for text in self.counts}
        return {text: parts for text, parts in found.items() if parts is not None and not parts.unit}

    @cached_property
    def marks(self) -> Marks:
        """The decimal mark and the separator of thousands of the column."""
        numbers = [parts.number for parts in self._parts.values()]
        if self.others_have_comma and are_thousands(numbers) and not any("," in number for number in numbers):
            return Marks(",", ".")
        marks = marks_of(numbers)
        is_plain = not np.isnan(numbers_of(list(self.counts))).any()
        if self.has_comma and (marks.is_guess or (marks == Marks() and not is_plain)):
            return Marks(",", None)
        return Marks(None, ",") if marks.is_guess and self.decimal == "." else marks

    @cached_property
    def dates(self) -> DateColumn:
        """The dates of the cells; InputError if they cannot be read."""
        dates = date_column(self.texts, ~self.missing, self.order_of_dates)
        if isinstance(dates, str):
            raise InputError(f"{quoted(self.name)} {dates}")
        return dates

    @cached_property
    def looks_like_dates(self) -> bool:
        """Whether all cells with a value are written as dates are, and there is one."""
        return bool(self.counts) and all(map(looks_like_date, self.counts))


class Matching:
    """Evaluates a condition on a table, by Kleene's logic.

    Of a missing value nothing is known: neither ``==`` nor ``!=``, with ``not`` or without, takes it. A value beyond a
    limit is compared where the answer is certain: ``>90`` is above 60, and may be above 100. Afterwards `unknown`,
    bool (N,), has the rows of which no answer is known; `dates` were compared.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[str, Cells] = {}
        self._parts: list[tuple[Comparison, Cells, Mask, Mask]] = []  # the rows that meet it, and the unknown ones
        self._remarks: list[str] = []
        self.unknown: Mask = np.zeros(len(reader.read.frame), dtype=bool)
        self.dates: list[DateColumn] = []

    def of(self, condition: Condition) -> Mask:
        """Return where the rows meet the condition; InputError if it names no column, or orders what has no order."""
        answer = self._answer(condition)
        self.unknown = np.asarray(answer.isna(), dtype=bool)
        return answer.to_numpy(dtype=bool, na_value=False)

    def _answer(self, condition: Condition) -> BooleanArray:
        match condition:
            case Joined(word, parts):
                joined: BooleanArray = reduce(and_ if word == "and" else or_, map(self._answer, parts))
                return joined
            case Not(part):
                return ~self._answer(part)
            case Comparison(sign="!="):
                return ~self._answer(replace(condition, sign="=="))
            case Comparison(column, sign):
                if column not in self._known:
                    self._known[column] = self._reader.cells(column)
                cells = self._known[column]
                if sign == IS_MISSING:
                    return BooleanArray(cells.missing, np.zeros_like(cells.missing))
                met, is_known = self._compared(cells, condition)
                met, unknown = met & ~cells.missing, ~is_known | cells.missing
                self._parts.append((condition, cells, met, unknown))
                return BooleanArray(met, unknown)

    def _compared(self, cells: Cells, asked: Comparison) -> tuple[Mask, Mask]:
        """Return which cells meet a comparison, and of which this is known."""
        sign, text, is_text = asked.sign, asked.value.text.strip(), asked.value.kind == "text"
        if is_text and looks_like_date(text) and (is_order(sign) or cells.looks_like_dates):
            return self._with_date(cells, sign, text)
        if cells.looks_like_dates and any(map(str.isdigit, text)):
            raise InputError(
                f"{quoted(cells.name)} holds dates, and is compared with {quoted(text)}, which is none: write days in "
                f"quotes, as in '2020-01-01' <= {name_in_condition(cells.name, cells.number)} <= '2020-12-31'"
            )
        if is_text and not is_order(sign):
            return np.asarray(cells.texts == text, dtype=bool), ~cells.missing
        (low, high), number = cells.bounds, cells.meant(text, in_quotes=is_text)
        if asked.value.decimals and cells.marks.decimal == ",":
            one, two = text, asked.value.decimals
            raise InputError(
                f"{quoted(cells.name)} has decimal commas: write in ({one}, {two}) with a space for two numbers, or == "
                f"{one},{two} for one"
            )
        self._remarks += cells.notation()
        met, is_known = _met(low, high, sign, number)
        return met, is_known if is_order(sign) else is_known | cells.are_words  # and not this number

    def _with_date(self, cells: Cells, sign: str, text: str) -> tuple[Mask, Mask]:
        """Compare with a date. A date without a time means the whole day."""
        dates = cells.dates
        self.dates.append(dates)
        self._remarks += dates.notation(cells.name)
        asked = date_of(text, dates.order or self._reader.dates)
        if isinstance(asked, str):
            raise InputError(f"the date with which {quoted(cells.name)} is compared {asked}")
        moments, moment = (dates.moments, asked) if ":" in text else (dates.moments // A_DAY, asked // A_DAY)
        return _met(moments, moments, sign, moment)

    def remarks(self) -> list[str]:
        """Return how numbers and dates were read, what no row meets, and how many rows are left out unknown."""
        unmet: dict[tuple[Cells, str], list[str]] = {}
        for asked, cells, met, _ in self._parts:
            if not met.any():
                unmet.setdefault((cells, asked.sign), []).append(asked.value.text)
        said = [*self._remarks, *(_unmet(cells, sign, texts) for (cells, sign), texts in unmet.items())]
        names = [quoted(cells.name) for _, cells, _, unknown in self._parts if (unknown & self.unknown).any()]
        if names:
            said.append(
                f"{self.unknown.sum():,} rows are left out because their cells in {listed(dict.fromkeys(names))} are "
                "empty or do not tell whether they meet the condition, such as a number with a unit; to keep those "
                "with an empty cell, add `or ... is missing`"
            )
        return list(dict.fromkeys(said))


def _unmet(cells: Cells, sign: str, texts: Sequence[str]) -> str:
    """Return that no row meets a comparison, and the levels of the column; many values may name subjects."""
    count = len(cells.counts)
    levels = list(cells.counts) if count <= _FEW_LEVELS else []
    held = listed(map(quoted, levels)) or (f"{count:,} different values" if count else "no value")
    hint = next((hint for text in texts if (hint := did_you_mean(text, levels))), "")
    return f"{quoted(cells.name)} {sign} {listed(map(quoted, texts))} is met by no row ({held}).{hint}".rstrip(".")


def _met(low: NDArray[np.float64], high: NDArray[np.float64], sign: str, asked: float) -> tuple[Mask, Mask]:
    """Return where numbers in a range meet a comparison, and where this is known: all of the range agree."""
    one, two = _SIGNS[sign](low, asked), _SIGNS[sign](high, asked)
    is_known = ~np.isnan(low) & (one == two)
    if sign == "==":
        is_known &= (low == high) | (high < asked) | (asked < low)
    return one & is_known, is_known
