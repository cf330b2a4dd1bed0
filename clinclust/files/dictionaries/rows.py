"""The rows of a dictionary by what their columns hold, and what one cell says of values: choices, lists, intervals.

The words of headers are `clinclust/data/dictionaries.toml`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from clinclust.data import data
from clinclust.files.cell_text import NUMBER, canonical_text
from clinclust.files.dictionaries.words import folded, plain_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CODEBOOK",
    "REDCAP",
    "SAYS",
    "Choice",
    "Row",
    "coded_values",
    "interval",
    "listed_values",
    "meanings",
    "number_or_none",
    "redcap_choices",
    "rows_of",
]

SAYS = "the dictionary says: "
_WORDS = data("dictionaries")
CODEBOOK, REDCAP = (
    {folded(header): meaning for meaning, headers in _WORDS[kind].items() for header in headers}
    for kind in ("headers", "redcap_headers")
)
"""What the columns of a codebook, and of a REDCap data dictionary, hold, by folded header."""
Choice = tuple[str, str]
"""The code of a choice, and its label."""
_CODE = re.compile(r"[^\s,|]{1,100}")
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_INTERVALS = (
    re.compile(rf"[\[(]\s*(?P<low>{_NUMBER})\s*[,;]\s*(?P<high>{_NUMBER})\s*[\])]"),
    re.compile(rf"(?P<low>{_NUMBER})\s*(?:-|–|—|\.\.|to|bis|à|a|hasta)\s*(?P<high>{_NUMBER})"),
    re.compile(rf"(?:>=?|≥)\s*(?P<low>{_NUMBER})(?P<high>)"),
    re.compile(rf"(?P<low>)(?:<=?|≤)\s*(?P<high>{_NUMBER})"),
)
_SIGNS = ("=", ":", r"\)", r"\s[-–—]", r"\.\s")  # between a code and its label, the surest first
_LONGEST_LISTED = 80


class Row(dict[str, str]):
    """The texts of one row by what they are, empty where there is none; and its number in a spreadsheet."""

    number: int

    def __missing__(self, what: str) -> str:
        return ""


def meanings(frame: pd.DataFrame, words: dict[str, str]) -> list[str | None]:
    """Return what each column of a dictionary holds; None for one whose header is not among the words."""
    return [words.get(folded(canonical_text(header))) for header in frame.columns]


def rows_of(frame: pd.DataFrame, meanings: Sequence[str | None]) -> list[Row]:
    """Return the rows of a dictionary; of several columns that hold the same, the first with a text counts."""
    numbered = frame.index.inferred_type == "integer"
    cells = frame.astype(object).where(frame.notna(), "").to_numpy()
    rows = []
    for place, values in enumerate(cells):
        row = Row()
        row.number = int(frame.index[place]) + 2 if numbered else place + 2
        for meaning, value in zip(meanings, values, strict=True):
            if meaning is not None and (text := canonical_text(value)):
                row.setdefault(meaning, text)
        rows.append(row)
    return rows


def redcap_choices(text: str) -> tuple[list[Choice], list[str]]:
    """Return the choices of a REDCap field, such as ``1, Male | 2, Female``, and the parts that have no code.

    A label may hold commas. Of a code that is given twice, the first label counts.
    """
    choices: dict[str, str] = {}
    odd = []
    for part in filter(None, map(str.strip, re.split(r"\|" if "|" in text else r"\\n|\n", text))):
        code, comma, label = (side.strip() for side in part.partition(","))
        if comma and _CODE.fullmatch(code):
            choices.setdefault(code, plain_text(label))
        else:
            odd.append(part)
    return list(choices.items()), odd


def coded_values(text: str) -> list[Choice]:
    """Return the codes and labels of a cell such as ``1=male; 2=female`` or ``0: none, 1: mild``; none if it has none.

    Labels may hold commas and semicolons. ``male=1, female=2`` is read too.
    """
    text = _on_one_line(text)
    for sign in _SIGNS:
        found = _assigned(text, sign)
        if found:
            is_turned = all(NUMBER.fullmatch(label) and not NUMBER.fullmatch(code) for code, label in found)
            return [(label, code) for code, label in found] if is_turned else found
    return []


def _on_one_line(text: str) -> str:
    return plain_text(text.replace("\n", " | ")).strip(" ;,|{}")


def _assigned(text: str, sign: str) -> list[Choice]:
    code = r"[^=;|,]{1,80}?" if sign == "=" else r"[+-]?\w[\w.+-]{0,19}?"
    begin = re.compile(rf"(?:^|[;|,/]|\s(?=\(?[+-]?\d+\s*{sign}))\s*[\"'(]?({code})[\"']?\s*{sign}\s*")
    starts = list(begin.finditer(text))
    if not starts or starts[0].start() != 0 or (len(starts) == 1 and sign != "="):
        return []
    ends = [*(start.start() for start in starts[1:]), len(text)]
    labels = [text[start.end() : end].strip(" ;,|/\"'") for start, end in zip(starts, ends, strict=True)]
    choices: dict[str, str] = {}
    for start, label in zip(starts, labels, strict=True):
        choices.setdefault(start[1].strip(), label)
    return list(choices.items())


def listed_values(text: str) -> list[str]:
    """Return the values of a cell that only lists them, such as ``male; female`` or ``0/1``; none if it lists none."""
    text = _on_one_line(text)
    mark = next((mark for mark in "|;,/" if mark in text), None)
    values = [value.strip(" \"'") for value in text.split(mark)] if mark else []
    sound = all(0 < len(value) <= _LONGEST_LISTED for value in values) and len(set(values)) == len(values)
    return values if sound else []


def interval(text: str) -> tuple[float | None, float | None] | None:
    """Return the least and the largest value of a cell such as ``0-120`` or ``≥ 18``; None if it is no interval."""
    found = next(filter(None, (form.fullmatch(plain_text(text)) for form in _INTERVALS)), None)
    if found is None:
        return None
    low, high = number_or_none(found["low"]), number_or_none(found["high"])
    return None if low is not None and high is not None and low >= high else (low, high)


def number_or_none(text: str) -> float | None:
    """Return the number that a text writes, with a decimal point or comma; None if it writes none."""
    text = text.strip().replace(",", ".", 1)
    number = float(text) if NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None
