"""Read the choices of a question as a dictionary writes them: codes and their labels in one cell."""

from __future__ import annotations

import math
import re

from clinclust.files.cell_text import NUMBER
from clinclust.files.dictionaries.plain_text import plain_text

__all__ = ["Choice", "coded_values", "interval", "listed_values", "number_or_none", "redcap_choices", "unlike"]

Choice = tuple[str, str]
"""The code of a choice, and its label."""

_CODE = re.compile(r"[^\s,|]{1,100}")
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_TO = r"(?:-|–|—|\.{2,3}|…|to|bis|à|a|hasta|through|until)"
_INTERVAL = re.compile(rf"[\[(]?\s*({_NUMBER})\s*{_TO}\s*({_NUMBER})\s*[\])]?(?:\s*\D{{0,20}})?", re.IGNORECASE)
_PAIR = re.compile(rf"[\[(]\s*({_NUMBER})\s*[,;]\s*({_NUMBER})\s*[\])]")
_AT_LEAST = re.compile(rf"(?:>=?|≥|min\.?|from|ab|desde)\s*({_NUMBER})", re.IGNORECASE)
_AT_MOST = re.compile(rf"(?:<=?|≤|max\.?|up to|bis|hasta)\s*({_NUMBER})", re.IGNORECASE)
_SIGNS = ("=", "→", "⇒", ":", r"\)", r"\s[-–—]", r"\.\s")  # between a code and its label, the surest first
_LONGEST_LISTED = 80


def redcap_choices(text: str) -> tuple[list[Choice], list[str]]:
    """Return the choices of a REDCap field, such as ``1, Male | 2, Female``, and the parts that have no code.

    A label may hold commas. A part without a code continues the label before it; if no part has a code, the labels are
    the codes, as older projects have them.
    """
    parts = [part for part in map(str.strip, re.split(r"\|" if "|" in text else r"\\n|\n", text)) if part]
    if parts and not any("," in part for part in parts):
        return [(plain_text(part), plain_text(part)) for part in parts], []
    choices: list[Choice] = []
    odd = []
    for part in parts:
        code, comma, label = (side.strip() for side in part.partition(","))
        if comma and _CODE.fullmatch(code):
            choices.append((code, plain_text(label)))
            continue
        odd.append(part)
        if choices:
            before, label = choices[-1]
            choices[-1] = (before, f"{label} | {plain_text(part)}")
    return choices, odd


def unlike(choices: list[Choice]) -> list[Choice]:
    """Return the choices whose codes differ, the first of each."""
    kept: dict[str, str] = {}
    for code, label in choices:
        kept.setdefault(code, label)
    return list(kept.items())


def coded_values(text: str) -> list[Choice]:
    """Return the codes and labels of a cell such as ``1=male; 2=female`` or ``0: none, 1: mild``; none if it has none.

    Labels may hold commas and semicolons. ``male=1, female=2`` is read too.
    """
    text = _on_one_line(text)
    for sign in _SIGNS:
        found = _assigned(text, sign)
        if found:
            is_turned = all(NUMBER.fullmatch(label) and not NUMBER.fullmatch(code) for code, label in found)
            return [(label, code) for code, label in found] if is_turned else found
    return []


def _on_one_line(text: str) -> str:
    return plain_text(text.replace("\n", " | ").replace("\\n", " | ").strip()).strip(" ;,|{}")


def _assigned(text: str, sign: str) -> list[Choice]:
    code = r"[^=;|,]{1,80}?" if sign == "=" else r"[+-]?\w[\w.+-]{0,19}?"
    begin = re.compile(rf"(?:^|[;|,/]|\s(?=\(?[+-]?\d+\s*{sign}))\s*[\"'(]?({code})[\"']?\s*{sign}\s*")
    starts = list(begin.finditer(text))
    if not starts or starts[0].start() != 0 or (len(starts) == 1 and sign != "="):
        return []
    ends = [*(start.start() for start in starts[1:]), len(text)]
    labels = [text[start.end() : end].strip(" ;,|/\"'") for start, end in zip(starts, ends, strict=True)]
    return [(start[1].strip(), label) for start, label in zip(starts, labels, strict=True)]


def listed_values(text: str) -> list[str]:
    """Return the values of a cell that only lists them, such as ``male; female`` or ``0/1``; none if it lists none."""
    text = _on_one_line(text)
    mark = next((mark for mark in "|;,/" if mark in text), None)
    values = [value.strip(" \"'") for value in text.split(mark)] if mark else []
    sound = all(0 < len(value) <= _LONGEST_LISTED for value in values) and len(set(values)) == len(values)
    return values if sound else []


def interval(text: str) -> tuple[float | None, float | None] | None:
    """Return the least and the largest value of a cell such as ``0-120`` or ``≥ 18``; None if it is no interval."""
    text = plain_text(text)
    both = _PAIR.fullmatch(text) or _INTERVAL.fullmatch(text)
    if both:
        low, high = number_or_none(both[1]), number_or_none(both[2])
        return (low, high) if low is not None and high is not None and low < high else None
    if least := _AT_LEAST.fullmatch(text):
        return number_or_none(least[1]), None
    most = _AT_MOST.fullmatch(text)
    return (None, number_or_none(most[1])) if most else None


def number_or_none(text: str) -> float | None:
    """Return the number that a text writes, with a decimal point or comma; None if it writes none."""
    text = text.strip().replace(",", ".", 1)
    number = float(text) if NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None
