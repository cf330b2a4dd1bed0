"""Rows that hold totals, means or counts of the rows above them, between the subjects or below them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Mask
from clinclust.data import data
from clinclust.files.cell_text import LONGEST_NUMBER, compile_short, numbers_of
from clinclust.files.number_notation import number_as_written, share_of_numbers
from clinclust.files.text_table import Finding, is_blank

_WORDS = data("tables")["totals"]
_FIGURES = ("sum", "mean", "median", "deviation", "count", "minimum", "maximum", "norm")
_LONG = "|".join([*(_WORDS[figure] for figure in _FIGURES), rf"(?:{_WORDS['everybody']}) (?:{_WORDS['people']})"])
_ANY = "|".join([_LONG, *_WORDS["short"].values()])
_BEGINS = re.compile(rf"\W*+(?P<word>{_ANY})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ENDS = re.compile(rf"(?P<rest>.*[\s:(,-])(?P<word>{_LONG})[\s:=.()\[\]]*", re.IGNORECASE | re.DOTALL)
_LIKE = rf"(?i)^\W*(?:{_ANY})\b|[\s:(,-](?:{_LONG})[\s:=.()\[\]]*$"
_COUNTED = compile_short(r"\W*n\s*[=:]\s*[\d.,']+\W*", re.IGNORECASE)
_PEOPLE = rf"(?:(?:(?:{_WORDS['everybody']}) |of |de |di |der )?(?:{_WORDS['people']}))?"
_REST = compile_short(rf"[\s:=.()\[\]]*(?:n\s*[=:]\s*)?[\d.,\s'()±%]*{_PEOPLE}\W*", re.IGNORECASE)
_GROUP = compile_short(rf"(?:{data('tables')['notes']['group']})\b.{{0,40}}", re.IGNORECASE)
_CODE = compile_short(r"\S*\d\S*|\w{1,5}")
_COLUMNS_LOOKED_AT, _CELLS_LOOKED_AT = 3, 2000
_MOST_LOOKED_AT = 1000  # more rows than any sheet has wards: what they hold is then a value of subjects
_ROWS_LOOKED_AT, _FEWEST_ROWS, _NEARLY_ALL, _MOST = 200, 5, 0.95, 0.8
_MOST_CODES, _SHARE_WITHOUT_NAME = 0.9, 0.05


class _Claim(NamedTuple):
    """A row that says that it is a total by a word in the column `place`, or, with -1, that lacks a name."""

    at: int
    place: int
    texts: list[str]
    figures: tuple[str, ...] = ("sum", "mean")
    is_long: bool = False  # the word is nothing but one of totals, unlike `n` or `min`
    is_total: bool = True  # it says nothing else, or only of what group


def filled_columns(frame: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Return the places of columns that nearly all of 200 rows fill, and of those of numbers; none of under 5 rows."""
    rows = np.unique(np.linspace(0, max(0, len(frame) - 1), min(len(frame), _ROWS_LOOKED_AT), dtype=np.int64))
    columns = [[cell for cell in frame.iloc[rows, at].tolist() if not is_blank(cell)] for at in range(frame.shape[1])]
    fewest = max(_FEWEST_ROWS, _NEARLY_ALL * len(rows))
    always = [at for at, cells in enumerate(columns) if len(cells) >= fewest]
    numeric = [
        at for at, cells in enumerate(columns) if len(cells) >= _FEWEST_ROWS and share_of_numbers(cells) >= _MOST
    ]
    return always, numeric


def names_group(text: str) -> bool:
    """Return whether a text reads like the name of a ward, a site or an arm of a trial."""
    return bool(_GROUP.fullmatch(text.strip()))


def is_total_alone(text: str) -> bool:
    """Return whether a text is a count such as ``N = 24``, or the long word of a total and nothing else."""
    match = None if len(text) > LONGEST_NUMBER else _BEGINS.fullmatch(text) or _ENDS.fullmatch(text)
    is_alone = match is not None and _REST.fullmatch(match["rest"]) and re.fullmatch(_LONG, match["word"], re.I)
    return bool(is_alone or _COUNTED.fullmatch(text))


def totals(frame: pd.DataFrame, kept: Mask, decimal: str | None) -> list[Finding]:
    """Return the rows that are certainly totals, and those that say so, but agree with no rows above.

    A total has the word of one, or no name, and its numbers are figures of the rows above it or since the last total.
    """
    places, taken, begin = np.arange(len(frame)), ~kept, 0
    claims = sorted({claim.at: claim for claim in (*_without_name(frame, kept), *_with_words(frame, kept))}.values())
    if not claims:
        return []
    counted = np.ones(len(frame), dtype=bool)  # a total counts subjects, and no other total
    counted[[claim.at for claim in claims if claim.place >= 0 and claim.is_total]] = False

    @cache
    def column(place: int) -> tuple[NDArray[np.float64], Mask]:
        cells = frame.iloc[:, place].tolist()
        return numbers_of([_plain(cell, decimal) for cell in cells]), np.array([not is_blank(cell) for cell in cells])

    def is_total(claim: _Claim, above: Mask) -> bool:
        others = [at for at, text in enumerate(claim.texts) if at != claim.place and not is_blank(text)]
        agreeing, n_numbers = 0, 0
        for at in others:
            plain = _plain(claim.texts[at], decimal).removesuffix("%").strip()
            value = float(numbers_of([plain])[0])
            numbers, filled = column(at)
            numbers = numbers[above & np.isfinite(numbers)]
            if claim.place < 0 and (numbers.size < 2 or value in numbers):
                return False
            n_numbers += bool(np.isfinite(value))
            known = _figures_of(numbers, {int(filled[above].sum()), int(above.sum())}, claim.figures)
            half = 0.5000001 * 10.0 ** -len(plain.partition(".")[2])
            agreeing += any(abs(number - value) <= half for number in known)
        if claim.place < 0:
            return agreeing == len(others) > 1
        is_most = agreeing == n_numbers or (claim.is_long and 2 * agreeing > n_numbers)
        return agreeing > 0 and is_most and len(others) - n_numbers < 2  # one word may be the ward

    found = []
    for claim in claims:
        above = ~taken & (places < claim.at)  # the initials of a subject may be the word of a total
        parts = (above & counted & (places >= begin), above & counted, above)
        if claim.is_total and any(is_total(claim, part) for part in parts):
            taken[claim.at], begin = True, claim.at + 1
            found.append(claim.at)
    asked, always = [], filled_columns(frame[~taken])[0]
    words = {claim.at: claim.texts[claim.place].strip() for claim in claims if claim.place >= 0}
    for claim in claims:
        is_single = claim.is_long and list(words.values()).count(words[claim.at]) == 1
        lacks = any(is_blank(claim.texts[at]) for at in always)
        if claim.at in words and not taken[claim.at] and claim.is_total + is_single + lacks > 1:
            asked.append(claim.at)
    why = "the word of a total or of a norm, but no sums, means or counts of the rows above"
    return [Finding("totals or means of the rows above", found), Finding(why, asked, is_certain=False)]


def _with_words(frame: pd.DataFrame, kept: Mask) -> list[_Claim]:
    """Return the rows in whose first columns a text begins or ends like a total, the first column last."""
    found = []
    for place in reversed(range(min(_COLUMNS_LOOKED_AT, frame.shape[1]))):
        cells = frame.iloc[:, place]
        like = np.flatnonzero(cells.str.contains(_LIKE).to_numpy(dtype=bool) & kept)
        if not 0 < like.size <= min(_MOST_LOOKED_AT, kept.sum() / 2):
            continue
        fuller = np.setdiff1d(np.flatnonzero(kept), like)
        others = [text.strip() for text in cells.iloc[fuller].tolist() if not is_blank(text)]
        others = others[:: max(1, len(others) // _CELLS_LOOKED_AT)]
        are_codes = bool(others) and sum(map(bool, map(_CODE.fullmatch, others))) >= _MOST_CODES * len(others)
        for at in like.tolist():
            texts = frame.iloc[at].tolist()
            above = frame.iloc[at - 1].tolist()[: place + 1] if at else [""] * (place + 1)
            match = _BEGINS.fullmatch(texts[place]) or _ENDS.fullmatch(texts[place])
            if match is None or any(not is_blank(text) and text != above[on] for on, text in enumerate(texts[:place])):
                continue  # below the name of a subject is a level, such as of a response
            word, rest = match["word"], match["rest"].strip(" \t:=.()[],-")
            is_long = re.fullmatch(_LONG, word, re.I) is not None
            of_group = is_long and (are_codes or names_group(rest) or rest in map(str.strip, above))
            is_total = of_group or bool(_REST.fullmatch(match["rest"]) or _COUNTED.fullmatch(texts[place]))
            if is_total or place == 0:
                found.append(_Claim(at, place, texts, _figures_said(word), is_long, is_total))
    return found


def _figures_said(word: str) -> tuple[str, ...]:
    short = _WORDS["short"]
    for figure in _FIGURES[1:]:
        if re.fullmatch(f"{_WORDS[figure]}|{short.get(figure, '(?!)')}", word, re.I):
            return () if figure == "norm" else (figure,)
    return ("sum", "mean", "count")


def _without_name(frame: pd.DataFrame, kept: Mask) -> list[_Claim]:
    """Return the rows without a value in the first column, if nearly all others have one."""
    blank = np.flatnonzero(np.asarray(frame.iloc[:, 0].str.strip() == "", dtype=bool) & kept)
    if blank.size > min(_MOST_LOOKED_AT, max(2, _SHARE_WITHOUT_NAME * kept.sum())):
        return []
    return [_Claim(at, -1, frame.iloc[at].tolist()) for at in blank.tolist()]


@np.errstate(all="ignore")  # sums of numbers of any size may be infinite, and then they are no total's
def _figures_of(numbers: NDArray[np.float64], counts: set[int], figures: Sequence[str]) -> list[float]:
    if numbers.size < 2:
        return [*counts] if "count" in figures else []
    known = {
        "sum": [numbers.sum()],
        "mean": [numbers.mean()],
        "median": [np.median(numbers)],
        "deviation": [numbers.std(ddof=1), numbers.std()],
        "count": [numbers.size, *counts],
        "minimum": [numbers.min()],
        "maximum": [numbers.max()],
    }
    return [float(number) for figure in figures for number in known[figure]]


def _plain(text: str, decimal: str | None) -> str:
    text = text.strip()
    return (number_as_written(text, ",", ".") or text) if decimal != "." and "," in text else text
