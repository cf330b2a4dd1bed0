"""The cells of a column as a condition asks for them: as texts, as numbers in its notation, and as dates."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.cell_text import canonical_text, number_of, numbers_of
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

__all__ = ["Cells", "Ranges", "Reader", "number_or_nan"]

Mask = NDArray[np.bool_]
_FEW_LEVELS = 10
_MARKS = {",": "commas", ".": "points", "'": "apostrophes", " ": "spaces"}


class Ranges(NamedTuple):
    """Between which numbers those of the cells of a column lie; ``>90`` begins at the next number that float64 has.

    Both bounds are the number itself where it is known, and NaN where there is none.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, number: float | NDArray[np.float64]) -> Ranges:
        """Return the ranges of numbers that are known."""
        return cls(np.asarray(number), np.asarray(number))


class Reader(NamedTuple):
    """A table, and what was said of how it writes numbers and dates."""

    read: TableRead
    decimal: Decimal | None = None
    dates: DateOrder | None = None

    def cells(self, place: int) -> Cells:
        """Return the cells of the column at a place, from 0."""
        return Cells(self, place)


class Cells:
    """The cells of a column: their canonical texts, object (N,), and which of them are missing, bool (N,)."""

    def __init__(self, reader: Reader, place: int) -> None:
        read = reader.read
        self.notes = read.notes[place] if read.notes else None
        self.decimal, self._dates = reader.decimal, reader.dates
        self._has_commas_beside = reader.decimal == "," or any(notes.decimal == "," for notes in read.notes)
        values = read.frame.iloc[:, place]
        missing = np.asarray(values.isna(), dtype=bool)
        texts = [canonical_text(value) for value in values.astype(object).where(~missing, "").tolist()]
        codes = set(self.notes.missing_codes) if self.notes else set()
        self.texts = np.array(texts, dtype=object)
        self.missing: Mask = missing | np.array([not text or text in codes for text in texts], dtype=bool)
        self.name = str(read.frame.columns[place])
        self.number = read.places[place] if read.places else place + 1

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each text stands in the column, without missing values, the most frequent first."""
        return Counter(dict(Counter(self.texts[~self.missing].tolist()).most_common()))

    def held(self) -> str:
        """Return what the column holds, in words: its values if they are few."""
        if not self.counts:
            return "no value"
        if len(self.counts) <= _FEW_LEVELS:
            return listed((quoted(text) for text in list(self.counts)[:5]), len(self.counts))
        n_numbers = int((~np.isnan(self.ranges.low[~self.missing])).sum())
        numbers = f"{n_numbers:,} are numbers" if n_numbers else "none is a number"
        return f"{len(self.counts):,} different values in {self.counts.total():,} cells, of which {numbers}"

    @cached_property
    def ranges(self) -> Ranges:
        """The numbers between which that of each cell lies: itself, or what lies beyond the limit that it holds.

        InputError is raised if a comma in them may be a decimal mark or keep thousands apart.
        """
        if self._is_plain:
            return Ranges.of(self._plain)
        if self.marks.is_guess and self.decimal is None:
            example = next(text for text in self.counts if "," in text)
            raise InputError(
                f"the comma in {quoted(self.name)} ({quoted(example)}) may be a decimal mark or keep thousands apart: "
                "say --decimal , or --decimal ."
            )
        known = {text: self._range(text) for text in self.counts}
        bounds = [known.get(text, (np.nan, np.nan)) for text in self.texts.tolist()]
        return Ranges(*np.array(bounds, dtype=np.float64).reshape(-1, 2).T)

    def _range(self, text: str) -> tuple[float, float]:
        """Return the bounds of the number that a text writes in the notation of the column; NaN if it writes none."""
        parts = parts_of(self._bodies[text])
        if parts is None or unit_key(parts.unit) not in ("", unit_key(self.unit)):
            return (number_of(text),) * 2
        number = self._number(parts)
        if not parts.limit or np.isnan(number):
            return number, number
        end = -np.inf if {"<", "≤"} & set(parts.limit) else np.inf
        if not {"=", "≤", "≥"} & set(parts.limit):
            number = float(np.nextafter(number, end))
        return (end, number) if end < 0 else (number, end)

    def _number(self, parts: WrittenNumber) -> float:
        written = number_as_written(parts.number, self.marks.decimal, self.marks.thousands)
        return np.nan if written is None else number_of(written)

    def meant(self, text: str, *, in_quotes: bool) -> float:
        """Return the number that a condition gives for the column.

        In quotes it is written as the cells are, with their unit or without. Without quotes the point is a decimal
        point. InputError is raised if it has another unit than the column, or could be read in two ways.
        """
        parts, marks = parts_of(text), self.marks
        if parts is None:
            return number_of(text)
        if unit_key(parts.unit) not in ("", unit_key(self.unit)):
            has = f"in {self.unit}" if self.unit else "without a unit in its cells"
            raise InputError(f"{quoted(self.name)} is {has}, and compared with {quoted(text)}: give the number alone")
        written = None
        if in_quotes or "," in text:
            written = number_as_written(parts.number, marks.decimal, marks.thousands)
        elif not (marks.decimal and GROUPED_BY_POINT.fullmatch(text)):
            written = text
        if written is None and not marks.decimal and not (own := marks_of([parts.number])).is_guess:
            written = number_as_written(parts.number, own.decimal, own.thousands)
        if written is None:
            raise InputError(
                f"{quoted(text)}, with which {quoted(self.name)} is compared, could be read in two ways, or as no "
                "number: write it with nothing between its thousands, or in quotes, as the cells of the column are"
            )
        return number_of(written)

    def refuse_several_units(self) -> None:
        """Raise InputError if the numbers of the column have several units, so that they have no order."""
        if len(self._units) > 1:
            raise InputError(
                f"{quoted(self.name)} holds numbers in several units ({listed(self._units)}): give all in one unit in "
                "the table"
            )
        if self.unit == "%" and any((parts := parts_of(body)) and not parts.unit for body in self._bodies.values()):
            raise InputError(
                f"{quoted(self.name)} holds numbers with % and others without: write all in the same way in the table"
            )

    def notation(self) -> list[str]:
        """Return how the numbers of the column are read, in words; nothing if they are plain."""
        if self._is_plain:
            return []
        said = ["a decimal comma"] if self.marks.decimal else []
        said += [f"thousands kept apart by {_MARKS[self.marks.thousands]}"] if self.marks.thousands else []
        said += [f"the unit {quoted(self.unit)}"] if self.unit else []
        flags = self._marked.marks
        said += [f"{listed(map(quoted, flags), len(flags))} beside them left off"] if flags else []
        return [f"the numbers of {quoted(self.name)} are read with {' and '.join(said)}"] if said else []

    @cached_property
    def _plain(self) -> NDArray[np.float64]:
        return numbers_of(self.texts.tolist())

    @cached_property
    def _is_plain(self) -> bool:
        """Whether all cells with a value are numbers with a point, or none."""
        is_number = not np.isnan(self._plain[~self.missing]).any()
        return bool(is_number and not (self._has_commas_beside and are_thousands(list(self.counts))))

    @cached_property
    def _marked(self) -> Marked:
        """The texts of the column without the flags beside their numbers, as a drafted schema reads them."""
        counts = np.array(list(self.counts.values()), dtype=np.int64)
        meaning = limits_in_words(list(self.counts), counts)
        return without_flags([meaning.get(text, text) for text in self.counts], counts)

    @cached_property
    def _bodies(self) -> dict[str, str]:
        return dict(zip(self.counts, self._marked.texts, strict=True))

    @cached_property
    def marks(self) -> Marks:
        """The decimal mark and the separator of thousands of the column."""
        written = [parts.number for text in self._bodies.values() if (parts := parts_of(text)) is not None]
        if self._has_commas_beside and are_thousands(written) and not any("," in number for number in written):
            return Marks(",", ".")
        marks = marks_of(written)
        is_comma = self.decimal == "," or (self.notes is not None and self.notes.decimal == ",")
        if is_comma and (marks.is_guess or marks == Marks()):
            return Marks(",", None)
        return Marks(None, ",") if marks.is_guess and self.decimal == "." else marks

    @cached_property
    def _units(self) -> list[str]:
        """What follows the numbers, each once, whatever its case; the most frequent first."""
        units: Counter[str] = Counter()
        for text, count in self.counts.items():
            parts = parts_of(self._bodies[text])
            if parts is not None and parts.unit:
                units[parts.unit] += count
        if not units or are_flags(*units.most_common(1)[0], self.counts.total()):
            return []
        return list({unit_key(unit): unit for unit, _ in reversed(units.most_common())}.values())[::-1]

    @property
    def unit(self) -> str:
        """The unit that stands beside the numbers; nothing if there is none, or more than one."""
        return self._units[0] if len(self._units) == 1 else ""

    @cached_property
    def dates(self) -> DateColumn | str:
        """The dates of the cells, or why they cannot be read; see `date_column`."""
        return date_column(self.texts, ~self.missing, self._dates)

    @cached_property
    def looks_like_dates(self) -> bool:
        """Whether all cells with a value are written as dates are, and there is one."""
        return bool(self.counts) and all(map(looks_like_date, self.counts))


def number_or_nan(text: str) -> float:
    """Return a number if a text writes one in any notation, whatever its unit; otherwise NaN."""
    parts = parts_of(text)
    if parts is None or parts.limit:
        return number_of(text)
    marks = marks_of([parts.number])
    written = number_as_written(parts.number, marks.decimal, marks.thousands)
    return np.nan if written is None else number_of(written)
