"""Durations that are written in two units, or in several: `7h30`, `38+4`, `2 y 3 m`, `6 months` beside `2 years`.

The schema reads them through `synonyms`, which hold the number that each text means.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.names import looks_lasting
from clinclust.drafting.orders.plain import plain
from clinclust.drafting.unit_words import DAYS_A_YEAR, pattern_of, with_j_written_out
from clinclust.drafting.written_numbers import WrittenNumbers

__all__ = ["MOST_DURATIONS", "durations_of"]

MOST_DURATIONS = 500
"""The most distinct texts for which a schema lists what each means."""
_N = r"([0-9]+(?:[.,][0-9]+)?)"
_H, _MIN = pattern_of("hour"), pattern_of("minute", "m '")
_Y, _MO = pattern_of("year"), pattern_of("month", "m")
_W, _D = pattern_of("week", "ssw sa"), pattern_of("day", "j")
_LONG_D = r"(?:days|day|tage|tagen|tag|jours|jour|dias|dia|giorni|giorno|dagen|dag)"
"""Words for days; `2d` and `3d` in a column alone may be dimensions."""
_AND = r"\s*(?:,|\+|and|und|et|y|e|en)?\s*"
_HOURS = re.compile(rf"([0-9]{{1,3}})\s*{_H}\s*(?:([0-5]?[0-9])\s*(?:{_MIN})?)?|([0-9]{{1,4}})\s*{_MIN}")
_CLOCK = re.compile(r"([0-9]{1,3}):([0-5][0-9])(?::[0-5][0-9])?(?:\s*h)?")
_GESTATION = re.compile(
    rf"([1-4]?[0-9])\s*(?:{_W})?\s*(?:\+\s*([0-6])|\s([0-6])/7|(?<=[a-z.])\s*([0-6])(?=\s*{_D}))?\s*(?:{_W}|{_D})?"
)
_YEARS = re.compile(rf"(?:{_N}\s*{_Y})?{_AND}(?:{_N}\s*{_MO})?|{_N}\s*(?P<weeks>{_W})|{_N}\s*{_LONG_D}")


def durations_of(column: ObservedColumn) -> WrittenNumbers | None:
    """Return how the column writes durations, and the number of each; None if it holds others, or plain numbers.

    All texts must be durations of one kind. `07:30` may be a time of day: it is a duration only by the column's name.
    """
    texts = with_j_written_out([plain(text) for text in column.texts])
    for unit, said, read in _KINDS:
        numbers = [read(text) for text in texts]
        if None in numbers or not _is_meant(unit, column.name, texts):
            continue
        found = np.array([float(f"{number:.4g}") for number in numbers if number is not None], dtype=np.float64)
        if len(texts) > MOST_DURATIONS:
            return None
        synonyms = {text: f"{number:g}" for text, number in zip(column.texts, found.tolist(), strict=True)}
        example = f"{column.texts[0]!r} is {found[0]:g}"
        look = f"{said} are read as {unit}, {example}: `synonyms` lists the number of each text"
        return WrittenNumbers({"unit": unit, "synonyms": synonyms}, found, [], [look])
    return None


def _is_meant(unit: str, name: str, texts: list[str]) -> bool:
    """Return whether texts that could be written so for another reason are durations."""
    if unit == "hours" and all(map(_CLOCK.fullmatch, texts)):
        return looks_lasting(name)
    # `3+4` is a Gleason pattern, and `1+0` a parity: weeks have two digits in some row.
    if unit == "weeks" and not any(re.match(r"[1-9][0-9]", text) for text in texts):
        return False
    return sum("+" in text or any(sign.isalpha() or sign in "/:'" for sign in text) for text in texts) > 0


def _hours(text: str) -> float | None:
    if clock := _CLOCK.fullmatch(text):
        return float(clock[1]) + float(clock[2]) / 60
    found = _HOURS.fullmatch(text)
    if found is None:
        return None
    return float(found[3]) / 60 if found[3] else float(found[1]) + float(found[2] or 0) / 60


def _weeks(text: str) -> float | None:
    found = _GESTATION.fullmatch(text)
    return None if found is None else float(found[1]) + float(found[2] or found[3] or found[4] or 0) / 7


def _years(text: str) -> float | None:
    found = _YEARS.fullmatch(text)
    if found is None or not text:
        return None
    years, months, weeks, _, days = (None if part is None else part.replace(",", ".") for part in found.groups())
    if weeks or days:
        return 7 * float(weeks) / DAYS_A_YEAR if weeks else float(days or 0) / DAYS_A_YEAR
    return float(years or 0) + float(months or 0) / 12 if years or months else None


_KINDS: tuple[tuple[str, str, Callable[[str], float | None]], ...] = (
    ("weeks", "weeks and days", _weeks),
    ("hours", "hours and minutes", _hours),
    ("years", "years and months", _years),
)
