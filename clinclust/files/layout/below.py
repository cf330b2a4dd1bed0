"""Rows that are no subjects: totals, means, legends and footnotes below the table, and headers that repeat inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.cell_text import numbers_of
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.written_numbers import number_with
from clinclust.files.listed import listed, quoted

__all__ = ["NoSubjects", "is_note", "rows_without_subjects"]

_LOOKED_AT = 80
_FEWEST_COLUMNS = 3  # in a narrower table a subject may look like a note, or like the header
_LONG = (
    r"(?:grand |sub)?totals?|total général|summe|gesamt(?:summe|zahl|ergebnis)?|insgesamt|zwischensumme|somme|"
    r"means?|averages?|mittelwerte?|durchschnitt|moyennes?|medians?|mediane?|médianes?|standardabweichung|"
    r"standard deviation|écart[- ]type|anzahl|count|minimum|maximum|spaltensumme|suma|media|promedio|totale"
)
_SHORT = r"sum|n|mw|sd|std\.?(?: ?dev\.?)?|min|max|avg|stabw"
_TOTAL = re.compile(rf"\W*(?P<word>{_LONG}|{_SHORT})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_LONG_WORD = re.compile(_LONG, re.IGNORECASE)
_COUNTED = re.compile(r"\W*n\s*[=:]\s*[\d.,']+\W*", re.IGNORECASE)
_REST = re.compile(
    r"[\s:=.()\[\]]*(?:n\s*[=:]\s*)?[\d.,\s'()±%]*(?:patient\w*|subjects?|cases?|fälle|rows?|zeilen)?\W*", re.I
)
_NOTE = re.compile(
    r"\s*(?:[*†‡§¹²³]|\(\*\)|\d\)\s|notes?\b|sources?\b|quelle\b|anmerkung|legende?\b|hinweis|remarks?\b|remarque|key\b|"
    r"abbreviations?\b|abkürzung|erstellt|exported\b|export(?:iert)?\b|created\b|printed\b|druckdatum|stand:|"
    r"generated\b|end of\b|ende\b|page \d|seite \d|confidential|vertraulich|©)",
    re.IGNORECASE,
)
_MEANING = re.compile(r"\s*\S{1,12}\s*[=:]\s*\S.*")
_SENTENCE = 12
_FEWEST_NUMBERS = 2
_MOST_IN_NOTES = 2


@dataclass(frozen=True)
class NoSubjects:
    """Which rows of a table are no subjects (a mask), and what its reader must know of these and of doubtful ones."""

    mask: NDArray[np.bool_]
    remarks: list[str] = field(default_factory=list)


def is_note(text: str) -> bool:
    """Return whether the only text of a row reads like a footnote, or a count such as ``N = 24``."""
    text = text.strip()
    is_sentence = len(text) >= _SENTENCE and " " in text and any(map(str.isalpha, text))
    return is_sentence or bool(_NOTE.match(text) or _COUNTED.fullmatch(text))


def rows_without_subjects(frame: pd.DataFrame, headers: Sequence[Sequence[str]], decimal: str | None) -> NoSubjects:
    """Find the rows of a table that are no subjects.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows below the header, as text; the labels plus 2 are row numbers.
    headers : sequence of sequences of str
        The rows of the header, as wide as the table.
    decimal : str or None
        The decimal mark that somebody said.
    """
    mask = np.zeros(len(frame), dtype=bool)
    remarks: list[str] = []
    if frame.shape[1] > 1 and len(frame):
        repeated = _repeated_headers(frame, headers)
        if repeated.any():
            remarks.append(f"the header is repeated in {_rows(frame, repeated)}: left out")
        mask |= repeated
        _Below(frame, decimal).find(mask, remarks)
        _doubtful(frame, mask, remarks)
    return NoSubjects(mask, remarks)


def _rows(frame: pd.DataFrame, mask: NDArray[np.bool_]) -> str:
    numbers = (np.asarray(frame.index)[mask] + 2).tolist()
    return f"row {numbers[0]}" if len(numbers) == 1 else f"rows {listed(numbers)}"


def _repeated_headers(frame: pd.DataFrame, headers: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
    """Return where a row is a row of the header again, in every column of it."""
    mask = np.zeros(len(frame), dtype=bool)
    for header in headers:
        if sum(not is_blank(text) for text in header) < _FEWEST_COLUMNS:
            continue
        equal = np.ones(len(frame), dtype=bool)
        for place, name in enumerate(header):
            where = np.flatnonzero(equal)
            if not where.size:
                break
            cells = frame.iloc[where, place]
            equal[where] = np.asarray(cells.str.strip() == name.strip(), dtype=bool)
        mask |= equal
    return mask


class _Below:
    """The last rows of a table, looked at from the last one upwards."""

    def __init__(self, frame: pd.DataFrame, decimal: str | None) -> None:
        self._frame, self._decimal = frame, decimal
        self._start = max(0, len(frame) - _LOOKED_AT)
        self._tail: list[list[str]] = frame.iloc[self._start :].to_numpy().tolist()
        self._numbers = (np.asarray(frame.index)[self._start :] + 2).tolist()

    def find(self, mask: NDArray[np.bool_], remarks: list[str]) -> None:
        """Mark the rows below the last subject, and say what they hold."""
        is_wide = self._frame.shape[1] >= _FEWEST_COLUMNS
        notes = list(range(self._notes_from() if is_wide else len(self._tail), len(self._tail)))
        totals = self._totals_above(len(self._tail) - len(notes), mask)
        phrases = (
            (totals, "holds totals or means, and is left out", "hold totals or means, and are left out"),
            (
                notes,
                "stands below the table as a note, and is left out",
                "stand below the table as notes, and are left out",
            ),
        )
        for found, one, several in phrases:
            if found:
                mask[[self._start + at for at in found]] = True
                rows = listed(self._numbers[at] for at in found)
                said = f"row {rows} {one}" if len(found) == 1 else f"rows {rows} {several}"
                remarks.append(f"{said} ({listed(quoted(self._first(at)) for at in found)})")

    def _reads_like_note(self, at: int) -> bool:
        """Return whether the first text of a row reads like a note, and unlike the texts of subjects in its column."""
        text = self._first(at)
        if not is_note(text):
            return False
        place = next(k for k, cell in enumerate(self._tail[at]) if not is_blank(cell))
        others = (row[place] for row in self._tail if sum(not is_blank(cell) for cell in row) > _MOST_IN_NOTES)
        return not any(map(is_note, others))

    def _totals_above(self, end: int, mask: NDArray[np.bool_]) -> list[int]:
        """Return the places of the last rows before `end` that hold figures of the subjects above all of them."""
        first = end
        while first > 0 and not mask[self._start + first - 1] and self._may_be_total(self._tail[first - 1]):
            first -= 1
        while first < end and not all(self._is_total(at, first) for at in range(first, end)):
            first += 1
        return list(range(first, end))

    def _may_be_total(self, row: Sequence[str]) -> bool:
        first = next(text for text in row if not is_blank(text))
        return is_blank(row[0]) or _words_of_total(first) is not None or bool(_COUNTED.fullmatch(first))

    def _first(self, at: int) -> str:
        return next((text.strip() for text in self._tail[at] if not is_blank(text)), "")

    def _n_filled(self, at: int) -> int:
        return sum(not is_blank(text) for text in self._tail[at])

    def _notes_from(self) -> int:
        """Return the place of the first row of the notes at the end, in which few cells are filled."""
        end = len(self._tail)
        while end > 0 and self._n_filled(end - 1) == 1 and self._reads_like_note(end - 1):
            end -= 1
        # A block below an empty row is a legend if all of its rows are short and one of them reads like a note.
        most = 1 if self._frame.shape[1] == _FEWEST_COLUMNS else _MOST_IN_NOTES
        for at in range(len(self._tail) - 1, 0, -1):
            if self._n_filled(at) > most:
                break
            if self._numbers[at] > self._numbers[at - 1] + 1:
                block = range(at, len(self._tail))
                reads = [self._reads_like_note(k) or _MEANING.fullmatch(self._first(k)) for k in block]
                if any(reads) and at < end:
                    end = at
        return end

    def _is_total(self, at: int, end: int) -> bool:
        """Return whether a row says that it is a total, with nothing else or with figures of the rows before `end`."""
        row = self._tail[at]
        filled = [place for place, text in enumerate(row) if not is_blank(text)]
        word, is_count = _words_of_total(row[filled[0]]), bool(_COUNTED.fullmatch(row[filled[0]]))
        others = filled[1:] if word is not None or is_count else filled
        if not others:
            return is_count or bool(word and _LONG_WORD.fullmatch(word))
        if word is not None:
            agreeing = sum(self._is_figure_of_column(row[place], place, end) for place in others)
            return agreeing >= 1 and 2 * agreeing >= len(others)
        return 0 not in others and len(others) > 1 and all(self._is_sum_or_mean(row[k], k, end) for k in others)

    def _is_sum_or_mean(self, text: str, place: int, end: int) -> bool:
        """Return whether a cell is the sum or the mean of the column above it, and no value that a subject has."""
        value, above, decimals = self._value_and_column(text, place, end)
        return above.size > 1 and value not in above and _near(value, (above.sum(), above.mean()), decimals)

    def _is_figure_of_column(self, text: str, place: int, end: int) -> bool:
        """Return whether a cell is the sum, mean, median, deviation, count or an end of the column above it."""
        value, above, decimals = self._value_and_column(text, place, end)
        n_filled = sum(not is_blank(cell) for cell in self._frame.iloc[: self._start + end, place].tolist())
        if above.size < _FEWEST_NUMBERS:
            return bool(value == n_filled)
        ends, deviations = (above.min(), above.max()), (above.std(ddof=1), above.std())
        figures = (above.sum(), above.mean(), np.median(above), above.size, n_filled, *ends, *deviations)
        return _near(value, figures, decimals)

    def _value_and_column(self, text: str, place: int, end: int) -> tuple[float, NDArray[np.float64], int]:
        """Return the number in a cell, the numbers of its column before the row `end`, and its decimals."""
        shown = number_with(text.strip(), self._mark(text)).removesuffix("%")
        column = self._frame.iloc[: self._start + end, place].tolist()
        above = numbers_of([number_with(cell.strip(), self._mark(cell)) for cell in column])
        return float(numbers_of([shown])[0]), above[np.isfinite(above)], len(shown.partition(".")[2])

    def _mark(self, text: str) -> str | None:
        return "," if self._decimal != "." and "," in text else None


def _words_of_total(text: str) -> str | None:
    """Return the word of a total with which a text begins and ends, but for a count or numbers; None if it has none."""
    match = _TOTAL.fullmatch(text)
    return match["word"] if match and _REST.fullmatch(match["rest"]) else None


def _near(value: float, figures: Sequence[float], decimals: int) -> bool:
    """Return whether one of the figures, rounded to these decimals, is the value."""
    return bool(min(abs(float(figure) - value) for figure in figures) <= 0.5000001 * 10.0**-decimals)


def _doubtful(frame: pd.DataFrame, mask: NDArray[np.bool_], remarks: list[str]) -> None:
    """Tell of rows that begin like totals but are read as subjects."""
    column = frame.iloc[:, 0].str
    begins = np.asarray(column.match(rf"\s*(?:{_LONG})\b", flags=re.IGNORECASE), dtype=bool)
    begins = begins & ~mask
    if begins.any() and 10 * begins.sum() <= max(10, len(frame)):
        texts = listed(quoted(text) for text in frame.iloc[begins, 0].head(5))
        remarks.append(
            f"{_rows(frame, begins)} begin like totals ({texts}), but are read as subjects: if they are none, leave "
            "them out with --where"
        )
