"""What a row above the subjects is, given the cells below it: units, an explanation, names, or itself a subject."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from clinclust.data import data
from clinclust.files.cell_text import compile_short
from clinclust.files.dictionaries.words import means_missing
from clinclust.files.number_notation import looks_like_number, share_of_numbers
from clinclust.files.text_table import Row, cell, is_blank

_UNITS = data("tables")["units"]
_UNIT = compile_short(f"(?:{_UNITS['plain']}|{_UNITS['prefixed']}{_UNITS['per']}|{_UNITS['area']})", re.IGNORECASE)
_BRACKETED = re.compile(r"(.*\S)?\s*[\[(]\s*+([^\])(\[]{1,20}?)\s*[\])]\s*", re.DOTALL)
_NO_UNIT = ("", "-", "–", ".", "/")
_MEANINGS = re.compile(r"\s*[\w.+-]{1,12}\s*=\s*[^\s=].*|\s*[\w.+-]{1,12}\s*:\D[^:,;/|\n]*+[,;/|\n][^:]*+:.*", re.S)
_IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"')
_DATE = compile_short(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?:[ ,].*)?")
_FEWEST_BELOW = 5  # what is needed to find the first row of the subjects odd
_FEWEST_COLUMNS, _FEWEST_WORDS = 3, 2
_MOST, _HALF = 0.8, 0.5  # other tables may be below
_MOST_LEVELS = 8
_NUMBERS, _DATES = "numbers", "dates"


class Explaining(NamedTuple):
    """A row that explains the columns, by their numbers, or may do so unless it is certain, and what it holds."""

    texts: dict[int, str]
    is_certain: bool
    why: str


def unit_in_name(name: str) -> tuple[str, str] | None:
    """Return the name without its unit, and the unit, if a name such as ``CRP (mg/L)`` ends in one."""
    match = _BRACKETED.fullmatch(name)
    return (match[1], match[2]) if match and match[1] and _UNIT.fullmatch(match[2]) else None


def explaining(rows: Sequence[Row], names: dict[int, str], of_subjects: bool = True) -> Explaining | None:
    """Return what the first of some rows below the header explains, or may explain; None if it looks like a subject.

    In a codebook, whose rows are not `of_subjects`, only units are sure to explain.
    """
    if units := _units(rows, names):
        return Explaining(units, True, "units")
    if len(rows) < 2 or len(names) < _FEWEST_WORDS or not of_subjects:
        return None
    texts = {place: text for place in names if (text := cell(rows[0], place).strip())}
    holds_ids = [all(map(_IMPORT_ID.match, filter(str.strip, row[1]))) for row in rows[:2]]
    if any(holds_ids):
        return Explaining({} if holds_ids[0] else texts, True, "the survey program's own words")
    types = set(data("tables")["types"]["words"])
    if len(texts) >= _FEWEST_COLUMNS and types.issuperset(map(str.casefold, texts.values())):
        return Explaining({}, True, "the types of the columns")
    meanings, words, n_values = {}, set[str](), 0
    for place, text in texts.items():
        cells = _below(rows, place)
        if text in cells or looks_like_number(text) or means_missing(text) or not any(map(str.isalnum, text)):
            n_values += 1
        elif _MEANINGS.fullmatch(text) and not any(map(_MEANINGS.fullmatch, cells)):
            meanings[place] = text
        elif len(cells) >= _FEWEST_BELOW and share_of_numbers(cells) >= _MOST:
            words.add(text)
    if meanings and n_values <= len(meanings):
        return Explaining(meanings, not n_values, "what codes mean")
    if len(words) >= _FEWEST_WORDS:
        return Explaining(texts, False, "words where the rows below it hold numbers")
    is_headless = min(names) not in texts and len(_below(rows, min(names))) == len(rows) - 1 >= _FEWEST_BELOW
    if texts and not n_values and is_headless and len(names) >= _FEWEST_COLUMNS:
        return Explaining(texts, False, "nothing in the first column, and words elsewhere")
    return None


def _units(rows: Sequence[Row], names: dict[int, str]) -> dict[int, str]:
    """Return the unit of each column above numbers, by its number, if the first row holds units; else none."""
    units: dict[int, str] = {}
    n_known = n_others = 0
    if len(names) < _FEWEST_COLUMNS:  # in a narrow table a subject may look like units
        return {}
    for place, raw in enumerate(rows[0][1], 1):
        text = raw.strip()
        if text in _NO_UNIT or means_missing(text):  # NA is no nanoampere
            continue
        bracketed = _BRACKETED.fullmatch(text)
        unit = bracketed[2] if bracketed and not bracketed[1] else text
        is_known = bool(_UNIT.fullmatch(unit))
        if is_known or unit != text:
            units[place] = unit
        n_known += is_known
        n_others += place not in units
        if place not in names or (place in units and share_of_numbers(_below(rows, place)) < _HALF):
            return {}
    return units if n_known >= (max(2, n_others) if n_others else len(units) / 2) else {}


def shape_of(text: str) -> str:
    """Return the shape of a text: ``a9`` for ``P01`` and ``P2``, ``9-9`` for ``12-7``."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", " ".join(text.split())))


def names_like_values(names: dict[int, str], below: Sequence[Row]) -> list[str]:
    """Return the names that are like the values below them, if more are so than are clearly names; otherwise none."""
    rows = [row for row in below if any(cell(row, place).strip() != name.strip() for place, name in names.items())]
    signs = [(name.strip(), _compared(name.strip(), _below([(0, []), *rows], place))) for place, name in names.items()]
    like = [name for name, sign in signs if sign > 0]
    return like if len(like) > sum(sign < 0 for _, sign in signs) else []


def _below(rows: Sequence[Row], place: int) -> list[str]:
    return [text.strip() for row in rows[1:] if not is_blank(text := cell(row, place))]


def _compared(name: str, cells: Sequence[str]) -> int:
    """Return 1 if a name is like the cells below it, -1 if it is clearly the name of these, 0 if that is not known.

    Like them is a number above numbers, a date above dates, one of repeated values, or a code of the usual shape.
    """
    if not cells or means_missing(name) or not any(map(str.isalnum, name)):
        return 0
    kind, kinds = _kind(name), [_kind(text) for text in cells]
    usual = max(set(kinds), key=kinds.count)
    usual = usual if kinds.count(usual) > _HALF * len(kinds) else ""
    if kind in (_NUMBERS, _DATES):
        return int(kind == usual)
    if usual in (_NUMBERS, _DATES):
        return -1
    if name in cells:
        return int(len(set(cells)) < len(cells))
    if len(set(cells)) <= min(_MOST_LEVELS, len(cells) / 2):
        return -1
    return (1 if kind == usual else -1) if "9" in usual else 0


def _kind(text: str) -> str:
    return _DATES if _DATE.fullmatch(text) else _NUMBERS if looks_like_number(text) else shape_of(text)
