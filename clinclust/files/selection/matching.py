"""Which rows of a table meet a condition."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any as Anything
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.listed import listed, quoted
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

    A missing value equals nothing, and is neither smaller nor larger than anything; ``!=`` and ``not`` are opposites.
    Numbers and dates are compared as such, in the notation of their column; see `Cells`.

    Attributes
    ----------
    remarks : list of str
        How numbers and dates were read, and which cells could not be compared.
    unknown : bool (N,)
        Rows without a value that can be compared, in a column that is compared.
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
        self.parts: list[Part] = []
        self.dates: list[DateColumn] = []

    def of(self, condition: Condition) -> Mask:
        """Return where the rows meet the condition.

        Raises
        ------
        InputError
            If it names a column that is not there, or orders what has no order.
        """
        match condition:
            case All(parts):
                return np.asarray(np.logical_and.reduce([self.of(part) for part in parts]), dtype=bool)
            case Any(parts):
                return np.asarray(np.logical_or.reduce([self.of(part) for part in parts]), dtype=bool)
            case Not(part):
                return ~self.of(part)
            case IsMissing(operand):
                return self._column(operand, must=True).missing.copy()
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

    def _compared(self, asked: Comparison) -> Mask:
        if asked.sign == "!=":
            return ~self._compared(Comparison(asked.left, "==", asked.right))
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
        self.parts.append(Part(asked, cells, int(found.sum())))
        return found

    def _with_number(self, cells: Cells, sign: str, operand: Operand) -> Mask:
        if is_order(sign):
            cells.refuse_several_units()
        number, numbers = number_meant(operand.text, cells, in_quotes=operand.kind == "text"), cells.numbers
        with np.errstate(invalid="ignore"):
            found = np.asarray(_COMPARE[sign](numbers, number), dtype=bool)
        self._tell_notation(cells)
        if is_order(sign):
            self._tell_others(cells, ~np.isnan(numbers), "numbers")
        self.unknown |= cells.missing | np.isnan(numbers)
        return np.asarray(found & ~cells.missing, dtype=bool)

    def _with_text(self, cells: Cells, sign: str, operand: Operand) -> Mask:
        text = operand.text.strip()
        if looks_like_date(text) and (is_order(sign) or cells.looks_like_dates):
            return self._with_date(cells, sign, text)
        if not is_order(sign):
            self.unknown |= cells.missing
            return np.asarray(cells.texts == text, dtype=bool) & ~cells.missing
        if np.isnan(number_or_nan(text)):
            raise InputError(
                f"{sign} compares numbers, or dates such as '2024-05-31', not {quoted(text)}; list the texts "
                "that are meant: in ('a', 'b')"
            )
        return self._with_number(cells, sign, Operand("text", text))

    def _with_date(self, cells: Cells, sign: str, text: str) -> Mask:
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
        self.unknown |= cells.missing
        return found

    def _dates_of(self, cells: Cells) -> DateColumn:
        dates = cells.dates
        if isinstance(dates, str):
            raise InputError(f"{quoted(cells.name)} is compared with a date, but {dates}")
        if dates not in self.dates:
            self.dates.append(dates)
            if dates.order is not None:
                self._tell(f"dates of {quoted(cells.name)} with the year last are read with the {_FIRST[dates.order]}")
        return dates

    def _with_column(self, cells: Cells, sign: str, other: Cells) -> Mask:
        present = ~cells.missing & ~other.missing
        self.unknown |= ~present
        if cells.looks_like_dates and other.looks_like_dates:
            days = [self._dates_of(each) for each in (cells, other)]
            with np.errstate(invalid="ignore"):
                return np.asarray(_COMPARE[sign](days[0].moments, days[1].moments), dtype=bool) & present
        both = ~np.isnan(cells.numbers) & ~np.isnan(other.numbers)
        found: Mask = np.zeros(len(present), dtype=bool)
        found[both] = _COMPARE[sign](cells.numbers[both], other.numbers[both])
        if is_order(sign):
            self._refuse_other_units(cells, other)
            self._tell_others(cells, both | ~present, f"numbers or dates like those in {quoted(other.name)}")
            self.unknown |= ~both
        else:
            rest = ~both & present
            found[rest] = cells.texts[rest] == other.texts[rest]
        return np.asarray(found & present, dtype=bool)

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


def _folded(text: str) -> str:
    return "".join(text.casefold().split())
