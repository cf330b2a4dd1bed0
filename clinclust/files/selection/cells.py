"""The cells of a column as a condition asks for them: as texts, as numbers in its notation, and as dates."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.cell_text import canonical_text, number_of, numbers_of
from clinclust.files.chosen_columns import place_of_column
from clinclust.files.flags import Marked, without_flags
from clinclust.files.layout.decimal_marks import Decimal
from clinclust.files.limits_in_words import limits_in_words
from clinclust.files.listed import listed, quoted
from clinclust.files.number_notation import (
    GROUPED_BY_POINT,
    Marks,
    WrittenNumber,
    are_flags,
    are_thousands,
    marks_of,
    number_as_written,
    parts_of,
    unit_key,
)
from clinclust.files.selection.dates import DateColumn, DateOrder, date_column, looks_like_date
from clinclust.files.text_table import TableRead

__all__ = ["Cells", "Reader"]

Floats = NDArray[np.float64]


class Reader(NamedTuple):
    """A table, and what was said of how it writes numbers and dates."""

    read: TableRead
    decimal: Decimal | None = None
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
        self.has_comma_beside = decimal == "," or any(each.decimal == "," for each in read.notes)
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
        """How often each text stands in the column, without missing values, the most frequent first."""
        return Counter(dict(Counter(self.texts[~self.missing].tolist()).most_common()))

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """The least and the greatest number that each cell may be: ``<5`` ends below 5. NaN where it holds none.

        InputError is raised if a comma may be a decimal mark or keep thousands apart.
        """
        if self.marks.is_guess and self.decimal is None:
            example = next(text for text in self.counts if "," in text)
            said = f"the comma in {quoted(self.name)} ({quoted(example)}) may be a decimal mark or keep thousands apart"
            raise InputError(f"{said}: say decimal=',' or decimal='.'")
        known = {text: self._bounds(parts) for text, parts in self._parts.items() if parts is not None}
        bounds = [known.get(text, (np.nan, np.nan)) for text in self.texts.tolist()]
        low, high = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
        return low, high

    def _bounds(self, parts: WrittenNumber) -> tuple[float, float]:
        number = self._number(parts, self.marks)
        if not parts.limit or np.isnan(number):
            return number, number
        end = -np.inf if {"<", "≤"} & set(parts.limit) else np.inf
        if not {"=", "≤", "≥"} & set(parts.limit):
            number = float(np.nextafter(number, end))
        return (end, number) if end < 0 else (number, end)

    def _number(self, parts: WrittenNumber, marks: Marks) -> float:
        written = number_as_written(parts.number, marks.decimal, marks.thousands)
        is_other = written is None or unit_key(parts.unit) not in ("", unit_key(self.unit))
        return np.nan if is_other else number_of(str(written))

    def meant(self, text: str, *, in_quotes: bool) -> float:
        """Return the number that a condition gives: in quotes as the cells are written; else with a decimal point."""
        number, parts, marks = np.nan, parts_of(text), self.marks
        if in_quotes or "," in text:
            if parts is not None and not parts.limit:
                number, own = self._number(parts, marks), marks_of([parts.number])
                if np.isnan(number) and not marks.decimal and not own.is_guess:
                    number = self._number(parts, own)
        elif not (marks.decimal and GROUPED_BY_POINT.fullmatch(text)):
            number = number_of(text)
        if np.isnan(number):
            unit = f" (in {self.unit})" if self.unit else ""
            raise InputError(
                f"{quoted(text)}, with which {quoted(self.name)} is compared, is no date and no number as its cells "
                f"write them{unit}, or could be read in two ways: write it in quotes as the cells are, or with a "
                "decimal point and nothing between its thousands"
            )
        return number

    def refuse_several_units(self) -> None:
        """Raise InputError if the numbers of the column have several units, so that they have no order."""
        units = list(self._units)
        units += ["none"] if units == ["%"] and any(parts and not parts.unit for parts in self._parts.values()) else []
        if len(units) > 1:
            raise InputError(f"{quoted(self.name)} has several units ({listed(units)}): give all in one in the table")

    def notation(self) -> list[str]:
        """Return how the numbers are read, in words; nothing if they are plain."""
        said = ["a decimal comma"] if self.marks.decimal else []
        said += [f"thousands kept apart by {self.marks.thousands!r}"] if self.marks.thousands else []
        said += [f"the unit {quoted(self.unit)}"] if self.unit else []
        flags = self._marked.marks
        said += [f"{listed(map(quoted, flags), len(flags))} beside them left off"] if flags else []
        return [f"the numbers of {quoted(self.name)} are read with {' and '.join(said)}"] if said else []

    @cached_property
    def _is_plain(self) -> bool:
        return not np.isnan(numbers_of(list(self.counts))).any()

    @cached_property
    def _marked(self) -> Marked:
        """The texts of the column without the flags beside their numbers, as a drafted schema reads them."""
        texts = list(self.counts)
        if self._is_plain:
            return Marked((), texts, np.zeros(len(texts), dtype=bool))
        counts = np.array(list(self.counts.values()), dtype=np.int64)
        meaning = limits_in_words(texts, counts)
        return without_flags([meaning.get(text, text) for text in texts], counts)

    @cached_property
    def _parts(self) -> dict[str, WrittenNumber | None]:
        return {text: parts_of(body) for text, body in zip(self.counts, self._marked.texts, strict=True)}

    @cached_property
    def marks(self) -> Marks:
        """The decimal mark and the separator of thousands of the column."""
        numbers = [parts.number for parts in self._parts.values() if parts is not None]
        if self.has_comma_beside and are_thousands(numbers) and not any("," in number for number in numbers):
            return Marks(",", ".")
        marks = marks_of(numbers)
        if self.has_comma and (marks.is_guess or (marks == Marks() and not self._is_plain)):
            return Marks(",", None)
        return Marks(None, ",") if marks.is_guess and self.decimal == "." else marks

    @cached_property
    def _units(self) -> list[str]:
        units: Counter[str] = Counter()
        for text, parts in self._parts.items():
            units.update({parts.unit: self.counts[text]} if parts and parts.unit else {})
        if not units or are_flags(*units.most_common(1)[0], self.counts.total()):
            return []
        return list({unit_key(unit): unit for unit, _ in reversed(units.most_common())}.values())[::-1]

    @property
    def unit(self) -> str:
        """The unit that stands beside the numbers; nothing if there is none, or more than one."""
        return self._units[0] if len(self._units) == 1 else ""

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
