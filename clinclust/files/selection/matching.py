"""Which rows of a table meet a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, or_

import numpy as np
from numpy.typing import NDArray
from pandas.arrays import BooleanArray

from clinclust.errors import InputError
from clinclust.files.command_words import name_in_condition
from clinclust.files.listed import listed, quoted
from clinclust.files.selection.cells import Cells, Reader
from clinclust.files.selection.condition import IS_MISSING, Comparison, Condition, Joined, Not, is_order
from clinclust.files.selection.dates import A_DAY, DateColumn, date_of, looks_like_date
from clinclust.nearest import did_you_mean

__all__ = ["Matching"]

Mask = NDArray[np.bool_]
_FEW_LEVELS = 10
_SIGNS = {"==": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


class Matching:
    """Evaluates a condition on a table.

    Of a missing value nothing is known: neither ``==`` nor ``!=``, with ``not`` or without, takes it. A value beyond a
    limit is compared where the answer is certain: ``>90`` is above 60, and may be above 100. Answers are those of
    Kleene's logic. Afterwards `unknown`, bool (N,), has the rows of which no answer is known; `dates` were compared.
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
        self._remarks += dates.told(cells.name)
        asked = date_of(text, dates.order or self._reader.dates)
        if isinstance(asked, str):
            raise InputError(f"the date with which {quoted(cells.name)} is compared {asked}")
        moments, moment = (dates.moments, asked) if ":" in text else (dates.moments // A_DAY, asked // A_DAY)
        return _met(moments, moments, sign, moment)

    def told(self) -> list[str]:
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
    """Return that no row meets a comparison, and what the column holds: many values may name subjects, and are not."""
    count = len(cells.counts)
    levels = list(cells.counts) if count <= _FEW_LEVELS else []
    held = listed(map(quoted, levels)) or (f"{count:,} different values" if count else "no value")
    hint = next((hint for text in texts if (hint := did_you_mean(text, levels))), "")
    return f"{quoted(cells.name)} {sign} {listed(map(quoted, texts))} is met by no row ({held}).{hint}".rstrip(".")


def _met(low: NDArray[np.float64], high: NDArray[np.float64], sign: str, asked: float) -> tuple[Mask, Mask]:
    """Return where numbers that lie in a range meet a comparison, and where this is known: all of the range agree.

    Nothing is known where a range is NaN.
    """
    one, two = _SIGNS[sign](low, asked), _SIGNS[sign](high, asked)
    is_known = ~np.isnan(low) & (one == two)
    if sign == "==":
        is_known &= (low == high) | (high < asked) | (asked < low)
    return one & is_known, is_known
