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
from clinclust.drafting.written_numbers import WrittenNumbers

__all__ = ["MOST_DURATIONS", "durations_of"]

MOST_DURATIONS = 500
"""The most distinct texts for which a schema lists what each means."""
_N = r"([0-9]+(?:[.,][0-9]+)?)"
_H = r"(?:hours|hour|hrs|hr|h|std|stunden|stunde|heures|heure|horas|hora|ore|ora|uur|uren)\.?"
_MIN = r"(?:minutes|minute|minuten|minutos|minuti|mins|min|mn|m|')\.?"
_Y = r"(?:years|year|yrs|yr|y|jahre|jahr|jahren|ans|an|anos|ano|anni|anno|jaar|a)\.?"
_MO = r"(?:months|month|mths|mth|mon|mos|mo|m|monate|monat|monaten|mois|meses|mes|mesi|mese|maanden|maand)\.?"
_W = r"(?:weeks|week|wks|wk|w|wochen|woche|wo|ssw|semaines|semaine|semanas|semana|sem|sa|settimane|weken)\.?"
_D = r"(?:days|day|d|tage|tag|t|jours|jour|j|dias|dia|giorni|dagen)\.?"
_AND = r"\s*(?:,|\+|and|und|et|y|e|en)?\s*"
_HOURS = re.compile(rf"([0-9]{{1,3}})\s*{_H}\s*(?:([0-5]?[0-9])\s*(?:{_MIN})?)?|([0-9]{{1,4}})\s*{_MIN}")
_CLOCK = re.compile(r"([0-9]{1,3}):([0-5][0-9])(?::[0-5][0-9])?(?:\s*h)?")
_GESTATION = re.compile(
    rf"([1-4]?[0-9])\s*(?:{_W})?\s*(?:\+\s*([0-6])|\s([0-6])/7|(?<=[a-z.])\s*([0-6])(?=\s*{_D}))?\s*(?:{_W}|{_D})?"
)
_YEARS = re.compile(
    rf"(?:{_N}\s*{_Y})?{_AND}(?:{_N}\s*{_MO})?|{_N}\s*(?P<weeks>{_W})|{_N}\s*(?:days|day|tage|tag|jours|jour|dias|dia|giorni|dagen)"
)
_LONE_J = re.compile(r"(?<![a-z])j(?![a-z])\.?")
_WEEKS_A_YEAR, _DAYS_A_YEAR = 52.1775, 365.2425


def durations_of(column: ObservedColumn) -> WrittenNumbers | None:
    """Return how the column writes durations, and the number of each; None if it holds others, or plain numbers.

    All texts must be durations of one kind. `07:30` may be a time of day: it is a duration only by the column's name.
    """
    texts = _without_j([plain(text) for text in column.texts])
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


def _without_j(texts: list[str]) -> list[str]:
    """Return the texts with a lone `j` written out: days in French, years in German, by the words beside it."""
    words = {word for text in texts for word in re.findall(r"[a-z]+", text)}
    if not words.isdisjoint(("mois", "an", "ans", "sem", "semaine", "semaines")):
        return [_LONE_J.sub("jours", text) for text in texts]
    german = not words.isdisjoint(("mon", "monat", "monate", "jahr", "jahre", "wo", "woche", "wochen", "t", "tage"))
    return [_LONE_J.sub("jahre", text) for text in texts] if german else texts


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
        return float(weeks) / _WEEKS_A_YEAR if weeks else float(days or 0) / _DAYS_A_YEAR
    return float(years or 0) + float(months or 0) / 12 if years or months else None


_KINDS: tuple[tuple[str, str, Callable[[str], float | None]], ...] = (
    ("weeks", "weeks and days", _weeks),
    ("hours", "hours and minutes", _hours),
    ("years", "years and months", _years),
)
