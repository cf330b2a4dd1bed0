"""The labels and signs that say that there is no value; the words are `clinclust/data/missing_words.toml`."""

from __future__ import annotations

from collections.abc import Sequence

from clinclust.data import data
from clinclust.files.cell_text import shortened
from clinclust.files.dictionaries.plain_text import words_of

__all__ = ["MISSING_SIGNS", "divided", "may_mean_missing", "means_missing", "said_missing", "says_missing"]

Choices = tuple[tuple[str, str], ...]
_LABELS = frozenset(label for labels in data("missing_words")["labels"].values() for label in labels)
_CODES = frozenset(data("missing_words")["short"]["codes"])
MISSING_SIGNS = frozenset(data("missing_words")["short"]["signs"])
"""How tables write a missing value without a word, and what spreadsheet programs write for an error; in lower case."""


def says_missing(text: str) -> bool:
    """Return whether the text of a cell among numbers says that there is no value, as "NA", "n.d." and "-" do."""
    return not text or text.casefold() in MISSING_SIGNS or means_missing(text)


def means_missing(label: str) -> bool:
    """Return whether a label says that the value is not known, in any of seven languages: "Unknown", not "None"."""
    return " ".join(words_of(label)) in _LABELS


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
    """Return the end of a sentence that says which codes stand for missing values; empty if none do."""
    shown = ", ".join(f"{shortened(code)!r} ({shortened(label)})" for code, label in missing[:10])
    return f"; {shown} stand{'s' * (len(missing) == 1)} for missing" if missing else ""
