"""Divide the choices of a question into levels and the codes of missing values."""

from __future__ import annotations

from collections.abc import Sequence

from clinclust.files.cell_text import shortened
from clinclust.files.dictionaries.choices import Choice
from clinclust.files.dictionaries.missing_words import means_missing

__all__ = ["divided", "negative_levels", "told_missing"]


def divided(choices: Sequence[Choice]) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
    """Return the choices that are levels, and those whose label says that the value is missing.

    If one level were left, the question is whether something is known, and all choices are levels.
    """
    levels = tuple(choice for choice in choices if not means_missing(choice[1]))
    missing = tuple(choice for choice in choices if means_missing(choice[1]))
    return (tuple(choices), ()) if len(levels) == 1 and missing else (levels, missing)


def told_missing(missing: tuple[Choice, ...]) -> str:
    """Return the end of a sentence that says which codes stand for missing values; empty if none do."""
    return f"; {_with_labels(missing)} stand{'s' * (len(missing) == 1)} for missing" if missing else ""


def negative_levels(levels: tuple[Choice, ...]) -> str:
    """Return the end of a sentence about levels with negative codes among others; empty if there are none."""
    negative = tuple(choice for choice in levels if choice[0].startswith("-"))
    if not negative or len(negative) == len(levels):
        return ""
    return f"; {_with_labels(negative)}: a negative code; list it under missing_codes if it is no answer"


def _with_labels(choices: tuple[Choice, ...]) -> str:
    labels = [f" ({shortened(label)})" if label != code else "" for code, label in choices]
    return ", ".join(repr(shortened(code)) + label for (code, _), label in list(zip(choices, labels, strict=True))[:10])
