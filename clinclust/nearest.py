"""Suggest the nearest name for a misspelt word."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest"]

_LONGEST_SHOWN = 200


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice closest to `word` but for case and white space (`difflib` ratio of at least .6), or None."""
    folded: dict[str, str] = {}
    for choice in choices:
        folded.setdefault(choice.strip().casefold(), choice)
    found = difflib.get_close_matches(word.strip().casefold()[:200], folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"``, or an empty text if no choice is close."""
    choice = nearest(word, choices)
    return "" if choice is None else f" Did you mean {choice[:_LONGEST_SHOWN]!r}?"
