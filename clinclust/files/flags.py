"""Flags, approximations and limits in words around the numbers of a column (`clinclust/data/number_words.toml`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.data import data
from clinclust.files.number_notation import parts_of, with_plain_spaces

__all__ = ["Marked", "limits_in_words", "without_flags"]

_WORDS_BEFORE, _WORDS = ("|".join(map(re.escape, data("number_words")["flags"][side])) for side in ("before", "after"))
_APPROXIMATELY = rf"[~≈≃∼]|(?:{_WORDS_BEFORE})(?:\.|(?=\s))|c\."
_SIGNS = r"\*{1,3}|[#!?†‡§^▲▼⇑⇓]|↑{1,3}|↓{1,3}"
_LETTERS = "HH|LL|H|L|A|N"
_ARE_LETTERS = re.compile(_LETTERS)
_GLUED = "HH|LL|H|L"  # `12A` is a code
_FLAG = rf"(?:(?i:{_WORDS})|{_LETTERS})"
_NUMBER_FOLLOWS = r"\s*(?=[-+<>≤≥=€$£]?\s*[.,]?[0-9])"
_BEFORE = re.compile(rf"(?P<mark>(?i:{_APPROXIMATELY})|{_SIGNS}|[(\[]{_FLAG}[)\]]|{_FLAG}(?=\s)){_NUMBER_FOLLOWS}")
_AFTER = re.compile(
    rf".*[0-9].*?(?P<mark>\s*[(\[](?:{_FLAG}|{_SIGNS})[)\]]|\s+{_FLAG}|(?<=[0-9])(?:{_GLUED})|\s*{_SIGNS})"
)
_NEARLY_ALL, _HALF = 0.9, 0.5
_ABOVE, _BELOW = ("|".join(data("number_words")["limits"][side]) for side in ("above", "below"))
_WORDED = re.compile(rf"(?:(?P<above>{_ABOVE})|(?:{_BELOW}))\s*(?P<number>[0-9].*)", re.IGNORECASE)


class Marked(NamedTuple):
    """The marks that were taken off, the longest first, each text without them, and whether it held one."""

    marks: tuple[str, ...]
    texts: list[str]
    is_marked: NDArray[np.bool_]


def without_flags(texts: Sequence[str], counts: NDArray[np.int64]) -> Marked:
    """Return the distinct texts of a column, of which each has so many cells, without the marks at their numbers.

    Letters in (nearly) all cells are a unit or part of a code: litres are no flag for low, and ``L 4`` is a vertebra.
    """
    found = [_marks_of(text) for text in texts]
    refused = _refused(found, counts)
    kept = [bool(before or after) and refused.isdisjoint([*before, *after]) for before, after, _ in found]
    marks = {mark for (before, after, _), keep in zip(found, kept, strict=True) if keep for mark in [*before, *after]}
    bodies = [body if keep else text for text, (_, _, body), keep in zip(texts, found, kept, strict=True)]
    return Marked(tuple(sorted(marks, key=lambda mark: (-len(mark), mark))), bodies, np.array(kept, dtype=bool))


def _marks_of(text: str) -> tuple[list[str], list[str], str]:
    """Return the marks before and after the number of a text, and the text without them."""
    before: list[str] = []
    after: list[str] = []
    body = text
    while found := _BEFORE.match(body):
        before.append(found["mark"].strip())
        body = body[found.end() :]
    while found := _AFTER.fullmatch(body):
        after.append(found["mark"].strip())
        body = body[: found.start("mark")].rstrip()
    return before, after, body


def _refused(found: list[tuple[list[str], list[str], str]], counts: NDArray[np.int64]) -> set[str]:
    """Return the letters that are units or codes in this column, and no flags."""
    letters: set[str] = set()
    n_before = n_after = 0
    for (before, after, _), count in zip(found, counts.tolist(), strict=True):
        flagged, followed = (set(filter(_ARE_LETTERS.fullmatch, marks)) for marks in (before, after))
        letters |= flagged | followed
        n_before += count if flagged else 0
        n_after += count if followed else 0
    total = int(counts.sum())
    is_code = n_before > _HALF * total or (len(letters) == 1 and n_after >= _NEARLY_ALL * total)
    return letters if is_code else set()


def limits_in_words(texts: Sequence[str], counts: NDArray[np.int64]) -> dict[str, str]:
    """Return the texts that say in words that a value lies beyond a limit, each with the same in signs: ``>90``.

    At least half of the cells must be numbers: of others, ``under 20`` is an interval of a scale.
    """
    found = {text: match for text in texts if (match := _WORDED.fullmatch(with_plain_spaces(text))) is not None}
    is_number = [bool(found) and text not in found and parts_of(text) is not None for text in texts]
    if not found or counts[np.array(is_number)].sum() < 0.5 * counts.sum():
        return {}
    signed = {text: (">" if match["above"] else "<") + match["number"] for text, match in found.items()}
    return {text: sign for text, sign in signed.items() if parts_of(sign) is not None}
