"""Texts that have an order: words of severity, Roman numerals, numbered grades, intervals, crosses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from clinclust.drafting.names import looks_coded
from clinclust.drafting.ordered_answers import GRADED, steps_of_scale

__all__ = ["in_order"]

_ROMAN = {"0": 0, "I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}
_GRADED = re.compile(r"(?P<prefix>[^\W\d_]*?[ ._-]*)(?P<grade>[0-9]{1,2}|[IVX]{1,4})(?P<part>[a-eA-E]?)")
_LABELLED = re.compile(r"(?P<grade>[+-]?[0-9]{1,3})\s*(?:[-=:.)(]\s*|\s)\D.*")
_CROSSES = {"-": 0.0, "0": 0.0, "neg": 0.0, "negative": 0.0, "(+)": 0.5, "+/-": 0.5, "±": 0.5, "trace": 0.5}
_CROSSES |= {"+": 1.0, "1+": 1.0, "++": 2.0, "2+": 2.0, "+++": 3.0, "3+": 3.0, "++++": 4.0, "4+": 4.0}
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_WITHIN = re.compile(rf"({_NUMBER})\s*(?:-|–|to|bis|à|a|until)\s*<?\s*({_NUMBER})\D{{0,9}}")
_BELOW = re.compile(rf"(?:<|<=|≤|under|below|less than|unter|moins de|menos de|up to|bis)\s*=?\s*({_NUMBER})\D{{0,9}}")
_ABOVE = re.compile(
    rf"(?:(?:>|>=|≥|over|above|more than|at least|über|ab|plus de|más de)\s*=?\s*({_NUMBER})\D{{0,9}}"
    rf"|({_NUMBER})\s*(?:\+|and over|and older|or more|years and over|und mehr|et plus|y más))"
)

Ranks = dict[str, float]


def in_order(texts: list[str], name: str) -> tuple[list[str], str] | None:
    """Return the texts from low to high, and what orders them; None if nothing does, or several texts tie.

    Parameters
    ----------
    texts : list of str
        At least three distinct texts.
    name : str
        The name of the column. Numbered texts of a column of codes (`School 3` of `school`) have no order.
    """
    ways: tuple[tuple[Callable[[list[str], str], Ranks | None], str], ...] = (
        (_by_words, "words that have an order"),
        (_by_crosses, "crosses"),
        (_by_intervals, "intervals"),
        (_by_grades, "numbered grades"),
        (_by_labels, "texts that begin with a number"),
    )
    for ranks_of, what in ways:
        ranks = ranks_of(texts, name)
        if ranks is not None and len(set(ranks.values())) == len(texts):
            return sorted(texts, key=ranks.__getitem__), what
    return None


def _by_words(texts: list[str], name: str) -> Ranks | None:
    steps = steps_of_scale(texts)
    return None if steps is None else dict(zip(texts, steps, strict=True))


def _by_crosses(texts: list[str], name: str) -> Ranks | None:
    folded = {text: text.casefold().replace(" ", "") for text in texts}
    if not all(key in _CROSSES for key in folded.values()) or not any("+" in text for text in texts):
        return None
    return {text: _CROSSES[key] for text, key in folded.items()}


def _by_grades(texts: list[str], name: str) -> Ranks | None:
    """Return ranks of `Stage IIa`, `T1`, `grade 2`, `I` or `3b`: one prefix for all, then a number, then a letter."""
    found = [_GRADED.fullmatch(text) for text in texts]
    graded = [match for match in found if match is not None]
    prefixes = {match["prefix"].strip(" ._-").casefold() for match in graded}
    if len(graded) < len(texts) or len(prefixes) > 1 or not prefixes <= GRADED or looks_coded(name):
        return None
    are_roman = [match["grade"] in _ROMAN and match["grade"] != "0" for match in graded]
    if any(are_roman) and not all(match["grade"] in _ROMAN for match in graded):
        return None
    grades = [_ROMAN[match["grade"]] if any(are_roman) else int(match["grade"]) for match in graded]
    parts = [(ord(match["part"].casefold()) - 96) / 10 if match["part"] else 0.0 for match in graded]
    return {text: grade + part for text, grade, part in zip(texts, grades, parts, strict=True)}


def _by_labels(texts: list[str], name: str) -> Ranks | None:
    """Return ranks of `0 - none`, `1: mild` or `2 (moderate)`."""
    found = [_LABELLED.fullmatch(text) for text in texts]
    if looks_coded(name) or not all(found):
        return None
    return {text: float(match["grade"]) for text, match in zip(texts, found, strict=True) if match is not None}


def _by_intervals(texts: list[str], name: str) -> Ranks | None:
    """Return ranks of `<30`, `30-39` and `>=40`, by their lower ends; at least one must have two ends."""
    ranks: Ranks = {}
    for text in texts:
        folded = " ".join(text.casefold().split())
        if within := _WITHIN.fullmatch(folded):
            ranks[text] = _decimal(within[1])
        elif below := _BELOW.fullmatch(folded):
            ranks[text] = _decimal(below[1]) - 1e9
        elif above := _ABOVE.fullmatch(folded):
            ranks[text] = _decimal(above[1] or above[2]) + 1e-6
        else:
            return None
    return ranks if _any_within(texts) else None


def _any_within(texts: Iterable[str]) -> bool:
    return any(_WITHIN.fullmatch(" ".join(text.casefold().split())) for text in texts)


def _decimal(text: str) -> float:
    return float(text.replace(",", "."))
