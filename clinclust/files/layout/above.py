"""What a row above the subjects is, beside the cells below it: units, an explanation, names, or itself a subject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from clinclust.data import data
from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.layout.decimal_marks import looks_like_number, share_of_numbers
from clinclust.files.layout.sheet_rows import Row, cell, is_blank
from clinclust.files.listed import listed, quoted

__all__ = ["Explaining", "explaining", "names_like_values", "shape_of", "unit_in_name", "units_in_row"]

_UNITS = data("tables")["units"]
_UNIT = re.compile(f"(?:{_UNITS['plain']}|{_UNITS['prefixed']}{_UNITS['per']}|{_UNITS['area']})", re.IGNORECASE)
_BRACKETED = re.compile(r"[\[(]\s*([^\])]{1,20}?)\s*[\])]")
_IN_NAME = re.compile(r"(.*\S)\s*[\[(]\s*([^\])(\[]{1,20}?)\s*[\])]\s*", re.DOTALL)
_NO_UNIT = ("", "-", "–", "n/a", ".", "/")
_MEANINGS = re.compile(r"\s*[\w.+-]{1,12}\s*=\s*[^\s=].*|\s*[\w.+-]{1,12}\s*:\s*\D[^:]*(?:[,;/|\n][^:]*:.*)+", re.S)
_IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"')
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?:[ ,].*)?")
_FEWEST_BELOW = 5  # what is needed to find the first row of the subjects odd
_FEWEST_COLUMNS, _FEWEST_WORDS = 3, 2
_MOST, _HALF = 0.8, 0.5  # other tables may stand below
_MOST_LEVELS = 8
_FEWEST_COUNTED = {0: 3, 1: 5}  # numbers of columns from 0 or 1, which nobody takes for a subject


class Explaining(NamedTuple):
    """A row that explains the columns, by their numbers, or may do so unless it is certain, and what it holds."""

    texts: dict[int, str]
    is_certain: bool
    why: str


def unit_in_name(name: str) -> tuple[str, str] | None:
    """Return the name without its unit, and the unit, if a name such as ``CRP (mg/L)`` ends in one.

    Examples
    --------
    >>> from clinclust.files.layout.above import unit_in_name
    >>> unit_in_name("CRP [mg/L]"), unit_in_name("Sex (m/w)")
    (('CRP', 'mg/L'), None)
    """
    match = _IN_NAME.fullmatch(name)
    return (match[1], match[2]) if match and _UNIT.fullmatch(match[2]) else None


def units_in_row(rows: Sequence[Row], names: dict[int, str]) -> dict[int, str]:
    """Return the unit of each column, by its number, if the first of some rows holds units; otherwise none.

    Most cells below a unit must be numbers. Beside units in several columns of numbers there may be other words, such
    as ``No.`` for the subject. In a narrow table a row of a subject may look like units.
    """
    units: dict[int, str] = {}
    n_known = n_others = 0
    if len(rows) < 2 or len(names) < _FEWEST_COLUMNS:
        return {}
    for place, raw in enumerate(rows[0][1], 1):
        text = raw.strip()
        if text.casefold() in _NO_UNIT:
            continue
        bracketed = _BRACKETED.fullmatch(text)
        is_known = bool(_UNIT.fullmatch(bracketed[1] if bracketed else text))
        if place not in names:
            return {}
        if not is_known and not bracketed:
            n_others += 1
            continue
        if share_of_numbers(found for row in rows[1:] if not is_blank(found := cell(row, place))) < _HALF:
            return {}
        n_known += is_known
        units[place] = bracketed[1] if bracketed else text
    return units if (n_known >= max(2, n_others) if n_others else 2 * n_known >= len(units)) else {}


def explaining(rows: Sequence[Row], names: dict[int, str]) -> Explaining | None:
    """Return what the first of some rows below the header explains, or may explain; None if it looks like a subject."""
    if len(rows) < 2 or len(names) < _FEWEST_WORDS:
        return None
    texts = {place: text for place in names if (text := cell(rows[0], place).strip())}
    shown = listed(map(quoted, texts.values()), len(texts))
    holds_ids = [all(map(_IMPORT_ID.match, filter(str.strip, row[1]))) for row in rows[:2]]
    if any(holds_ids):
        return Explaining({} if holds_ids[0] else texts, True, f"the survey program's own words ({shown})")
    types = set(data("tables")["types"]["words"])
    if len(texts) >= _FEWEST_COLUMNS and types.issuperset(map(str.casefold, texts.values())):
        return Explaining({}, True, f"the types of the columns ({shown})")
    meanings, words, n_values = {}, [], 0
    for place, text in texts.items():
        cells = [found.strip() for row in rows[1:] if not is_blank(found := cell(row, place))]
        if text in cells or looks_like_number(text) or means_missing(text) or not any(map(str.isalnum, text)):
            n_values += 1
        elif _MEANINGS.fullmatch(text) and not any(map(_MEANINGS.fullmatch, cells)):
            meanings[place] = text
        elif len(cells) >= _FEWEST_BELOW and share_of_numbers(cells) >= _MOST:
            words.append(text)
    if meanings and n_values <= len(meanings):
        shown = listed(map(quoted, meanings.values()), len(meanings))
        return Explaining(meanings, not n_values, f"what codes mean ({shown})")
    if len(set(words)) >= _FEWEST_WORDS:
        shown = listed(map(quoted, words), len(words))
        return Explaining(texts, False, f"words where the rows below it hold numbers ({shown})")
    first = [cell(row, min(names)) for row in rows]
    is_headless = is_blank(first[0]) and len(first) > _FEWEST_BELOW and not any(map(is_blank, first[1:]))
    if texts and not n_values and is_headless and len(names) >= _FEWEST_COLUMNS:
        return Explaining(texts, False, f"nothing in the first column, and elsewhere only {shown}")
    return None


def shape_of(text: str) -> str:
    """Return the shape of a text: ``a9`` for ``P01`` and ``P2``, ``9-9`` for ``12-7``."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", " ".join(text.split())))


def names_like_values(names: dict[int, str], below: Sequence[Row]) -> tuple[list[str], bool]:
    """Return the names that are like the values below them, if more are so than are clearly names; and if these count.

    A number above numbers, a date above dates, one of the values of the column, or a code like the others is like
    values; a word above numbers, or above a few values that repeat, or above codes of one form is clearly a name. Whole
    numbers that rise may count days, years or columns, and are names.
    """
    like, n_unlike = [], 0
    rows = [row for row in below if any(cell(row, place).strip() != name.strip() for place, name in names.items())]
    for place, name in names.items():
        cells = [found.strip() for row in rows if not is_blank(found := cell(row, place))]
        sign = _compared(name.strip(), cells)
        like += [name.strip()] if sign > 0 else []
        n_unlike += sign < 0
    if len(like) <= n_unlike:
        return [], False
    if not all(text.isascii() and text.isdecimal() and len(text) < 9 for text in like):
        return like, False
    numbers = [int(text) for text in like]
    if any(right <= left for left, right in pairwise(numbers)):
        return like, False
    is_gapless = numbers[-1] - numbers[0] == len(numbers) - 1
    fewest = 2 if n_unlike else _FEWEST_COUNTED.get(numbers[0], len(numbers) + 1)
    return like, len(numbers) >= fewest and bool(n_unlike or is_gapless)


def _compared(name: str, cells: Sequence[str]) -> int:
    """Return 1 if a name is like the cells below it, -1 if it is clearly the name of these, 0 if that is not known."""
    if not cells or means_missing(name) or not any(map(str.isalnum, name)):
        return 0
    are_dates = 2 * sum(bool(_DATE.fullmatch(text)) for text in cells) > len(cells)
    if _DATE.fullmatch(name):
        return int(are_dates)
    are_numbers = share_of_numbers(cells) > _HALF
    if looks_like_number(name):
        return int(are_numbers and not are_dates)
    if are_numbers or are_dates:
        return -1
    levels = set(cells)
    if name in levels:
        return int(len(levels) < len(cells))
    if len(levels) <= min(_MOST_LEVELS, len(cells) / 2):
        return -1
    shapes = [shape_of(text) for text in cells]
    usual = max(set(shapes), key=shapes.count)
    if "9" not in usual or shapes.count(usual) <= _HALF * len(shapes):
        return 0
    return 1 if shape_of(name) == usual else -1
