"""Split delimited text into rows of equal length, and tell of those that are not."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from clinclust.errors import InputError
from clinclust.files.listed import Places, listed

__all__ = ["DelimitedLines", "delimiter_of"]

_FIELD_TOO_LONG = "field larger than field limit"  # what the csv module says
_MISFITS_KEPT = 10
_LINES_TRIED = 50
_SWALLOWING = "a text in quotes holds whole rows of the table: look for a quote that is not closed in its place"
_NO_VALUE = "rows without any value are left out"
# What a file of each kind may use: first the delimiter of its kind, and others that may split it better, then those
# that are looked for only if all of these leave the header in one piece.
_CANDIDATES = {",": ((",", ";"), ("\t",)), "\t": (("\t",),)}


def delimiter_of(text: str, usual: str) -> str:
    """Return the delimiter that splits all rows alike or, if none or several do, the header into most names.

    In a tie the usual one, that of the kind of file, wins.
    """
    for candidates in _CANDIDATES[usual]:
        splits = {mark: _split(text, mark) for mark in candidates}
        best = max(splits, key=lambda mark: splits[mark])
        if splits[best][1] > 1:
            return best
    return usual


def _split(text: str, delimiter: str) -> tuple[bool, int]:
    """Return whether a delimiter splits the header and the first rows into as many fields, and how many names it finds.

    A comma in the names of a German table splits its header, but not each row in the same way.
    """
    rows = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    numbers: list[int] = []
    with suppress(csv.Error):
        numbers.extend(map(len, islice(rows, _LINES_TRIED)))
    return len(set(numbers)) == 1 and numbers[0] > 1, numbers[0] if numbers else 0


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
        self._remarks = Places()

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (row number from 1, fields) for the header and every row that is not blank; all have one length.

        Raises
        ------
        InputError
            After the last row, if rows had other lengths; at once, if the text cannot be split any further.
        """
        reader = csv.reader(io.StringIO(self._text, newline=""), delimiter=self._delimiter, strict=True)
        width = line = 0
        try:
            for number, row in enumerate(reader, start=1):
                first, line = line + 1, reader.line_num
                if not row:
                    continue
                width = width or len(row)
                if len(row) != width:
                    self._add_misfit(first, len(row))
                    continue
                if line > first + 1:
                    self._look_inside(first, row)
                if len(row) > 1 and number > 1 and not any(map(str.strip, row)):
                    self._remarks.add(_NO_VALUE, f"line {first + self._before}")
                else:
                    yield number, row
        except csv.Error as error:
            raise InputError(self._unreadable(line + 1, str(error))) from None
        if self._misfits:
            raise InputError(
                f"{listed(self._misfits, self._n_misfits)}, the header has {width}: look for a {self._delimiter!r} too "
                "many or too few, or for a text that needs quotes"
            )

    def remarks(self) -> list[str]:
        """Return what the reader must know of the rows that were read."""
        return self._remarks.sentences()

    def _add_misfit(self, line: int, n_fields: int) -> None:
        self._n_misfits += 1
        if self._n_misfits <= _MISFITS_KEPT:
            self._misfits.append(f"line {line + self._before} has {n_fields} fields")

    def _look_inside(self, line: int, row: list[str]) -> None:
        """Record a row in which a text in quotes holds a whole line with as many delimiters as a row has."""
        for text in row if len(row) > 1 else []:
            inner = text.splitlines()[1:-1]
            if any(part.count(self._delimiter) == len(row) - 1 for part in inner):
                self._remarks.add(_SWALLOWING, f"line {line + self._before}")
                return

    def _unreadable(self, line: int, said: str) -> str:
        if said.startswith(_FIELD_TOO_LONG):
            said = f"a cell has more than {csv.field_size_limit():,} characters"
        return f"line {line + self._before} cannot be read ({said}): look for a quote that is not closed"
