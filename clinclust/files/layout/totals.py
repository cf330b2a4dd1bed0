"""Rows that hold totals, means or counts of the rows above them, between the subjects or below them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.data import data
from clinclust.files.cell_text import numbers_of
from clinclust.files.layout.decimal_marks import number_with
from clinclust.files.layout.doubts import Doubt, rows_named
from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.listed import listed, quoted

__all__ = ["Totals", "is_total_alone", "names_group"]

Figure = Literal["sum", "mean", "median", "deviation", "count", "minimum", "maximum", "norm"]
Mask = NDArray[np.bool_]
_WORDS = data("tables")["totals"]
_FIGURES: tuple[Figure, ...] = ("sum", "mean", "median", "deviation", "count", "minimum", "maximum", "norm")
_LONG = "|".join([*(_WORDS[figure] for figure in _FIGURES), rf"(?:{_WORDS['everybody']}) (?:{_WORDS['people']})"])
_ANY = "|".join([_LONG, *_WORDS["short"].values()])
_BEGINS = re.compile(rf"\W*(?P<word>{_ANY})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ENDS = re.compile(rf"(?P<rest>.*[\s:(,-])(?P<word>{_LONG})[\s:=.()\[\]]*", re.IGNORECASE | re.DOTALL)
_LIKE = rf"(?i)^\W*(?:{_ANY})\b|[\s:(,-](?:{_LONG})[\s:=.()\[\]]*$"
_COUNTED = re.compile(r"\W*n\s*[=:]\s*[\d.,']+\W*", re.IGNORECASE)
_PEOPLE = rf"(?:(?:(?:{_WORDS['everybody']}) |of |de |di |der )?(?:{_WORDS['people']}))?"
_REST = re.compile(rf"[\s:=.()\[\]]*(?:n\s*[=:]\s*)?[\d.,\s'()±%]*{_PEOPLE}\W*", re.IGNORECASE)
_GROUP = re.compile(rf"(?:{data('tables')['notes']['group']})\b.{{0,40}}", re.IGNORECASE)
_CODE = re.compile(r"\S*\d\S*|\w{1,5}")
_COLUMNS_LOOKED_AT, _CELLS_LOOKED_AT = 3, 2000
_MOST_LOOKED_AT = 1000  # more rows than any sheet has wards: what they hold is then a value of subjects
_MOST_CODES, _SHARE_WITHOUT_NAME = 0.9, 0.05


class _Said(NamedTuple):
    """What a text with the word of a total says: of what rows, whether it says nothing else, and which figures."""

    rest: str
    is_alone: bool
    is_long: bool  # the word is nothing but one of totals, unlike `n` or `min`
    figures: tuple[Figure, ...]


class _Row(NamedTuple):
    """A row that may hold totals; `place` is the column of the word, and `said` is None if it has no word."""

    at: int
    texts: list[str]
    place: int
    said: _Said | None
    is_total: bool


def names_group(text: str) -> bool:
    """Return whether a text reads like the name of a ward, a site or an arm of a trial."""
    return bool(_GROUP.fullmatch(text.strip()))


def is_total_alone(text: str) -> bool:
    """Return whether a text is a count such as ``N = 24``, or the long word of a total and nothing else."""
    said = _said(text)
    return bool(_COUNTED.fullmatch(text)) or (said is not None and said.is_alone and said.is_long)


def _said(text: str) -> _Said | None:
    match = _BEGINS.fullmatch(text) or _ENDS.fullmatch(text)
    if match is None:
        return None
    word, rest = match["word"], match["rest"]
    figures: tuple[Figure, ...] = ("sum", "mean", "count")
    for figure in _FIGURES[1:]:
        if re.fullmatch(f"{_WORDS[figure]}|{_WORDS['short'].get(figure, '(?!)')}", word, re.IGNORECASE):
            figures = (figure,)
    is_long = re.fullmatch(_LONG, word, re.IGNORECASE) is not None
    is_alone = bool(_REST.fullmatch(rest) or _COUNTED.fullmatch(text))
    return _Said(rest.strip(" \t:=.()[],-"), is_alone, is_long, () if figures == ("norm",) else figures)


class Totals:
    """Which rows of a table hold totals; the labels of the frame plus 2 are row numbers.

    `always` are the columns, from 0, in which nearly all rows have a value.
    """

    def __init__(self, frame: pd.DataFrame, decimal: str | None, always: Sequence[int]) -> None:
        self._frame, self._decimal, self._always = frame, decimal, always
        self._numbers = np.asarray(frame.index) + 2
        self._columns: dict[int, tuple[NDArray[np.float64], Mask]] = {}
        self._rows = self._with_words()

    def found(self) -> tuple[Mask, list[str]]:
        """Return where a row is certainly a total, and what to say of these.

        It says so, or has no name, and its numbers are figures of the rows above it, or of those since the last total.
        """
        mask, begin, places = np.zeros(len(self._frame), dtype=bool), 0, np.arange(len(self._frame))
        counted = np.ones(len(mask), dtype=bool)  # a total counts subjects, and no other total
        counted[[row.at for row in self._rows if row.is_total]] = False
        known = {row.at for row in self._rows}
        for row in sorted([*self._rows, *(row for row in self._without_name() if row.at not in known)]):
            above = counted & ~mask & (places < row.at)
            every = ~mask & (places < row.at)  # the initials of a subject may be the word of a total
            if any(self._is_certain(row, part) for part in (above & (places >= begin), above, every)):
                mask[row.at], begin = True, row.at + 1
        found = places[mask].tolist()
        what = "totals or means of the rows above, and"
        hold = f"holds {what} is" if len(found) == 1 else f"hold {what} are"
        return mask, [f"{self._named(found)} {hold} left out ({self._shown(found)})"] if found else []

    def others(self, known: Mask) -> tuple[list[Doubt], list[str]]:
        """Return a doubt of rows that say that they are totals, but agree with no rows above, and what to say of more.

        `known` has the rows that are left out or asked about already.
        """
        words = [row.texts[row.place].strip() for row in self._rows]
        asked, told, is_norm = list[int](), list[int](), False
        for row, word in zip(self._rows, words, strict=True):
            said = row.said
            if said is None or known[row.at]:
                continue
            lacks = any(is_blank(row.texts[place]) for place in self._always)
            if row.is_total and (lacks or (said.is_long and words.count(word) == 1)):
                asked.append(row.at)
                is_norm |= not said.figures
            elif row.place == 0 and said.is_long:
                told.append(row.at)
        doubts, remarks = [], []
        if asked:
            what = (
                f"{self._named(asked)} {'holds' if len(asked) == 1 else 'hold'} the word of a total"
                f"{' or of a norm' if is_norm else ''} ({self._shown(asked)}), but with numbers that are no sums, "
                "means or counts of the rows above"
            )
            doubts.append(Doubt(what, tuple(self._numbers[asked].tolist())))
        if told and 10 * len(told) <= max(10, len(known)):
            remarks.append(
                f"read as subjects, though beginning like totals: {self._named(told)} ({self._shown(told)}); if they "
                "are none, leave them out with --where, or say with --rows which rows are subjects"
            )
        return doubts, remarks

    def _named(self, places: Sequence[int]) -> str:
        return rows_named(self._numbers[list(places)].tolist())

    def _shown(self, places: Sequence[int]) -> str:
        """Return the words of the totals, or the first figures of those without any."""
        words = {row.at: row.texts[row.place].strip() for row in self._rows}
        first = {at: self._frame.iloc[at].tolist() for at in places[:5]}
        texts = (words.get(at) or next(filter(None, map(str.strip, row))) for at, row in first.items())
        return listed(map(quoted, texts), len(places))

    def _with_words(self) -> list[_Row]:
        """Return the rows in whose first columns a text begins or ends like a total."""
        found: dict[int, _Row] = {}
        for place in range(min(_COLUMNS_LOOKED_AT, self._frame.shape[1])):
            cells = self._frame.iloc[:, place]
            like = np.flatnonzero(cells.str.contains(_LIKE).to_numpy(dtype=bool))
            if not 0 < like.size <= min(_MOST_LOOKED_AT, len(self._frame) / 2):
                continue
            others = [text.strip() for text in cells.drop(cells.index[like]).tolist() if not is_blank(text)]
            others = others[:: max(1, len(others) // _CELLS_LOOKED_AT)]
            are_codes = bool(others) and sum(map(bool, map(_CODE.fullmatch, others))) >= _MOST_CODES * len(others)
            for at in like.tolist():
                texts = self._frame.iloc[at].tolist()
                above = self._frame.iloc[at - 1].tolist()[: place + 1] if at else [""] * (place + 1)
                before = [text for text, other in zip(texts[:place], above, strict=False) if text != other]
                if not all(map(is_blank, before)):  # the name of a subject, and a level such as of a response
                    continue
                said = _said(texts[place])
                is_total = said is not None and (
                    said.is_alone
                    or bool(said.rest and said.is_long and (are_codes or names_group(said.rest)))
                    or bool(said.rest and said.is_long and said.rest in map(str.strip, above))
                )
                if at not in found and (is_total or place == 0):
                    found[at] = _Row(at, texts, place, said, is_total)
        return [found[at] for at in sorted(found)]

    def _without_name(self) -> list[_Row]:
        """Return the rows without a value in the first column, if nearly all others have one."""
        blank = np.flatnonzero(np.asarray(self._frame.iloc[:, 0].str.strip() == "", dtype=bool))
        if blank.size > min(_MOST_LOOKED_AT, max(2, _SHARE_WITHOUT_NAME * len(self._frame))):
            return []
        return [_Row(at, self._frame.iloc[at].tolist(), -1, None, False) for at in blank.tolist()]

    def _is_certain(self, row: _Row, above: Mask) -> bool:
        """Return whether the numbers of a row are figures of some rows above it, as its word or lack of a name says."""
        others = [at for at, text in enumerate(row.texts) if at != row.place and not is_blank(text)]
        if row.said is None:
            cells = [(row.texts[at], at, above) for at in others]
            figures: tuple[Figure, ...] = ("sum", "mean")
            return len(cells) > 1 and all(self._is_figure(*one, figures) and not self._is_value(*one) for one in cells)
        numeric = [at for at in others if np.isfinite(self._number(row.texts[at]))]
        agreeing = sum(self._is_figure(row.texts[at], at, above, row.said.figures) for at in numeric)
        is_most = agreeing == len(numeric) or (row.said.is_long and 2 * agreeing > len(numeric))
        return row.is_total and agreeing > 0 and is_most and len(others) - len(numeric) < 2  # one word may be the ward

    def _is_figure(self, text: str, place: int, above: Mask, figures: Sequence[Figure]) -> bool:
        """Return whether a cell is one of these figures of the column above it, rounded to its decimals."""
        numbers, n_filled = self._above(place, above)
        value, n_rows = self._number(text), int(above.sum())
        if numbers.size < 2:
            return "count" in figures and value in (n_filled, n_rows)
        known: dict[Figure, tuple[float, ...]] = {
            "sum": (numbers.sum(),),
            "mean": (numbers.mean(),),
            "median": (float(np.median(numbers)),),
            "deviation": (numbers.std(ddof=1), numbers.std()),
            "count": (numbers.size, n_filled, n_rows),
            "minimum": (numbers.min(),),
            "maximum": (numbers.max(),),
        }
        half = 0.5000001 * 10.0 ** -len(self._plain(text).removesuffix("%").strip().partition(".")[2])
        return any(abs(number - value) <= half for figure in figures for number in known[figure])

    def _is_value(self, text: str, place: int, above: Mask) -> bool:
        """Return whether subjects above have the number of a cell, or there are fewer than two."""
        numbers, _ = self._above(place, above)
        return numbers.size < 2 or self._number(text) in numbers

    def _above(self, place: int, above: Mask) -> tuple[NDArray[np.float64], int]:
        """Return the numbers in some rows of a column, and how many of these hold anything."""
        if place not in self._columns:
            cells = self._frame.iloc[:, place].tolist()
            filled = np.array([not is_blank(cell) for cell in cells], dtype=bool)
            self._columns[place] = numbers_of([self._plain(cell) for cell in cells]), filled
        numbers, filled = self._columns[place]
        return numbers[above & np.isfinite(numbers)], int(filled[above].sum())

    def _number(self, text: str) -> float:
        return float(numbers_of([self._plain(text).removesuffix("%").strip()])[0])

    def _plain(self, text: str) -> str:
        return number_with(text.strip(), "," if self._decimal != "." and "," in text else None)
