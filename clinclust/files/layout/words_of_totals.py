"""The words that totals, means and counts begin with, in English, German, French, Spanish and Italian."""

from __future__ import annotations

import re
from typing import Literal

__all__ = [
    "BEGINS_LIKE_TOTAL",
    "Figure",
    "figures_of_word",
    "is_count",
    "is_long_word",
    "rest_after_total",
    "word_of_total",
]

Figure = Literal["sum", "mean", "median", "deviation", "count", "minimum", "maximum"]
"""What a total says of the values above it."""

_MEAN = r"means?|averages?|mittelwerte?|durchschnitt|moyennes?|media|promedio"
_MEDIAN = r"medians?|mediane?|médianes?"
_DEVIATION = r"standardabweichung|standard deviation|écart[- ]type"
_LONG = (
    r"(?:grand |sub)?[- ]?totals?|total général|(?:zwischen|gesamt|teil|spalten)?summe|gesamt(?:zahl|ergebnis)?|"
    r"insgesamt|sous-total|somme|teilergebnis|ergebnis|suma|totale|anzahl|count|minimum|maximum|"
    rf"{_MEAN}|{_MEDIAN}|{_DEVIATION}"
)
_SHORT = r"sum|n|mw|sd|std\.?(?: ?dev\.?)?|min|max|avg|stabw"
_FIGURES: dict[str, tuple[Figure, ...]] = {
    rf"{_MEAN}|mw|avg": ("mean",),
    _MEDIAN: ("median",),
    rf"{_DEVIATION}|sd|std\.?(?: ?dev\.?)?|stabw": ("deviation",),
    r"anzahl|count|n|gesamtzahl": ("count",),
    r"min(?:imum)?": ("minimum",),
    r"max(?:imum)?": ("maximum",),
}
_TOTAL = re.compile(rf"\W*(?P<word>{_LONG}|{_SHORT})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_LONG_WORD = re.compile(_LONG, re.IGNORECASE)
_COUNTED = re.compile(r"\W*n\s*[=:]\s*[\d.,']+\W*", re.IGNORECASE)
_REST = re.compile(
    r"[\s:=.()\[\]]*(?:n\s*[=:]\s*)?[\d.,\s'()±%]*(?:patient\w*|subjects?|cases?|fälle|rows?|zeilen)?\W*", re.I
)
BEGINS_LIKE_TOTAL = rf"(?i)\W*(?:{_LONG}|{_SHORT})\b"
"""The pattern of texts that begin with such a word."""


def word_of_total(text: str) -> str | None:
    """Return the word of a total with which a text begins and ends, but for a count or numbers; None if it has none."""
    match = _TOTAL.fullmatch(text)
    return match["word"] if match and _REST.fullmatch(match["rest"]) else None


def rest_after_total(text: str) -> str | None:
    """Return what follows the word of a total at the beginning of a text, such as the name of a ward; or None.

    Examples
    --------
    >>> from clinclust.files.layout.words_of_totals import rest_after_total
    >>> rest_after_total("Summe Station A"), rest_after_total("Station A")
    ('Station A', None)
    """
    match = _TOTAL.fullmatch(text)
    return match["rest"].strip(" \t:=.()[]-") if match and _LONG_WORD.fullmatch(match["word"]) else None


def figures_of_word(text: str) -> tuple[Figure, ...]:
    """Return what the row may hold that a text with the word of a total begins.

    Examples
    --------
    >>> from clinclust.files.layout.words_of_totals import figures_of_word
    >>> figures_of_word("Mean"), figures_of_word("Summe Station A")
    (('mean',), ('sum', 'mean', 'count'))
    """
    match = _TOTAL.fullmatch(text)
    word = match["word"] if match else ""
    said = (figures for words, figures in _FIGURES.items() if re.fullmatch(words, word, re.IGNORECASE))
    return next(said, ("sum", "mean", "count"))


def is_long_word(word: str) -> bool:
    """Return whether a word of a total is one that is nothing else, unlike ``n`` or ``min``."""
    return bool(_LONG_WORD.fullmatch(word))


def is_count(text: str) -> bool:
    """Return whether a text is a count such as ``N = 24``."""
    return bool(_COUNTED.fullmatch(text))
