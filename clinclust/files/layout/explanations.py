"""Rows below the header that explain the columns: what their codes mean, their types, or the questions asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clinclust.files.dictionaries.missing_words import means_missing
from clinclust.files.layout.sheet_rows import Row, is_blank
from clinclust.files.layout.written_numbers import looks_like_number, share_of_numbers
from clinclust.files.listed import listed, quoted

__all__ = ["Explaining", "explaining"]

_FEWEST_BELOW = 5  # what is needed to find the first row of the subjects odd
_FEWEST_WORDS = 2
_MOST = 0.8  # other tables may stand below
_FEWEST_COLUMNS = 3
_MEANINGS = re.compile(r"\s*[\w.+-]{1,12}\s*=\s*[^\s=].*|\s*[\w.+-]{1,12}\s*:\s*\D[^:]*(?:[,;/|\n][^:]*:.*)+", re.S)
_TYPES = frozenset(
    [
        "int",
        "integer",
        "numeric",
        "number",
        "num",
        "float",
        "double",
        "real",
        "decimal",
        "string",
        "str",
        "text",
        "char",
        "character",
        "varchar",
        "factor",
        "category",
        "categorical",
        "nominal",
        "ordinal",
        "metric",
        "scale",
        "binary",
        "boolean",
        "bool",
        "logical",
        "date",
        "datetime",
        "time",
        "id",
        "zahl",
        "ganzzahl",
        "kommazahl",
        "datum",
        "uhrzeit",
        "zeichen",
        "nominalskaliert",
        "ordinalskaliert",
        "metrisch",
        "kategorial",
        "dichotom",
        "binär",
        "nombre",
        "entier",
        "texte",
        "chaîne",
        "numérique",
        "booléen",
        "número",
        "texto",
        "fecha",
        "entero",
    ]
)
_IMPORT_ID = re.compile(r'\s*\{\s*"ImportId"')


@dataclass(frozen=True)
class Explaining:
    """A row that explains the columns, or may do so.

    Attributes
    ----------
    texts : dict of int to str
        What it says of each column, by the number of the column.
    is_certain : bool
        Whether it can be no subject.
    why : str
        What it holds, in words.
    """

    texts: dict[int, str]
    is_certain: bool
    why: str


@dataclass
class _Kinds:
    """The columns of a row by what their cells are, beside the cells below them."""

    meanings: list[int]
    words: list[int]
    values: list[int]
    others: list[int]


def explaining(rows: Sequence[Row], names: dict[int, str]) -> Explaining | None:
    """Return what the first of some rows explains, or may explain; None if it looks like a subject.

    Parameters
    ----------
    rows : sequence of Row
        The rows below the header.
    names : dict of int to str
        The names of the columns, by their numbers.
    """
    if len(rows) < 2 or len(names) < _FEWEST_WORDS:
        return None
    texts = {place: text for place in names if (text := _cell(rows[0], place).strip())}
    shown = listed((quoted(text) for text in texts.values()), len(texts))
    if _has_import_ids(rows[0]) or _has_import_ids(rows[1]):
        return Explaining({} if _has_import_ids(rows[0]) else texts, True, f"the survey program's own words ({shown})")
    if len(texts) >= _FEWEST_COLUMNS and all(text.casefold() in _TYPES for text in texts.values()):
        return Explaining({}, True, f"the types of the columns ({shown})")
    kinds = _kinds(texts, rows[1:])
    words = [texts[place] for place in kinds.words]
    if kinds.meanings and len(kinds.values) <= len(kinds.meanings):
        meanings = {place: texts[place] for place in kinds.meanings}
        shown = listed((quoted(text) for text in meanings.values()), len(meanings))
        return Explaining(meanings, not kinds.values, f"what codes mean ({shown})")
    if len(set(words)) >= _FEWEST_WORDS:
        told = f"words where the rows below it hold numbers ({listed(map(quoted, words), len(words))})"
        return Explaining(texts, False, told)
    if texts and not kinds.values and len(names) >= _FEWEST_COLUMNS and _begins_blank(rows, names):
        return Explaining(texts, False, f"nothing in the first column, and elsewhere only {shown}")
    return None


def _cell(row: Row, place: int) -> str:
    return row[1][place - 1] if place <= len(row[1]) else ""


def _has_import_ids(row: Row) -> bool:
    filled = [text for text in row[1] if not is_blank(text)]
    return len(filled) > 1 and all(map(_IMPORT_ID.match, filled))


def _begins_blank(rows: Sequence[Row], names: dict[int, str]) -> bool:
    """Return whether the first row has nothing in the first column, where all rows below it have something."""
    first = min(names)
    below = [_cell(row, first) for row in rows[1:]]
    return is_blank(_cell(rows[0], first)) and len(below) >= _FEWEST_BELOW and not any(map(is_blank, below))


def _kinds(texts: dict[int, str], below: Sequence[Row]) -> _Kinds:
    kinds = _Kinds([], [], [], [])
    for place, text in texts.items():
        cells = [cell.strip() for row in below if not is_blank(cell := _cell(row, place))]
        are_numbers = share_of_numbers(cells) >= _MOST
        if text in cells or looks_like_number(text) or means_missing(text) or not any(map(str.isalnum, text)):
            kinds.values.append(place)
        elif _MEANINGS.fullmatch(text) and not any(map(_MEANINGS.fullmatch, cells)):
            kinds.meanings.append(place)
        elif are_numbers and len(cells) >= _FEWEST_BELOW:
            kinds.words.append(place)
        else:
            kinds.others.append(place)
    return kinds
