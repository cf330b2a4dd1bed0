"""Words for units of time, mass, volume and length in seven languages, and how much of one base unit each is.

`m` stands for metres, minutes or months, and `j` for the French day or the German year. The other units of the same
column decide between them; where they do not, nothing is decided.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

__all__ = ["DAYS_A_YEAR", "factors_of", "is_amount", "pattern_of", "with_j_written_out", "words_for"]

DAYS_A_YEAR = 365.2425
_HOUR, _MONTH = 1 / 24, DAYS_A_YEAR / 12
_WORDS = {
    "second": "s sec secs second seconds sek sekunde sekunden seconde secondes seg segundo segundos secondo secondi",
    "minute": "min mins mn minute minutes minuten minuto minutos minuti minuut",
    "hour": "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur uren",
    "day": "d day days t tag tage tagen jour jours dia dias giorno giorni gg dag dagen",
    "week": "w wk wks week weeks wo woche wochen sem semaine semaines semana semanas settimana settimane weken",
    "month": "mo mos mon mth mths month months monat monate monaten mois mes meses mese mesi maand maanden",
    "year": "y yr yrs year years jahr jahre jahren a an ans annee annees ano anos anno anni jaar jaren",
    "microgram": "µg ug mcg microgram micrograms mikrogramm microgrammes microgramos microgrammi",
    "milligram": "mg milligram milligrams milligramm milligramme milligrammes miligramo miligramos milligrammi",
    "gram": "g gr gram grams gramm gramme grammes gramo gramos grammo grammi",
    "kilogram": "kg kilogram kilograms kilogramm kilogramme kilo kilos",
    "microlitre": "µl ul",
    "millilitre": "ml cc milliliter millilitre millilitres mililitro mililitros millilitri",
    "centilitre": "cl",
    "decilitre": "dl deciliter",
    "litre": "l liter liters litre litres litro litros litri",
    "millimetre": "mm millimeter",
    "centimetre": "cm centimeter zentimeter",
    "metre": "meter meters metre metres metro metros metri",
    "kilometre": "km kilometer kilometers kilometre kilometres",
}
"""The words for each unit as `orders.plain` writes texts: without case and accents, and the Greek mu as such."""
_KINDS = {
    "time": {
        "second": _HOUR / 3600, "minute": _HOUR / 60, "hour": _HOUR, "day": 1.0, "week": 7.0, "month": _MONTH,
        "year": DAYS_A_YEAR,
    },
    "mass": {"microgram": 1e-6, "milligram": 1e-3, "gram": 1.0, "kilogram": 1e3},
    "volume": {"microlitre": 1e-6, "millilitre": 1e-3, "centilitre": 1e-2, "decilitre": 1e-1, "litre": 1.0},
    "length": {"millimetre": 1e-3, "centimetre": 1e-2, "metre": 1.0, "kilometre": 1e3},
}  # fmt: skip
"""How many days, grams, litres or metres each unit is."""
_UNIT_OF = {word.replace("µ", "μ"): unit for unit, words in _WORDS.items() for word in words.split()}
_KIND_OF = {unit: kind for kind, units in _KINDS.items() for unit in units}
_FACTOR = {unit: share for units in _KINDS.values() for unit, share in units.items()}
_BESIDE_MINUTES, _BESIDE_MONTHS = {"second", "hour"}, {"day", "week", "year"}
_FRENCH = "mois an ans sem semaine semaines annee annees"
_GERMAN = "mon monat monate monaten jahr jahre jahren wo woche wochen t tag tage tagen"
"""The words beside a `j` that is a jour, and beside one that is a Jahr."""
_LONE_J = re.compile(r"(?<![a-z])j(?![a-z])\.?")


def words_for(*units: str) -> frozenset[str]:
    """Return the words for these units, which are named in English, in the singular."""
    return frozenset(word for unit in units for word in _WORDS[unit].split())


def pattern_of(unit: str, more: str = "") -> str:
    """Return a regular expression for the words of a unit, and of others that mean it in one place; a point may follow.

    Parameters
    ----------
    unit : str
        A unit in English, in the singular.
    more : str
        Other words, with spaces between them.
    """
    words = sorted([*_WORDS[unit].split(), *more.split()], key=len, reverse=True)
    return rf"(?:{'|'.join(map(re.escape, words))})\.?"


def is_amount(word: str) -> bool:
    """Return whether a word is a unit of mass or volume, or of a time shorter than a day."""
    unit = _UNIT_OF.get(word, "")
    return _KIND_OF.get(unit) in ("mass", "volume") or unit in ("second", "minute", "hour")


def factors_of(units: Collection[str]) -> dict[str, float] | None:
    """Return how much of one base unit each is; None if one is not known, or they are of several kinds.

    `mg/day` is known if all have the same unit below the line.

    Parameters
    ----------
    units : collection of str
        Units in the form of `orders.plain`.

    Examples
    --------
    >>> from clinclust.drafting.unit_words import factors_of
    >>> factors_of(["week", "tage"]), factors_of(["mg", "g"]), factors_of(["mg", "week"])
    ({'week': 7.0, 'tage': 1.0}, {'mg': 0.001, 'g': 1.0}, None)
    """
    above = {unit: unit.partition("/")[0].rstrip(" .") for unit in units}
    if len({unit.partition("/")[2] for unit in units}) > 1:
        return None
    named = {word: _UNIT_OF.get(word) for word in above.values()}
    known = {unit for unit in named.values() if unit is not None}
    open_words = [word for word, unit in named.items() if unit is None]
    if "m" in open_words:
        named["m"] = _meant_by_m(known)
    if None in named.values() or len({_KIND_OF[unit] for unit in named.values() if unit is not None}) != 1:
        return None
    return {unit: _FACTOR[meant] for unit, word in above.items() if (meant := named[word]) is not None}


def _meant_by_m(beside: set[str]) -> str | None:
    """Return the unit that `m` stands for beside these; None if they leave it open."""
    if beside & _BESIDE_MINUTES and not beside & _BESIDE_MONTHS:
        return "minute"
    if beside & _BESIDE_MONTHS and not beside & _BESIDE_MINUTES:
        return "month"
    return None if not beside or {_KIND_OF[unit] for unit in beside} != {"length"} else "metre"


def with_j_written_out(texts: Sequence[str]) -> list[str]:
    """Return the texts with a lone `j` written out: days in French, years in German, by the words beside it."""
    words = {word for text in texts for word in re.findall(r"[a-z]+", text)}
    if not words.isdisjoint(_FRENCH.split()):
        return [_LONE_J.sub("jours", text) for text in texts]
    is_german = not words.isdisjoint(_GERMAN.split())
    return [_LONE_J.sub("jahre", text) for text in texts] if is_german else list(texts)
