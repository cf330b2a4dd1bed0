"""Ranks of grades: Roman numerals, numbered stages, letters, crosses, and texts that begin with a number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clinclust.drafting.names import looks_coded, words_of
from clinclust.drafting.orders.plain import plain
from clinclust.drafting.orders.quantities import begins_with_a_unit
from clinclust.drafting.orders.vocabulary import GRADED, LETTER_GRADED
from clinclust.drafting.orders.words import is_absent

__all__ = ["ranks_of_crosses", "ranks_of_grades", "ranks_of_labels", "ranks_of_letters"]

Ranks = list[float]

_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10}
_GRADE = re.compile(
    r"(?P<prefix>(?:[^\W\d_]|[ ._/-])*?)"
    r"(?P<grade>[0-9]{1,2}|x|ix|iv|vi{0,3}|i{1,3}|is)"
    r"(?:\s*(?:-|/|to|bis|a)\s*(?P<next>[0-9]{1,2}|x|ix|iv|vi{0,3}|i{2,3})|[ ._-]?(?P<part>[a-e]?|mi)(?P<sub>[1-9]?))",
)
_LETTER = re.compile(r"(?P<prefix>(?:[^\W\d_]{2,}[ ._/-]+)*)(?P<letter>[a-g])(?P<number>[0-9]{0,2})")
_BEGINS = re.compile(r"\(?(?P<grade>[+-]?[0-9]{1,3}(?:\.[0-9]+)?)(?P<mark>\)?\s*(?:[-=:._)(]\s*|\s))(?P<behind>\D.*)")
_WIDEST = 2
"""How many numbers a code may have for each level; numbers further apart count something."""
_NO_CROSS = ("-", "0", "neg", "negative", "negativ", "negatif", "negativo", "negatief", "nul", "0+")
_TRACES = (
    *(
        "(+)",
        "+/-",
        "+-",
        "-/+",
        "±",
        "tr",
        "trace",
        "traces",
        "spur",
        "spuren",
        "traza",
        "trazas",
        "traccia",
        "tracce",
    ),
    *("indicios", "sporen", "vestigios"),
)
_CROSSES = dict.fromkeys(_NO_CROSS, 0.0) | dict.fromkeys(_TRACES, 0.5)
_CROSSES |= {sign: float(n) for n in range(1, 6) for sign in ("+" * n, f"{n}+", f"+{n}")}
_IN_SITU, _ABSENT = 0.5, -1.0
_ALWAYS_GRADED = frozenset(
    (
        *("year", "jahr", "annee", "anno", "grade", "grad", "grado", "graad", "grau", "degree"),
        *("stage", "stadium", "stade", "stadio", "estadio", "estagio"),
    )
)
"""Words before a number that grade also in a column of codes: `Year 3` of a `school year`, `Schule 3` does not."""
_LETTER_ORDERS = ("avpu", "acvpu", "avdn")
"""Letters of classifications whose order is not that of the alphabet."""


def ranks_of_crosses(texts: Sequence[str]) -> Ranks | None:
    """Return ranks of `-`, `+`, `++`; None for other texts."""
    folded = [plain(text).replace(" ", "").rstrip(".") for text in texts]
    ranks = [_CROSSES.get(key, 0.0 if is_absent(text) else None) for key, text in zip(folded, texts, strict=True)]
    known = [rank for rank in ranks if rank is not None]
    return known if len(known) == len(texts) and any("+" in text for text in texts) else None


def ranks_of_grades(texts: Sequence[str], name: str) -> Ranks | None:
    """Return ranks of `Stage IIa`, `T1`, `grade 2`, `I` or `3b`: one prefix for all, then a number, then a letter.

    Words for absence (`no` beside `grado I`) lie below all grades. None for other texts, and in a column of codes.
    """
    folded = [plain(text) for text in texts]
    found = [None if is_absent(text) else _GRADE.fullmatch(text) for text in folded]
    graded = [match for match in found if match is not None]
    unread = [text for text, match in zip(folded, found, strict=True) if match is None and not is_absent(text)]
    if unread or len(graded) < 2:
        return None
    prefixes = {_prefix(match["prefix"]) for match in graded if match["grade"] != "0"}
    if looks_coded(name) and not prefixes <= _ALWAYS_GRADED:
        return None
    if len(prefixes) != 1 or not (prefixes <= GRADED or _count_from_zero(graded, prefixes)):
        return None
    if not all(_is_one_step(match) for match in graded):
        return None
    roman = [match["grade"] in _ROMAN for match in graded]
    if any(roman) and not all(is_one or match["grade"] == "0" for is_one, match in zip(roman, graded, strict=True)):
        return None
    if not any(match["prefix"] or match["part"] or match["next"] or match["grade"] in _ROMAN for match in graded):
        return (
            [_ABSENT if match is None else float(match["grade"]) for match in found] if None in found else _plain(found)
        )
    return [_ABSENT if match is None else _value(match) for match in found]


def _is_one_step(match: re.Match[str]) -> bool:
    """Return whether a grade is one, or lies between one and the next: `II-III`, `2-3`; `1/2` may be a half."""
    if match["next"] is None:
        return True
    both = [match["grade"] in _ROMAN, match["next"] in _ROMAN]
    is_half = "/" in match[0] and not all(both)
    return both[0] == both[1] and not is_half and _step(match["next"]) == _step(match["grade"]) + 1


def _step(grade: str) -> float:
    return _IN_SITU if grade == "is" else float(_ROMAN.get(grade, 0) or grade)


def _count_from_zero(graded: Sequence[re.Match[str]], prefixes: set[str]) -> bool:
    """Return whether one letter counts grades 0, 1, 2, ...: what is only numbered begins at 1."""
    numbers = sorted(int(match["grade"]) for match in graded if match["grade"].isdecimal() and match["prefix"])
    return max(map(len, prefixes)) == 1 and numbers == list(range(len(graded)))


def _plain(found: Sequence[re.Match[str] | None]) -> Ranks:
    return [float(match["grade"]) for match in found if match is not None]


def _value(match: re.Match[str]) -> float:
    grade = match["grade"]
    number = _step(grade)
    if match["next"]:
        return number + 0.5
    part = 0.05 if match["part"] == "mi" else (ord(match["part"]) - 96) / 10 if match["part"] else 0.0
    return number + part + (int(match["sub"]) / 100 if match["sub"] else 0.0)


def _prefix(text: str) -> str:
    """Return the last word before a grade: `who grade` grades as `grade` does."""
    words = re.findall(r"[^\W\d_]+", text)
    return words[-1] if words else ""


def ranks_of_letters(texts: Sequence[str], name: str) -> Ranks | None:
    """Return ranks of `A`, `B`, `C` or `A1` to `C3`, if the name or what stands before them grades."""
    plainly = [plain(text) for text in texts]
    for order in _LETTER_ORDERS:
        if len(texts) > 2 and set(plainly) <= set(order) and (len(texts) > 3 or order in plain(name)):
            return [float(order.index(letter)) for letter in plainly]
    found = [_LETTER.fullmatch(plain(text)) for text in texts]
    matches = [match for match in found if match is not None]
    prefixes = {" ".join(re.findall(r"\w+", match["prefix"])) for match in matches}
    if len(matches) < len(texts) or len(prefixes) != 1 or looks_coded(name):
        return None
    said = {*words_of(name), *next(iter(prefixes)).split()}
    numbered = {bool(match["number"]) for match in matches}
    letters = {match["letter"] for match in matches}
    if said.isdisjoint(LETTER_GRADED) or len(numbered) > 1 or "a" not in letters:
        return None
    return [100 * (ord(match["letter"]) - 96) + float(match["number"] or 0) for match in matches]


def ranks_of_labels(texts: Sequence[str], name: str) -> Ranks | None:
    """Return ranks of `0 - none`, `1: mild` or `2 (moderate)`; None for other texts, and in a column of codes.

    A number that counts what stands behind it (`5 Zigaretten`, `1 Packung`) is no code of it.
    """
    found = [match for text in texts if (match := _BEGINS.fullmatch(text.strip())) is not None]
    if looks_coded(name) or len(found) < len(texts):
        return None
    if any(match["mark"].strip() in ("", ".") and begins_with_a_unit(match["behind"]) for match in found):
        return None  # `1 week` and `2. Tag` count
    ranks = [float(match["grade"]) for match in found]
    behind = {plain(match["behind"]) for match in found}
    is_counting = not all(match["mark"].strip() for match in found)
    if is_counting and (len(behind) < len(found) or max(ranks) - min(ranks) >= _WIDEST * len(ranks)):
        return None
    return ranks
