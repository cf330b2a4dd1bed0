"""Texts that are spelled differently and mean the same: `Yes`, `YES`, `Y` and `ja`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clinclust.drafting.column import ObservedColumn

__all__ = ["NO_AND_YES", "one_spelling"]

NO_AND_YES = (
    ("no n nein non não false falsch faux f 0", "yes y ja j oui o sí si s sim true wahr vrai t 1 x"),
    (
        "f female w weiblich frau woman femme mujer femenino femmina",
        "m male mann männlich man homme h hombre masculino",
    ),
    ("neg negative negativ négatif negativo -", "pos positive positiv positif positivo + reactive"),
    ("absent abwesend", "present vorhanden"),
    ("alive living lebend vivant", "dead died deceased tot verstorben décédé"),
    ("control controls kontrolle témoin", "case cases fall patient cas"),
    ("normal unauffällig", "abnormal pathologic pathological auffällig"),
    ("never", "ever"),
    ("off", "on"),
)
"""Pairs of what means no and what means yes; one row holds what people write in one column."""
_GROUPS = tuple(tuple(frozenset(words.split()) for words in pair) for pair in NO_AND_YES)


def one_spelling(column: ObservedColumn) -> dict[str, str]:
    """Return for each text that is another spelling the text that it means, which is the most frequent spelling.

    Texts that differ only in case and inner white space are one. Three texts or more that all mean no or yes (in one
    row of `NO_AND_YES`) are two.
    """
    by_count = sorted(zip(column.texts, column.counts.tolist(), strict=True), key=lambda pair: -pair[1])
    meant = _by_key([text for text, _ in by_count], _folded)
    left = [text for text, _ in by_count if text not in meant]
    if len(column.texts) < 3 or len(left) < 2:
        return meant
    for no, yes in _GROUPS:
        if all(_folded(text) in no | yes for text in left) and any(_folded(text) in yes for text in left):
            same = _by_key(left, partial(_side, yes))
            return {text: same.get(target, target) for text, target in meant.items()} | same
    return meant


def _side(yes: frozenset[str], text: str) -> str:
    return "yes" if _folded(text) in yes else "no"


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
