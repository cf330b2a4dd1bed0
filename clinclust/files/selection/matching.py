"""Which rows of a table meet a condition."""

from __future__ import annotations

import re
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.arrays import BooleanArray

from clinclust.errors import InputError
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.command_words import name_in_condition
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.cells import Cells, Ranges, Reader, number_or_nan
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
from clinclust.nearest import did_you_mean

__all__ = ["Matching", "Part"]

Mask = NDArray[np.bool_]
_FEW_LEVELS = 10
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Part(NamedTuple):
    """A comparison that a condition makes, and the rows that meet it."""

    comparison: Comparison
    cells: Cells
    n_rows: int

    @property
    def seeks_absent_value(self) -> bool:
        """Whether it asks for a value that no cell of the column is."""
        return self.comparison.sign == "==" and self.n_rows == 0 and self.comparison.right.kind != "name"

    def sentence(self) -> str:
        """Return how many rows meet it; if none does, what the column holds instead."""
        said = f"{written(self.comparison)} is met by {self.n_rows:,} rows"
        return said if self.n_rows else f"{said} ({self.cells.name}: {self.cells.held()}){self.suggestion()}"

    def suggestion(self) -> str:
        """Return the value of the column that may be meant, if there is one that is almost the same."""
        text = self.comparison.right.text
        alike = [value for value in self.cells.counts if _folded(value) == _folded(text)]
        if alike:
            return f"; the table writes it {quoted(alike[0])}"
        return did_you_mean(text, list(self.cells.counts)) if len(self.cells.counts) <= _FEW_LEVELS else ""


class Matching:
    """Evaluates a condition on a table.

    Of a missing value nothing is known, nor is its opposite: neither ``==`` nor ``!=``, with ``not`` or without, takes
    it. A value beyond a limit is compared where the answer is certain: ``>90`` is above 60, and may be above 100.
    Numbers and dates are compared as such, in the notation of their column; see `Cells`. Answers are those of Kleene's
    logic, as pandas has it: met, not met, or not known.

    After a condition was evaluated, `remarks` say how numbers and dates were read, and which cells could not be
    compared; `unknown`, bool (N,), has the rows of which it is not known whether they meet the condition;
    `has_opposites` says whether it asks for one, by ``not`` or ``!=``; `parts` and `dates` are what was compared.
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
        """Return where the rows meet the condition; InputError if it names no column, or orders what has no order."""
        answer = self._answer(condition)
        self.unknown = np.asarray(answer.isna(), dtype=bool)
        self.remarks = list(dict.fromkeys(self.remarks))
        return answer.to_numpy(dtype=bool, na_value=False)

    def _answer(self, condition: Condition) -> BooleanArray:
        match condition:
            case All(parts):
                return reduce(and_, map(self._answer, parts))
            case Any(parts):
                return reduce(or_, map(self._answer, parts))
            case Not(part):
                self.has_opposites = True
                return ~self._answer(part)
            case IsMissing(operand):
                return pd.array(self._column(operand, must=True).missing, dtype="boolean")
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

    def _compared(self, asked: Comparison) -> BooleanArray:
        left, sign, right = asked.left, asked.sign, asked.right
        if sign == "!=":
            self.has_opposites = True
            return ~self._compared(Comparison(left, "==", right))
        if left.kind == "number" or (left.kind == "text" and left.text not in self._names):
            if right.kind != "name":
                raise InputError(
                    f"it compares {quoted(left.text)} with {quoted(right.text)}: one of them must be a column. Names "
                    "with spaces stand in backticks: `Age at visit`"
                )
            return self._compared(Comparison(right, _TURNED.get(sign, sign), left))
        cells = self._column(left, must=True)
        text = right.text.strip()
        if right.kind == "name":
            found = self._with_column(cells, sign, self._column(right, must=False))
        elif right.kind == "text" and looks_like_date(text) and (is_order(sign) or cells.looks_like_dates):
            found = self._with_date(cells, sign, text)
        elif cells.looks_like_dates and any(map(str.isdigit, text)):
            raise _no_date(cells, sign, text)
        elif right.kind == "text" and not is_order(sign):
            found = BooleanArray(np.asarray(cells.texts == text, dtype=bool), np.zeros(len(cells.texts), dtype=bool))
        else:
            found = self._with_number(cells, sign, right)
        met = found.to_numpy(dtype=bool, na_value=False) & ~cells.missing
        self.parts.append(Part(asked, cells, int(met.sum())))
        return BooleanArray(met, np.asarray(found.isna()) | cells.missing)

    def _with_number(self, cells: Cells, sign: str, asked: Operand) -> BooleanArray:
        text = asked.text.strip()
        if asked.kind == "text" and np.isnan(number_or_nan(text)):
            raise InputError(
                f"{sign} compares numbers, or dates such as '2024-05-31', not {quoted(text)}; list the texts "
                "that are meant: in ('a', 'b')"
            )
        if is_order(sign):
            cells.refuse_several_units()
        if asked.decimals and cells.marks.decimal == ",":
            one, two = text, asked.decimals
            raise InputError(
                f"{quoted(cells.name)} has decimal commas, so ({one},{two}) could be the number {one},{two} or the two "
                f"numbers {one} and {two}: write in ({one}, {two}) with a space for two numbers, or == {one},{two} for "
                "one"
            )
        number, ranges = cells.meant(text, in_quotes=asked.kind == "text"), cells.ranges
        answer = _compare(ranges, sign, Ranges.of(number))
        self.remarks += cells.notation()
        beyond = np.asarray(answer.isna()) & ~np.isnan(ranges.low) & ~cells.missing
        if beyond.any():
            self.remarks.append(
                f"of {beyond.sum():,} cells of {quoted(cells.name)} such as {quoted(cells.texts[beyond][0])} it is not "
                "known whether they meet the condition on it, and neither it nor its opposite takes them"
            )
        if is_order(sign):
            self._tell_others(cells, ~np.isnan(ranges.low), "numbers")
            return answer
        return BooleanArray(
            answer.to_numpy(dtype=bool, na_value=False), np.asarray(answer.isna()) & ~np.isnan(ranges.low)
        )

    def _with_date(self, cells: Cells, sign: str, text: str) -> BooleanArray:
        """Compare with a date. A date without a time means the whole day."""
        dates = self._dates_of(cells)
        asked = date_of(text, dates.order or self._reader.dates)
        if isinstance(asked, str):
            raise InputError(f"the date that {quoted(cells.name)} is compared with {asked.replace('holds', 'is', 1)}")
        if is_order(sign):
            self._tell_others(cells, ~np.isnan(dates.days), "dates")
        if ":" in text:
            return _compare(Ranges.of(dates.moments), sign, Ranges.of(asked[1]))
        return _compare(Ranges.of(dates.days), sign, Ranges.of(asked[0]))

    def _dates_of(self, cells: Cells) -> DateColumn:
        dates = cells.dates
        if isinstance(dates, str):
            raise InputError(f"{quoted(cells.name)} is compared with a date, but {dates}")
        self.dates.append(dates)
        self.remarks += dates.told(cells.name)
        return dates

    def _with_column(self, cells: Cells, sign: str, other: Cells) -> BooleanArray:
        if cells.looks_like_dates and other.looks_like_dates:
            one, two = (Ranges.of(self._dates_of(each).moments) for each in (cells, other))
            return _compare(one, sign, two)
        one, two = cells.ranges, other.ranges
        answer = _compare(one, sign, two)
        is_known = ~np.isnan(one.low) & ~np.isnan(two.low)
        missing = cells.missing | other.missing
        if is_order(sign):
            for each in (cells, other):
                each.refuse_several_units()
                self.remarks += each.notation()
            if cells.unit and other.unit and cells.unit.casefold() != other.unit.casefold():
                raise InputError(
                    f"{quoted(cells.name)} is in {cells.unit}, and {quoted(other.name)} in {other.unit}: give both in "
                    "one unit in the table"
                )
            self._tell_others(cells, is_known | missing, f"numbers or dates like those in {quoted(other.name)}")
            return answer
        met = np.where(is_known, answer.to_numpy(dtype=bool, na_value=False), cells.texts == other.texts)
        return BooleanArray(met.astype(bool), missing | (is_known & np.asarray(answer.isna())))

    def _tell_others(self, cells: Cells, comparable: Mask, what: str) -> None:
        """Tell of cells that have a value, but none that can be ordered, and of those without one."""
        others = ~comparable & ~cells.missing
        if others.any():
            self.remarks.append(
                f"{others.sum():,} cells of {quoted(cells.name)} are no {what} ({quoted(cells.texts[others][0])}), and "
                "do not meet the condition on it"
            )
        if cells.missing.any():
            self.remarks.append(
                f"{cells.missing.sum():,} rows have no value in {quoted(cells.name)}, and do not meet the condition "
                "on it"
            )


def _compare(one: Ranges, sign: str, other: Ranges) -> BooleanArray:
    """Return the answer to a comparison of numbers that are known, or known to lie in a range.

    It is known where it is the same for all numbers of both ranges. Nothing is known where a range is NaN.
    """
    if sign in (">", "<="):  # a > b is b < a, and a <= b is not b < a
        one, other = other, one
    with np.errstate(invalid="ignore"):
        if sign == "==":
            met = (one.low == one.high) & (other.low == other.high) & (one.low == other.low)
            not_met = (one.high < other.low) | (other.high < one.low)
        else:
            met, not_met = one.high < other.low, one.low >= other.high
    answer = BooleanArray(met, ~(met | not_met))
    return ~answer if sign in ("<=", ">=") else answer


def _no_date(cells: Cells, sign: str, text: str) -> InputError:
    """Return the error of dates that are compared with a text of digits that is no date, such as a year alone."""
    name = name_in_condition(cells.name, cells.number)
    year = found[0] if (found := re.search(r"(?:19|20)[0-9]{2}", text)) else "2020"
    return InputError(
        f"{quoted(cells.name)} holds dates, and {quoted(text)}, with which it is compared by {sign}, is none: write a "
        f"day in quotes, with the year first, such as {name} >= '{year}-01-31'; for a whole year write {name} >= "
        f"'{year}-01-01' and {name} <= '{year}-12-31'"
    )


def _folded(text: str) -> str:
    return "".join(text.casefold().split())
