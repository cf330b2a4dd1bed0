"""The words that totals, means, counts and norms begin or end with, in five languages."""

from __future__ import annotations

import re
from typing import Literal

__all__ = [
    "LIKE_TOTAL",
    "Figure",
    "figures_of_word",
    "is_count",
    "is_long_word",
    "rest_beside_total",
    "word_of_total",
]

Figure = Literal["sum", "mean", "median", "deviation", "count", "minimum", "maximum"]
"""What a total says of the values above it."""

_MEAN = r"means?|averages?|mittelwerte?|durchschnitt|moyennes?|medi[ae]|promedio"
_MEDIAN = r"medians?|mediane?|médianes?|medianas?"
_DEVIATION = r"standardabweichung|standard deviation|écart[- ]type|desviación (?:estándar|típica)|deviazione standard"
_COUNT = r"anzahl|count|gesamtzahl|nombre|effectif|recuento|conteggio|numero"
_PEOPLE = (
    r"patient\w*|pazienti|pacientes?|subjects?|sujets|sujetos|soggetti|cases?|fälle|cas|casos|casi|personen|probanden|"
    r"teilnehmer\w*|participants?|people|rows?|zeilen"
)
_ALL = r"all[ei]?|tous les|toutes les|todos(?: los)?|todas(?: las)?|tutti (?:i|gli)|tutte le"
_NORM = (
    r"norm(?:al)?(?:werte?|bereiche?)|referenz(?:werte?|bereiche?)|grenzwerte?|"
    r"(?:reference|normal) (?:values?|ranges?)|valeurs? (?:normales?|de référence)|"
    r"valor(?:es)? (?:normal(?:es)?|de referencia)|"
    r"valor[ei] (?:normal[ei]|di riferimento)"
)
_LONG = (
    r"(?:grand |sub)?[- ]?totals?|total (?:général|general)|(?:zwischen|gesamt|teil|spalten)?summe|"
    r"gesamt(?:ergebnis)?|insgesamt|sous-total|somme|teilergebnis|ergebnis|suma|totale|minimum|maximum|"
    rf"(?:{_ALL}) (?:{_PEOPLE})|{_COUNT}|{_NORM}|{_MEAN}|{_MEDIAN}|{_DEVIATION}"
)
_SHORT = r"sum|n|ø|mw|sd|std\.?(?: ?dev\.?)?|min|max|avg|stabw"
_FIGURES: dict[str, tuple[Figure, ...]] = {
    rf"{_MEAN}|ø|mw|avg": ("mean",),
    _MEDIAN: ("median",),
    rf"{_DEVIATION}|sd|std\.?(?: ?dev\.?)?|stabw": ("deviation",),
    rf"{_COUNT}|n": ("count",),
    r"min(?:imum)?": ("minimum",),
    r"max(?:imum)?": ("maximum",),
    _NORM: (),
}
_BEGINS = re.compile(rf"\W*(?P<word>{_LONG}|{_SHORT})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ENDS = re.compile(rf"(?P<rest>.*[\s:(,-])(?P<word>{_LONG})[\s:=.()\[\]]*", re.IGNORECASE | re.DOTALL)
_LONG_WORD = re.compile(_LONG, re.IGNORECASE)
_COUNTED = re.compile(r"\W*n\s*[=:]\s*[\d.,']+\W*", re.IGNORECASE)
_REST = re.compile(
    rf"[\s:=.()\[\]]*(?:n\s*[=:]\s*)?[\d.,\s'()±%]*(?:(?:(?:{_ALL}) |of |de |di |der )?(?:{_PEOPLE}))?\W*", re.I
)
LIKE_TOTAL = rf"(?i)^\W*(?:{_LONG}|{_SHORT})\b|[\s:(,-](?:{_LONG})[\s:=.()\[\]]*$"
"""The pattern, to be searched, of texts that begin or end with such a word."""


def _parted(text: str) -> tuple[str, str] | None:
    """Return the word of a total at the beginning or end of a text, and what stands beside it; None without a word."""
    match = _BEGINS.fullmatch(text) or _ENDS.fullmatch(text)
    return (match["word"], match["rest"]) if match else None


def word_of_total(text: str) -> str | None:
    """Return the word of a total of which a text consists, but for a count, numbers, or a word for subjects; or None.

    Examples
    --------
    >>> from clinclust.files.layout.words_of_totals import word_of_total
    >>> word_of_total("Patienten gesamt"), word_of_total("N. pazienti"), word_of_total("Total B.")
    ('gesamt', 'N', None)
    """
    parted = _parted(text)
    return parted[0] if parted and _REST.fullmatch(parted[1]) else None


def rest_beside_total(text: str) -> str | None:
    """Return what stands beside the word of a total that begins or ends a text, such as the name of a ward; or None.

    Examples
    --------
    >>> from clinclust.files.layout.words_of_totals import rest_beside_total
    >>> rest_beside_total("Summe Station A"), rest_beside_total("Ward 1: mean"), rest_beside_total("Station A")
    ('Station A', 'Ward 1', None)
    """
    parted = _parted(text)
    return parted[1].strip(" \t:=.()[],-") if parted and is_long_word(parted[0]) else None


def figures_of_word(text: str) -> tuple[Figure, ...]:
    """Return what the row may hold that a text with the word of a total names; nothing for a norm.

    Examples
    --------
    >>> from clinclust.files.layout.words_of_totals import figures_of_word
    >>> figures_of_word("Mean"), figures_of_word("Station A gesamt"), figures_of_word("Normwert")
    (('mean',), ('sum', 'mean', 'count'), ())
    """
    parted = _parted(text)
    word = parted[0] if parted else ""
    said = (figures for words, figures in _FIGURES.items() if re.fullmatch(words, word, re.IGNORECASE))
    return next(said, ("sum", "mean", "count"))


def is_long_word(word: str) -> bool:
    """Return whether a word of a total is one that is nothing else, unlike ``n`` or ``min``."""
    return bool(_LONG_WORD.fullmatch(word))


def is_count(text: str) -> bool:
    """Return whether a text is a count such as ``N = 24``."""
    return bool(_COUNTED.fullmatch(text))
