"""Which rows of a table meet a condition."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any as Anything
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.command_words import name_in_condition
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.answers import Answer, all_of, any_of, compared, point
from clinclust.files.selection.cells import Cells, Reader
from clinclust.files.selection.condition import (
    All,
    Any,
    Comparison,
    Condition,
    IsMissing,
    Not,
    Operand,
    is_order,
    written,
)
from clinclust.files.selection.dates import DateColumn, date_of, looks_like_date
from clinclust.files.selection.literals import number_meant, number_or_nan
from clinclust.nearest import did_you_mean

__all__ = ["Matching", "Part"]

Mask = NDArray[np.bool_]
_COMPARE: Mapping[str, Callable[[Anything, Anything], Anything]] = {
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Part(NamedTuple):
    """A comparison that a condition makes."""

    comparison: Comparison
    cells: Cells
    n_rows: int
    """The rows that meet it."""

    @property
    def seeks_absent_value(self) -> bool:
        """Whether it asks for a value that no cell of the column is."""
        return self.comparison.sign == "==" and self.n_rows == 0 and self.comparison.right.kind != "name"

    def sentence(self) -> str:
        """Return how many rows meet it; if none does, what the column holds instead."""
        said = f"{written(self.comparison)} is met by {self.n_rows:,} rows"
        if self.n_rows:
            return said
        return f"{said} ({self.cells.name}: {self.cells.held()}){self.suggestion()}"

    def suggestion(self) -> str:
        """Return the value of the column that may be meant, if there is one that is almost the same."""
        text = self.comparison.right.text
        alike = [value for value in self.cells.counts if _folded(value) == _folded(text)]
        if alike:
            return f"; the table writes it {quoted(alike[0])}"
        return did_you_mean(text, list(self.cells.counts)) if self.cells.has_few_levels else ""


class Matching:
    """Evaluates a condition on a table.

    Of a missing value nothing is known, nor is its opposite: neither ``==`` nor ``!=``, with ``not`` or without, takes
    it. A value beyond a limit is compared where the answer is certain: ``>90`` is above 60, and may be above 100.
    Numbers and dates are compared as such, in the notation of their column; see `Cells`.

    Attributes
    ----------
    remarks : list of str
        How numbers and dates were read, and which cells could not be compared.
    unknown : bool (N,)
        Rows of which it is not known whether they meet the condition.
    has_opposites : bool
        Whether the condition asks for an opposite, by ``not`` or ``!=``.
    parts : list of Part
        The comparisons, in the order in which they were made.
    dates : list of DateColumn
        The dates that were compared.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._names = [str(name) for name in reader.read.frame.columns]
        self._known: dict[int, Cells] = {}
        self.remarks: list[str] = []
        self.unknown: Mask = np.zeros(len(reader.read.frame), dtype=bool)
        self.has_opposites = False
        self.parts: list[Part] = []
        self.dates: list[DateColumn] = []

    def of(self, condition: Condition) -> Mask:
        """Return where the rows meet the condition.

        Raises
        ------
        InputError
            If it names a column that is not there, or orders what has no order.
        """
        answer = self._answer(condition)
        self.unknown |= ~(answer.is_met | answer.is_not_met)
        return answer.is_met

    def _answer(self, condition: Condition) -> Answer:
        match condition:
            case All(parts):
                return all_of([self._answer(part) for part in parts])
            case Any(parts):
                return any_of([self._answer(part) for part in parts])
            case Not(part):
                self.has_opposites = True
                return self._answer(part).opposite()
            case IsMissing(operand):
                missing = self._column(operand, must=True).missing
                return Answer(missing.copy(), ~missing)
            case Comparison():
                return self._compared(condition)

    def _column(self, operand: Operand, must: bool) -> Cells:
        place = place_of_column(operand.text, self._names, self._reader.read.places)
        if isinstance(place, str):
            in_quotes = (
                f" If it is a text, put it in quotes: '{operand.text}'." if operand.kind == "name" and not must else ""
            )
            raise InputError(f"{place}{in_quotes} The columns are {listed(self._names)}")
        if place not in self._known:
            self._known[place] = self._reader.cells(place)
        return self._known[place]

    def _compared(self, asked: Comparison) -> Answer:
        if asked.sign == "!=":
            self.has_opposites = True
            return self._compared(Comparison(asked.left, "==", asked.right)).opposite()
        if asked.left.kind == "number" or (asked.left.kind == "text" and asked.left.text not in self._names):
            if asked.right.kind != "name":
                raise InputError(
                    f"it compares {quoted(asked.left.text)} with {quoted(asked.right.text)}: one of them must be "
                    "a column. Names with spaces stand in backticks: `Age at visit`"
                )
            return self._compared(Comparison(asked.right, _TURNED.get(asked.sign, asked.sign), asked.left))
        cells = self._column(asked.left, must=True)
        if asked.right.kind == "name":
            found = self._with_column(cells, asked.sign, self._column(asked.right, must=False))
        elif asked.right.kind == "number":
            found = self._with_number(cells, asked.sign, asked.right)
        else:
            found = self._with_text(cells, asked.sign, asked.right)
        self.parts.append(Part(asked, cells, int(found.is_met.sum())))
        return found

    def _with_number(self, cells: Cells, sign: str, operand: Operand) -> Answer:
        self._refuse_no_date(cells, sign, operand.text)
        if is_order(sign):
            cells.refuse_several_units()
        if operand.decimals and cells.marks.decimal == ",":
            raise _two_readings(cells, operand)
        number_asked, ranges = number_meant(operand.text, cells, in_quotes=operand.kind == "text"), cells.ranges
        answer = compared(ranges, sign, point(number_asked))
        self._tell_notation(cells)
        self._tell_limits(cells, ~answer.is_met & ~answer.is_not_met)
        if is_order(sign):
            self._tell_others(cells, ~np.isnan(ranges.low), "numbers")
        else:
            answer = Answer(answer.is_met, answer.is_not_met | np.isnan(ranges.low))
        return answer.where(~cells.missing)

    def _with_text(self, cells: Cells, sign: str, operand: Operand) -> Answer:
        text = operand.text.strip()
        if looks_like_date(text) and (is_order(sign) or cells.looks_like_dates):
            return self._with_date(cells, sign, text)
        self._refuse_no_date(cells, sign, text)
        if not is_order(sign):
            return Answer.of(np.asarray(cells.texts == text, dtype=bool)).where(~cells.missing)
        if np.isnan(number_or_nan(text)):
            raise InputError(
                f"{sign} compares numbers, or dates such as '2024-05-31', not {quoted(text)}; list the texts "
                "that are meant: in ('a', 'b')"
            )
        return self._with_number(cells, sign, Operand("text", text))

    def _refuse_no_date(self, cells: Cells, sign: str, text: str) -> None:
        """Raise InputError if dates are compared with a text of digits that is no date, such as a year alone."""
        if cells.looks_like_dates and any(map(str.isdigit, text)):
            name = name_in_condition(cells.name, cells.number)
            year = found[0] if (found := re.search(r"(?:19|20)[0-9]{2}", text)) else "2020"
            raise InputError(
                f"{quoted(cells.name)} holds dates, and {quoted(text)}, with which it is compared by {sign}, is none: "
                f"write a day in quotes, with the year first, such as {name} >= '{year}-01-31'; for a whole year write "
                f"{name} >= '{year}-01-01' and {name} <= '{year}-12-31'"
            )

    def _with_date(self, cells: Cells, sign: str, text: str) -> Answer:
        """Compare with a date. A date without a time means the whole day."""
        dates = self._dates_of(cells)
        asked = date_of(text, dates.order or self._reader.dates)
        if isinstance(asked, str):
            raise InputError(f"the date that {quoted(cells.name)} is compared with {asked.replace('holds', 'is', 1)}")
        has_time = ":" in text
        values = dates.moments if has_time else dates.days
        with np.errstate(invalid="ignore"):
            found = np.asarray(_COMPARE[sign](values, asked[1] if has_time else asked[0]), dtype=bool)
        if is_order(sign):
            self._tell_others(cells, ~np.isnan(dates.days), "dates")
        return Answer.of(found).where(~cells.missing)

    def _dates_of(self, cells: Cells) -> DateColumn:
        dates = cells.dates
        if isinstance(dates, str):
            raise InputError(f"{quoted(cells.name)} is compared with a date, but {dates}")
        if dates not in self.dates:
            self.dates.append(dates)
            if dates.order is not None:
                self._tell(f"dates of {quoted(cells.name)} with the year last are read with the {_FIRST[dates.order]}")
        return dates

    def _with_column(self, cells: Cells, sign: str, other: Cells) -> Answer:
        present = ~cells.missing & ~other.missing
        if cells.looks_like_dates and other.looks_like_dates:
            days = [self._dates_of(each) for each in (cells, other)]
            with np.errstate(invalid="ignore"):
                found = np.asarray(_COMPARE[sign](days[0].moments, days[1].moments), dtype=bool)
            return Answer.of(found).where(present)
        one, two = cells.ranges, other.ranges
        both = ~np.isnan(one.low) & ~np.isnan(two.low)
        answer = compared(one, sign, two)
        if is_order(sign):
            self._refuse_other_units(cells, other)
            self._tell_others(cells, both | ~present, f"numbers or dates like those in {quoted(other.name)}")
        else:
            texts = Answer.of(np.asarray(cells.texts == other.texts, dtype=bool))
            answer = Answer(
                np.where(both, answer.is_met, texts.is_met), np.where(both, answer.is_not_met, texts.is_not_met)
            )
        return answer.where(present)

    def _refuse_other_units(self, cells: Cells, other: Cells) -> None:
        for each in (cells, other):
            each.refuse_several_units()
            self._tell_notation(each)
        if cells.unit and other.unit and cells.unit.casefold() != other.unit.casefold():
            raise InputError(
                f"{quoted(cells.name)} is in {cells.unit}, and {quoted(other.name)} in {other.unit}: give both in one "
                "unit in the table"
            )

    def _tell_notation(self, cells: Cells) -> None:
        if cells.notation():
            self._tell(f"the numbers of {quoted(cells.name)} are read with {cells.notation()}")

    def _tell_limits(self, cells: Cells, is_unknown: Mask) -> None:
        """Tell of values beyond a limit of which the condition cannot be decided."""
        beyond = is_unknown & ~np.isnan(cells.ranges.low) & ~cells.missing
        if beyond.any():
            self._tell(
                f"of {beyond.sum():,} cells of {quoted(cells.name)} such as {quoted(cells.texts[beyond][0])} it is not "
                "known whether they meet the condition on it, and neither it nor its opposite takes them"
            )

    def _tell_others(self, cells: Cells, comparable: Mask, what: str) -> None:
        """Tell of cells that have a value, but none that can be ordered, and of those without one."""
        others = ~comparable & ~cells.missing
        if others.any():
            self._tell(
                f"{others.sum():,} cells of {quoted(cells.name)} are no {what} ({quoted(cells.texts[others][0])}), and "
                "do not meet the condition on it"
            )
        if cells.missing.any():
            self._tell(
                f"{cells.missing.sum():,} rows have no value in {quoted(cells.name)}, and do not meet the "
                "condition on it"
            )

    def _tell(self, remark: str) -> None:
        if remark not in self.remarks:
            self.remarks.append(remark)


_FIRST = {"day-first": "day first", "month-first": "month first"}


def _two_readings(cells: Cells, operand: Operand) -> InputError:
    """Return the error of a list such as ``(1,5)`` for a column with decimal commas."""
    one, two = operand.text, operand.decimals
    return InputError(
        f"{quoted(cells.name)} has decimal commas, so ({one},{two}) could be the number {one},{two} or the two numbers "
        f"{one} and {two}: write in ({one}, {two}) with a space for two numbers, or == {one},{two} for one"
    )


def _folded(text: str) -> str:
    return "".join(text.casefold().split())
