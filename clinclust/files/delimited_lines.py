"""Split delimited text into rows, and tell of those that are not as long as the header."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from clinclust.errors import InputError
from clinclust.files.layout.below import is_note
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
    """The rows of a delimited text.

    Parameters
    ----------
    text, delimiter : str
    first_line : int
        The number of the first line of `text` in its file, for messages.
    """

    def __init__(self, text: str, delimiter: str, first_line: int = 1) -> None:
        self._text, self._delimiter, self._before = text, delimiter, first_line - 1
        self._misfits: list[str] = []
        self._n_misfits = 0
        self._notes: list[Line] = []
        self._width = 0
        self._remarks = Places()

    def rows(self) -> Iterator[Line]:
        """Yield every row that is not blank, of whatever length.

        Raises
        ------
        InputError
            If the text cannot be split any further.
        """
        reader = csv.reader(io.StringIO(self._text, newline=""), delimiter=self._delimiter, strict=True)
        line = 0
        try:
            for number, row in enumerate(reader, start=1):
                first, line = line + 1, reader.line_num
                if row:
                    yield Line(number, first + self._before, line + self._before, row)
        except csv.Error as error:
            raise InputError(self._unreadable(line + 1, str(error))) from None

    def of_width(self, rows: Iterable[Line], width: int) -> Iterator[tuple[int, list[str]]]:
        """Yield (row number, fields) of the rows below the header that hold a value; all have the length `width`.

        A single text at the end that reads like a footnote, without any delimiter, is passed on as the first cell.

        Raises
        ------
        InputError
            After the last row, if rows had other lengths.
        """
        self._width = width
        for line in rows:
            if len(line.fields) != width:
                self._keep_other(line, width)
                continue
            for note in self._notes:  # it stood between subjects
                self._add_misfit(note)
            self._notes.clear()
            if line.last > line.first:
                self._look_inside(line)
            if len(line.fields) > 1 and not any(map(str.strip, line.fields)):
                self._remarks.add(_NO_VALUE, f"line {line.first}")
            else:
                yield line.number, line.fields
        self._refuse_misfits()
        for note in self._notes:
            yield note.number, note.fields + [""] * (width - 1)

    def refuse_single_texts(self, numbers: Collection[int]) -> None:
        """Raise InputError if a single text was taken for a note, but is among the rows of subjects.

        Parameters
        ----------
        numbers : collection of int
            The numbers of the rows of subjects.
        """
        for note in self._notes:
            if note.number in numbers:
                self._add_misfit(note)
        self._refuse_misfits()

    def _refuse_misfits(self) -> None:
        if self._misfits:
            raise InputError(
                f"{listed(self._misfits, self._n_misfits)}, the header has {self._width}: look for a "
                f"{self._delimiter!r} too many or too few, for a text that needs quotes, for a title above the header "
                "(--header-row N, or 0 if there is no header), or for another table (--rows FIRST-LAST says which rows "
                "are the subjects)"
            )

    def remarks(self) -> list[str]:
        """Return what the reader must know of the rows that were read."""
        return self._remarks.sentences()

    def _keep_other(self, line: Line, width: int) -> None:
        may_be_note = len(line.fields) == 1 and width >= _FEWEST_BESIDE_NOTES and len(self._notes) < _NOTES_KEPT
        if may_be_note and is_note(line.fields[0]):
            self._notes.append(line)
        else:
            self._add_misfit(line)

    def _add_misfit(self, line: Line) -> None:
        self._n_misfits += 1
        if self._n_misfits <= _MISFITS_KEPT:
            self._misfits.append(f"line {line.first} has {len(line.fields)} fields")

    def _look_inside(self, line: Line) -> None:
        """Record a row in which a text in quotes holds a whole line with as many delimiters as a row has."""
        for text in line.fields if len(line.fields) > 1 else []:
            inner = text.splitlines()[1:-1]
            if any(part.count(self._delimiter) == len(line.fields) - 1 for part in inner):
                self._remarks.add(_SWALLOWING, f"line {line.first}")
                return

    def _unreadable(self, line: int, said: str) -> str:
        if said.startswith(_FIELD_TOO_LONG):
            said = f"a cell has more than {csv.field_size_limit():,} characters"
        return f"line {line + self._before} cannot be read ({said}): look for a quote that is not closed"
