"""Which rows of a table meet a condition."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any as Anything

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.cell_text import canonical_text, number_of, numbers_of
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.layout.written_numbers import number_with
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.condition import All, Any, Comparison, Condition, IsMissing, Not, Operand, is_order
from clinclust.files.text_table import TableRead

__all__ = ["ISO_DATE", "Cells", "Matching"]

Mask = NDArray[np.bool_]
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?")
"""Dates and times whose order is that of their texts."""
_COMPARE: Mapping[str, Callable[[Anything, Anything], Anything]] = {
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Cells:
    """The texts of a column, where they are missing, and the numbers that they write."""

    def __init__(self, read: TableRead, place: int) -> None:
        notes = read.notes[place] if read.notes else None
        values = read.frame.iloc[:, place]
        missing = np.asarray(values.isna(), dtype=bool)
        texts = [canonical_text(value) for value in values.astype(object).where(~missing, "").tolist()]
        codes = set(notes.missing_codes) if notes else set()
        self.texts = np.array(texts, dtype=object)
        self.missing: Mask = missing | np.array([not text or text in codes for text in texts], dtype=bool)
        decimal = notes.decimal if notes else None
        self.numbers = numbers_of([number_with(text, decimal) for text in texts] if decimal else texts)
        self.name = str(read.frame.columns[place])


class Matching:
    """Evaluates a condition on a table.

    A missing value equals nothing, and is neither smaller nor larger than anything; ``!=`` and ``not`` are opposites.

    Attributes
    ----------
    remarks : list of str
        Which cells could not be compared.
    """

    def __init__(self, read: TableRead) -> None:
        self._read = read
        self._names = [str(name) for name in read.frame.columns]
        self._known: dict[int, Cells] = {}
        self._n_rows = len(read.frame)
        self.remarks: list[str] = []

    @property
    def looked_at(self) -> list[Cells]:
        """The columns that the condition has asked for so far."""
        return list(self._known.values())

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
        place = place_of_column(operand.text, self._names, self._read.places)
        if isinstance(place, str):
            in_quotes = (
                f" If it is a text, put it in quotes: '{operand.text}'." if operand.kind == "name" and not must else ""
            )
            raise InputError(f"--where: {place}{in_quotes} The columns are {listed(self._names)}")
        if place not in self._known:
            self._known[place] = Cells(self._read, place)
        return self._known[place]

    def _compared(self, asked: Comparison) -> Mask:
        if asked.sign == "!=":
            return ~self._compared(Comparison(asked.left, "==", asked.right))
        if asked.left.kind == "number" or (asked.left.kind == "text" and asked.left.text not in self._names):
            if asked.right.kind != "name":
                raise InputError(
                    f"--where compares {quoted(asked.left.text)} with {quoted(asked.right.text)}: one of them must be "
                    "a column. Names with spaces stand in backticks: `Age at visit`"
                )
            turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
            return self._compared(Comparison(asked.right, turned.get(asked.sign, asked.sign), asked.left))
        cells = self._column(asked.left, must=True)
        if asked.right.kind == "name":
            return self._with_column(cells, asked.sign, self._column(asked.right, must=False))
        if asked.right.kind == "number":
            return self._with_number(cells, asked.sign, number_of(asked.right.text))
        return self._with_text(cells, asked.sign, asked.right.text.strip())

    def _with_number(self, cells: Cells, sign: str, number: float) -> Mask:
        with np.errstate(invalid="ignore"):
            found = np.asarray(_COMPARE[sign](cells.numbers, number), dtype=bool)
        if is_order(sign):
            self._tell_others(cells, ~np.isnan(cells.numbers), "numbers")
        return np.asarray(found & ~cells.missing, dtype=bool)

    def _with_text(self, cells: Cells, sign: str, text: str) -> Mask:
        if not is_order(sign):
            return np.asarray(cells.texts == text, dtype=bool) & ~cells.missing
        if not np.isnan(number_of(text)):
            return self._with_number(cells, sign, number_of(text))
        if not ISO_DATE.fullmatch(text):
            raise InputError(
                f"--where: {sign} compares numbers, or dates such as '2024-05-31', not {quoted(text)}; list the texts "
                "that are meant: in ('a', 'b')"
            )
        are_dates = np.array([bool(ISO_DATE.fullmatch(cell)) for cell in cells.texts.tolist()], dtype=bool)
        others = ~are_dates & ~cells.missing
        if others.any():
            raise InputError(
                f"--where: {quoted(cells.name)} is compared with a date, but holds {quoted(cells.texts[others][0])} "
                f"({others.sum():,} such rows): write its dates as year-month-day"
            )
        found = np.asarray(_COMPARE[sign](cells.texts, text), dtype=bool)
        return np.asarray(found & are_dates & ~cells.missing, dtype=bool)

    def _with_column(self, cells: Cells, sign: str, other: Cells) -> Mask:
        both = ~np.isnan(cells.numbers) & ~np.isnan(other.numbers)
        found: Mask = np.zeros(self._n_rows, dtype=bool)
        found[both] = _COMPARE[sign](cells.numbers[both], other.numbers[both])
        present = ~cells.missing & ~other.missing
        rest = ~both & present
        if is_order(sign):
            dates = np.array(
                [
                    bool(ISO_DATE.fullmatch(a) and ISO_DATE.fullmatch(b))
                    for a, b in zip(cells.texts, other.texts, strict=True)
                ],
                dtype=bool,
            )
            self._tell_others(cells, both | dates | ~present, f"numbers or dates like those in {quoted(other.name)}")
            rest &= dates
        found[rest] = _COMPARE[sign](cells.texts[rest], other.texts[rest])
        return np.asarray(found & present, dtype=bool)

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
                f"{cells.missing.sum():,} rows have no value in {quoted(cells.name)}, and do not meet the "
                "condition on it"
            )
