"""Texts that are spelled differently and mean the same: `Yes`, `YES`, `Y` and `ja`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.yes_no import PAIRS, folded_answer

__all__ = ["one_spelling"]


def one_spelling(column: ObservedColumn) -> dict[str, str]:
    """Return for each text that is another spelling the text that it means, which is the most frequent spelling.

    Texts that differ only in case and inner white space are one. Three texts or more that all mean no or yes (in one
    pair of words, see `PAIRS`) are two.
    """
    by_count = sorted(zip(column.texts, column.counts.tolist(), strict=True), key=lambda pair: -pair[1])
    meant = _by_key([text for text, _ in by_count], _folded)
    left = [text for text, _ in by_count if text not in meant]
    if len(column.texts) < 3 or len(left) < 2:
        return meant
    for no, yes in PAIRS:
        answers = {folded_answer(text) for text in left}
        if answers <= no | yes and answers & yes:
            same = _by_key(left, partial(_side, yes))
            return {text: same.get(target, target) for text, target in meant.items()} | same
    return meant


def _side(yes: frozenset[str], text: str) -> str:
    return "yes" if folded_answer(text) in yes else "no"


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _by_key(texts: list[str], key: Callable[[str], str]) -> dict[str, str]:
    """Return the first text of the same key for each text that is not the first."""
    first: dict[str, str] = {}
    meant = {}
    for text in texts:
        target = first.setdefault(key(text), text)
        if target != text:
            meant[text] = target
    return meant
