"""The labels and signs that say that there is no value; the words are `clinclust/data/missing_words.toml`."""

from __future__ import annotations

from clinclust.data import data
from clinclust.files.dictionaries.plain_text import words_of

__all__ = ["MISSING_SIGNS", "may_mean_missing", "means_missing", "says_missing"]

_LABELS = frozenset(label for labels in data("missing_words")["labels"].values() for label in labels)
_CODES = frozenset(data("missing_words")["short"]["codes"])
MISSING_SIGNS = frozenset(data("missing_words")["short"]["signs"])
"""How tables write a missing value without a word, and what spreadsheet programs write for an error; in lower case."""


def says_missing(text: str) -> bool:
    """Return whether the text of a cell among numbers says that there is no value.

    Examples
    --------
    >>> from clinclust.files.dictionaries.missing_words import says_missing
    >>> [says_missing(text) for text in ("NA", "n.d.", "-", "", "<5", "0")]
    [True, True, True, True, False, False]
    """
    return not text or text.casefold() in MISSING_SIGNS or means_missing(text)


def means_missing(label: str) -> bool:
    """Return whether a label says that the value is not known, in any of seven languages.

    Examples
    --------
    >>> from clinclust.files.dictionaries.missing_words import means_missing
    >>> [means_missing(label) for label in ("Unknown", "Weiß nicht", "Refus", "No", "None", "Known unknown")]
    [True, True, True, False, False, False]
    """
    return " ".join(words_of(label)) in _LABELS


def may_mean_missing(label: str) -> bool:
    """Return whether a label is an abbreviation by which surveys code a missing answer, such as dk and ref.

    Examples
    --------
    >>> from clinclust.files.dictionaries.missing_words import may_mean_missing
    >>> [may_mean_missing(label) for label in ("DK", "ref.", "reference", "no")]
    [True, True, False, False]
    """
    return " ".join(words_of(label)) in _CODES
