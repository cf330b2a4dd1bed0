"""Rows below the last subject: totals, means, legends and footnotes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.layout.figures import Figures
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.words_of_totals import figures_of_word, is_count, is_long_word, word_of_total
from clinclust.files.listed import listed, quoted

__all__ = ["Below", "is_note"]

_LOOKED_AT = 80
_FEWEST_COLUMNS = 3  # in a narrower table a subject may look like a note
_NOTE = re.compile(
    r"\s*(?:[*†‡§¹²³]|\(\*\)|\d\)\s|notes?\b|sources?\b|quelle\b|anmerkung|legende?\b|hinweis|remarks?\b|remarque|key\b|"
    r"abbreviations?\b|abkürzung|erstellt|exported\b|export(?:iert)?\b|created\b|printed\b|druckdatum|stand:|"
    r"generated\b|end of\b|ende\b|page \d|seite \d|confidential|vertraulich|©)",
    re.IGNORECASE,
)
_MEANING = re.compile(r"\s*\S{1,12}\s*[=:]\s*\S.*")
_SENTENCE = 12
_MOST_IN_NOTES = 2


def is_note(text: str) -> bool:
    """Return whether the only text of a row reads like a footnote, or a count such as ``N = 24``."""
    text = text.strip()
    is_sentence = len(text) >= _SENTENCE and " " in text and any(map(str.isalpha, text))
    return is_sentence or bool(_NOTE.match(text) or is_count(text))


class Below:
    """The last rows of a table, looked at from the last one upwards.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows below the header, as text; the labels plus 2 are row numbers.
    decimal : str or None
        The decimal mark that somebody said.
    """

    def __init__(self, frame: pd.DataFrame, decimal: str | None) -> None:
        self._frame, self._figures = frame, Figures(frame, decimal)
        self._start = max(0, len(frame) - _LOOKED_AT)
        self._tail: list[list[str]] = frame.iloc[self._start :].to_numpy().tolist()
        self._numbers = (np.asarray(frame.index)[self._start :] + 2).tolist()

    def found(self) -> tuple[NDArray[np.bool_], list[str]]:
        """Return which rows stand below the last subject, as a mask, and what to say of them."""
        mask = np.zeros(len(self._frame), dtype=bool)
        remarks = []
        is_wide = self._frame.shape[1] >= _FEWEST_COLUMNS
        notes = list(range(self._notes_from() if is_wide else len(self._tail), len(self._tail)))
        totals = self._totals_above(len(self._tail) - len(notes))
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
        return mask, remarks

    def _reads_like_note(self, at: int) -> bool:
        """Return whether the first text of a row reads like a note, and unlike the texts of subjects in its column."""
        text = self._first(at)
        if not is_note(text):
            return False
        place = next(k for k, cell in enumerate(self._tail[at]) if not is_blank(cell))
        others = (row[place] for row in self._tail if sum(not is_blank(cell) for cell in row) > _MOST_IN_NOTES)
        return not any(map(is_note, others))

    def _totals_above(self, end: int) -> list[int]:
        """Return the places of the last rows before `end` that hold figures of the subjects above all of them."""
        first = end
        while first > 0 and self._may_be_total(self._tail[first - 1]):
            first -= 1
        while first < end and not all(self._is_total(at, first) for at in range(first, end)):
            first += 1
        return list(range(first, end))

    def _may_be_total(self, row: Sequence[str]) -> bool:
        first = next(text for text in row if not is_blank(text))
        return is_blank(row[0]) or word_of_total(first) is not None or is_count(first)

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
        word, counts = word_of_total(row[filled[0]]), is_count(row[filled[0]])
        others = filled[1:] if word is not None or counts else filled
        if not others:
            return counts or bool(word and is_long_word(word))
        above = np.arange(len(self._frame)) < self._start + end
        if word is not None:
            figures = figures_of_word(row[filled[0]])
            return self._figures.agree({place: row[place] for place in others}, figures, above, is_long_word(word))
        is_figure = self._figures.is_sum_or_mean
        return 0 not in others and len(others) > 1 and all(is_figure(row[k], k, above) for k in others)
