"""Split delimited text into rows, and tell of those that are not as long as the header."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from clinclust.errors import InputError
from clinclust.files.layout.below import is_note
from clinclust.files.layout.doubts import UncertainRowsError
from clinclust.files.layout.row_ranges import RowRanges
from clinclust.files.listed import Places, listed

__all__ = ["DelimitedLines", "Line"]

_FIELD_TOO_LONG = "field larger than field limit"  # what the csv module says
_MISFITS_KEPT = 10
_NOTES_KEPT = 50
_FEWEST_BESIDE_NOTES = 3
_SWALLOWING = "a text in quotes holds whole rows of the table: look for a quote that is not closed in its place"
_NO_VALUE = "rows without any value are left out"


class Line(NamedTuple):
    """A row of delimited text: its number in a spreadsheet, its first and last line in the file, and its cells."""

    number: int
    first: int
    last: int
    fields: list[str]


class DelimitedLines:
    """The rows of a delimited text; `first_line` is the number of its first line in its file, for messages."""

    def __init__(self, text: str, delimiter: str, first_line: int = 1) -> None:
        self._text, self._delimiter, self._before = text, delimiter, first_line - 1
        self._misfits: list[str] = []
        self._misfit_numbers = array("q")
        self._notes: list[Line] = []
        self._width = 0
        self._remarks = Places()

    def rows(self) -> Iterator[Line]:
        """Yield every row that is not blank, of whatever length; raise InputError where it cannot be split further."""
        reader = csv.reader(io.StringIO(self._text, newline=""), delimiter=self._delimiter, strict=True)
        line = 0
        try:
            for number, row in enumerate(reader, start=1):
                first, line = line + 1, reader.line_num
                if row:
                    yield Line(number, first + self._before, line + self._before, row)
        except csv.Error as error:
            said = str(error)
            if said.startswith(_FIELD_TOO_LONG):
                said = f"a cell has more than {csv.field_size_limit():,} characters"
            raise InputError(
                f"line {line + 1 + self._before} cannot be read ({said}): look for a quote that is not closed"
            ) from None

    def of_width(self, rows: Iterable[Line], width: int) -> Iterator[tuple[int, list[str]]]:
        """Yield (row number, fields) of the rows below the header that hold a value; all have the length `width`.

        A single text at the end that reads like a footnote, without any delimiter, is passed on as the first cell. Rows
        of other lengths are passed on in this length, so that it can be said whether they are another table; call
        `refuse_misfits` afterwards.
        """
        self._width = width
        for line in rows:
            if self._may_be_note(line):
                self._notes.append(line)
                continue
            for note in self._notes:  # it stood between subjects
                yield self._misfit(note)
            self._notes.clear()
            if len(line.fields) != width:
                yield self._misfit(line)
                continue
            if line.last > line.first:
                self._look_inside(line)
            if len(line.fields) > 1 and not any(map(str.strip, line.fields)):
                self._remarks.add(_NO_VALUE, f"line {line.first}")
            else:
                yield line.number, line.fields
        for note in self._notes:
            yield note.number, note.fields + [""] * (width - 1)

    def refuse_single_texts(self, numbers: Collection[int]) -> None:
        """Raise InputError if a single text was taken for a note, but is among the rows of subjects, by number."""
        for note in self._notes:
            if note.number in numbers:
                self._misfit(note)
        self.refuse_misfits()

    def refuse_misfits(self, doubts: UncertainRowsError | None = None) -> None:
        """Raise InputError if rows were not as long as the header.

        If all of them belong to what may be another table (`doubts`), the message says how to leave it out.
        """
        if not self._misfits:
            return
        other_table = "--rows FIRST-LAST says which rows are the subjects"
        without = None if doubts is None else doubts.without
        seen = ""
        kept = RowRanges.parsed(without) if without is not None else self._misfit_numbers
        if doubts is not None and not any(number in kept for number in self._misfit_numbers):
            other_table = f"if these rows are none of its subjects, say --rows {without}"
            seen = f"\n{doubts.listing}"
        found = listed(self._misfits, len(self._misfit_numbers))
        raise InputError(
            f"{found}, the header has {self._width}: look for a {self._delimiter!r} too many or too few, "
            "for a text that needs quotes, for a title above the header (--header-row N, or 0 if there is no header), "
            f"or for another table ({other_table}){seen}"
        )

    def remarks(self) -> list[str]:
        """Return what the reader must know of the rows that were read."""
        return self._remarks.sentences()

    def _may_be_note(self, line: Line) -> bool:
        is_alone = len(line.fields) == 1 < self._width and self._width >= _FEWEST_BESIDE_NOTES
        return is_alone and len(self._notes) < _NOTES_KEPT and is_note(line.fields[0])

    def _misfit(self, line: Line) -> tuple[int, list[str]]:
        """Record a row of another length, and return it in that of the header."""
        n_fields = len(line.fields)
        self._misfit_numbers.append(line.number)
        if len(self._misfits) < _MISFITS_KEPT:
            self._misfits.append(f"line {line.first} has {n_fields} field{'s' * (n_fields != 1)}")
        return line.number, (line.fields + [""] * (self._width - n_fields))[: self._width]

    def _look_inside(self, line: Line) -> None:
        """Record a row in which a text in quotes holds a whole line with as many delimiters as a row has."""
        inner = [part for text in line.fields for part in text.splitlines()[1:-1]]
        if any(part.count(self._delimiter) == len(line.fields) - 1 > 0 for part in inner):
            self._remarks.add(_SWALLOWING, f"line {line.first}")
