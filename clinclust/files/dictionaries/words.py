"""The texts of dictionaries: plain, compared without case and accents, rows, and coded values, lists and intervals.

Words are in `clinclust/data/`: `missing_words.toml` and, of headers, `dictionaries.toml`.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from clinclust.data import data
from clinclust.files.cell_text import LONGEST_NUMBER, NUMBER, canonical_text, shortened
from clinclust.texts import visible

if TYPE_CHECKING:
    import pandas as pd


_UNSHOWN = re.compile(
    r"<(script|style)\b[^<>]*>.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)|&#\d{8,};?",  # no character has so large a number
    re.IGNORECASE | re.DOTALL,
)
# Only elements that exist: "CRP <5 mg/L" holds no markup.
_INLINE = re.compile(r"</?(?:a|b|em|font|i|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BREAK = re.compile(
    r"</?(?:br|center|div|h[1-6]|hr|img|label|li|ol|p|pre|table|tbody|td|th|thead|tr|ul)(?:\s[^<>]*)?/?>|\n",
    re.IGNORECASE,
)
Choices = tuple[tuple[str, str], ...]
_LABELS = frozenset(label for labels in data("missing_words")["labels"].values() for label in labels)
_CODES = frozenset(data("missing_words")["short"]["codes"])
MISSING_SIGNS = frozenset(data("missing_words")["short"]["signs"])
"""How tables write a missing value without a word, and what spreadsheet programs write for an error; in lower case."""


def plain_text(text: str) -> str:
    """Return a text without HTML elements and comments, its entities as characters, with single spaces.

    >>> from clinclust.files.dictionaries.words import plain_text
    >>> plain_text("<div class='rich-text-field-label'><p>CRP &lt;5<br>mg/L</p></div>")
    'CRP <5 mg/L'
    """
    return " ".join(_paragraphs(text))


def heading_and_rest(text: str) -> tuple[str, str]:
    """Return the first paragraph of a text and the others, both plain: a question, and its explanation."""
    first, *others = _paragraphs(text) or [""]
    return first, " ".join(others)


def _paragraphs(text: str) -> list[str]:
    parts = _BREAK.split(_INLINE.sub("", _UNSHOWN.sub(" ", text)))
    return [plain for part in parts if (plain := visible(" ".join(html.unescape(part).split())))]


def folded(text: str) -> str:
    """Return the form in which names and headers are compared: letters and digits, without case and accents."""
    return "_".join(words_of(text))


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case, accents and signs.

    >>> from clinclust.files.dictionaries.words import words_of
    >>> words_of(" Non réalisé (refus) ")
    ['non', 'realise', 'refus']
    """
    return re.findall(r"[^\W_]+", "".join(map(_without_accents, text.casefold())))


@lru_cache(maxsize=10_000)
def _without_accents(letter: str) -> str:
    """Return a letter without accents; one by one, as a text of accents is sorted in the square of its length."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(sign))


def means_missing(label: str) -> bool:
    """Return whether a label says that the value is not known, in any of seven languages: "Unknown", not "None"."""
    return len(label) <= LONGEST_NUMBER and " ".join(words_of(label)) in _LABELS


def may_mean_missing(label: str) -> bool:
    """Return whether a label is an abbreviation by which surveys code a missing answer, such as dk and ref."""
    return " ".join(words_of(label)) in _CODES


def divided(choices: Sequence[tuple[str, str]]) -> tuple[Choices, Choices]:
    """Return the choices (code, label) that are levels, and those whose label says that the value is missing.

    If one level were left, the question is whether something is known, and all choices are levels.
    """
    levels = tuple(choice for choice in choices if not means_missing(choice[1]))
    missing = tuple(choice for choice in choices if means_missing(choice[1]))
    return (tuple(choices), ()) if len(levels) == 1 and missing else (levels, missing)


def said_missing(missing: Choices) -> str:
    """Return the end of a sentence that says which codes mean missing values; empty if none do."""
    shown = ", ".join(f"{shortened(code)!r} ({shortened(label)})" for code, label in missing[:10])
    return f"; {shown} mean{'s' * (len(missing) == 1)} missing" if missing else ""


SAYS = "the dictionary says: "
_WORDS = data("dictionaries")
CODEBOOK, REDCAP = (
    {folded(header): meaning for meaning, headers in _WORDS[kind].items() for header in headers}
    for kind in ("headers", "redcap_headers")
)
"""What the columns of a codebook, and of a REDCap data dictionary, hold, by folded header."""
Choice = tuple[str, str]  # a code and its label
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
    """The texts of one row by their meaning, empty where there is none; and its number in a spreadsheet."""

    number: int

    def __missing__(self, what: str) -> str:
        return ""


def meanings(frame: pd.DataFrame, words: dict[str, str]) -> list[str | None]:
    """Return what each column of a dictionary holds; None for one whose header is not among the words."""
    return [words.get(folded(canonical_text(header))) for header in frame.columns]


def rows_of(frame: pd.DataFrame, meanings: Sequence[str | None]) -> list[Row]:
    """Return the rows of a dictionary; of several columns of one meaning, the first with a text counts."""
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

    A label may hold commas. Of a repeated code, the first label counts.
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
