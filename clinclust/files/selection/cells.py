"""The cells of a column as a condition asks for them: as texts, as numbers, and as dates."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.cell_text import canonical_text, numbers_of
from clinclust.files.flags import Marked, without_flags
from clinclust.files.layout.decimal_marks import Decimal
from clinclust.files.limits_in_words import limits_in_words
from clinclust.files.listed import listed, quoted
from clinclust.files.number_notation import (
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

__all__ = ["Cells", "Ranges", "Reader"]

Mask = NDArray[np.bool_]
_FEW_LEVELS = 10


class Ranges(NamedTuple):
    """Between which numbers those of the cells of a column lie. All three have one item a cell."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    """The bounds: both are the number itself where it is known, and NaN where there is none."""
    is_open: Mask
    """Whether the finite bound itself is excluded, as in ``>90``."""


class Reader(NamedTuple):
    """A table, and what was said of how it writes numbers and dates."""

    read: TableRead
    decimal: Decimal | None = None
    dates: DateOrder | None = None

    def cells(self, place: int) -> Cells:
        """Return the cells of the column at a place, from 0."""
        return Cells(self, place)


class Cells:
    """The cells of a column.

    Attributes
    ----------
    name : str
    number : int
        The number of the column in its file, from 1.
    texts : object (N,)
        The canonical text of each cell.
    missing : bool (N,)
    """

    def __init__(self, reader: Reader, place: int) -> None:
        read = reader.read
        self._notes = read.notes[place] if read.notes else None
        self._decimal, self._dates = reader.decimal, reader.dates
        self._has_commas_beside = reader.decimal == "," or any(notes.decimal == "," for notes in read.notes)
        values = read.frame.iloc[:, place]
        missing = np.asarray(values.isna(), dtype=bool)
        texts = [canonical_text(value) for value in values.astype(object).where(~missing, "").tolist()]
        codes = set(self._notes.missing_codes) if self._notes else set()
        self.texts = np.array(texts, dtype=object)
        self.missing: Mask = missing | np.array([not text or text in codes for text in texts], dtype=bool)
        self.name = str(read.frame.columns[place])
        self.number = read.places[place] if read.places else place + 1

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each text stands in the column, without missing values, the most frequent first."""
        return Counter(dict(Counter(self.texts[~self.missing].tolist()).most_common()))

    @property
    def has_few_levels(self) -> bool:
        """Whether the texts are so few that they can be shown."""
        return len(self.counts) <= _FEW_LEVELS

    def held(self) -> str:
        """Return what the column holds, in words: its values if they are few."""
        if not self.counts:
            return "no value"
        if self.has_few_levels:
            return listed((quoted(text) for text in list(self.counts)[:5]), len(self.counts))
        n_numbers = sum(count for text, count in self.counts.items() if not np.isnan(self.number_of(text)))
        numbers = f", of which {n_numbers:,} are numbers" if n_numbers else ", of which none is a number"
        return f"{len(self.counts):,} different values in {self.counts.total():,} cells{numbers}"

    def number_of(self, text: str) -> float:
        """Return the number that a text writes in the notation of the column; NaN if it writes none."""
        parts = parts_of(self._bodies.get(text, text))
        if parts is None or parts.limit or unit_key(parts.unit) not in ("", unit_key(self.unit)):
            return float(numbers_of([text])[0])
        return self._number_in(parts)

    def _number_in(self, parts: WrittenNumber) -> float:
        marks = self.marks
        written = number_as_written(parts.number, marks.decimal, marks.thousands)
        return np.nan if written is None else float(numbers_of([written])[0])

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The number of each cell, float64 (N,); NaN for a cell that writes none in the notation of the column.

        Raises
        ------
        InputError
            If a comma in them may be a decimal mark or keep thousands apart.
        """
        if self._is_plain:
            return self._plain
        self.refuse_unclear_commas()
        known = {text: self.number_of(text) for text in self.counts}
        numbers = [known.get(text, np.nan) for text in self.texts.tolist()]
        return np.array(numbers, dtype=np.float64)

    @cached_property
    def ranges(self) -> Ranges:
        """The numbers between which that of each cell lies: itself, or what lies beyond the limit that it holds.

        Raises
        ------
        InputError
            If a comma in them may be a decimal mark or keep thousands apart.
        """
        numbers = self.numbers
        ranges = Ranges(numbers.copy(), numbers.copy(), np.zeros(len(numbers), dtype=bool))
        if self._is_plain:
            return ranges
        beyond = {text: self._beyond(text) for text in self.counts}
        for place, text in enumerate(self.texts.tolist()):
            found = beyond.get(text)
            if found is not None:
                ranges.low[place], ranges.high[place], ranges.is_open[place] = found
        return ranges

    def _beyond(self, text: str) -> tuple[float, float, bool] | None:
        """Return the range of a value beyond a limit, and whether the limit lies outside it; None for other texts."""
        parts = parts_of(self._bodies[text])
        if parts is None or not parts.limit or unit_key(parts.unit) not in ("", unit_key(self.unit)):
            return None
        number = self._number_in(parts)
        is_open = not {"=", "≤", "≥"} & set(parts.limit)
        is_below = bool({"<", "≤"} & set(parts.limit))
        return None if np.isnan(number) else (-np.inf if is_below else number, number if is_below else np.inf, is_open)

    def refuse_unclear_commas(self) -> None:
        """Raise InputError if the commas of the column may be decimal marks or keep thousands apart."""
        if self.marks.is_guess and self._decimal is None:
            example = next(text for text in self.counts if "," in text)
            raise InputError(
                f"the comma in {quoted(self.name)} ({quoted(example)}) may be a decimal mark or keep thousands apart: "
                "say --decimal , or --decimal ."
            )

    def refuse_several_units(self) -> None:
        """Raise InputError if the numbers of the column have several units, so that they have no order."""
        if len(self._units) > 1:
            raise InputError(
                f"{quoted(self.name)} holds numbers in several units ({listed(self._units)}): give all in one unit in "
                "the table"
            )
        if self.unit == "%" and any(text for text in self.counts if not self._has_unit(text)):
            raise InputError(
                f"{quoted(self.name)} holds numbers with % and others without: write all in the same way in the table"
            )

    def notation(self) -> str:
        """Return how the numbers of the column are written, in words; nothing if they are plain."""
        if self._is_plain:
            return ""
        marks = self.marks
        said = ["a decimal comma"] if marks.decimal else []
        said += [f"thousands kept apart by {_MARKS[marks.thousands]}"] if marks.thousands else []
        said += [f"the unit {quoted(self.unit)}"] if self.unit else []
        flags = self._marked.marks
        said += [f"{listed(map(quoted, flags), len(flags))} beside them left off"] if flags else []
        return " and ".join(said)

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
        is_comma = self._decimal == "," or (self._notes is not None and self._notes.decimal == ",")
        if is_comma and (marks.is_guess or marks == Marks()):
            return Marks(",", None)
        return Marks(None, ",") if marks.is_guess and self._decimal == "." else marks

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

    def _has_unit(self, text: str) -> bool:
        parts = parts_of(self._bodies.get(text, text))
        return parts is None or unit_key(parts.unit) == unit_key(self.unit)

    @cached_property
    def dates(self) -> DateColumn | str:
        """The dates of the cells, or why they cannot be read; see `date_column`."""
        return date_column(self.texts, ~self.missing, self._dates)

    @property
    def is_comma_told(self) -> bool:
        """Whether somebody said what a comma in the numbers of the table means."""
        return self._decimal is not None

    @property
    def looks_like_dates(self) -> bool:
        """Whether all cells with a value are written as dates are, and there is one."""
        return bool(self.counts) and all(map(looks_like_date, self.counts))


_MARKS = {",": "commas", ".": "points", "'": "apostrophes", " ": "spaces"}
