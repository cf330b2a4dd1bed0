"""Ranks of levels that say how often: `monthly or less`, `2-4 times a month`, `every day`, as events a year."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clinclust.drafting.orders.plain import plain
from clinclust.drafting.orders.words import is_absent
from clinclust.drafting.unit_words import is_amount

__all__ = ["ranks_of_rates"]

_UNITS = (
    (365.0, "day days daily tag tage tagen taglich tgl jour jours journalier quotidien quotidienne quotidiennement "
     "dia dias diario "
     "diaria diariamente giorno giorni giornaliero giornaliera dag dagen dagelijks"),
    (52.0, "week weeks weekly woche wochen wochentlich semaine semaines hebdomadaire semana semanas semanal "
     "semanalmente settimana settimane settimanale weken wekelijks"),
    (12.0, "month months monthly monat monate monaten monatlich mois mensuel mensuelle mensuellement mes meses "
     "mensual mensal "
     "mensualmente mensalmente mese mesi mensile maand maanden maandelijks"),
    (1.0, "year years yearly annually jahr jahre jahren jahrlich an ans annee annees annuel annuelle ano anos anual "
     "anualmente "
     "anno anni annuale jaar jaren jaarlijks"),
)  # fmt: skip
_PER_YEAR = {word: rate for rate, words in _UNITS for word in words.split()}
_IMPLIED_WORDS = (
    "daily taglich tgl journalier quotidien quotidienne quotidiennement diario diaria diariamente giornaliero "
    "giornaliera dagelijks "
    "weekly wochentlich hebdomadaire semanal semanalmente settimanale wekelijks monthly monatlich mensuel "
    "mensuelle mensuellement mensual mensal mensualmente mensalmente mensile maandelijks yearly annually jahrlich "
    "annuel annuelle "
    "anual anualmente annuale jaarlijks"
)
_IMPLIED = frozenset(_IMPLIED_WORDS.split())
"""Words that hold both the unit and that it is a rate."""
_PER = re.compile(
    r"\b(?:a|an|per|pro|par|por|al|alla|a la|im|in der|am|je|each|every|times|time|mal|x|fois|veces|vez|vezes|volte|"
    r"volta|keer|jeden|jede|jedes|chaque|tous les|toutes les|"
    r"todos los|todas las|todos os|todas as|toda|cada|ogni|elke|ieder[e]?|once|twice|"
    r"einmal|zweimal|mehrmals|alle)\b|/"
)
_EVERY_SOME = re.compile(r"\b(?:every|alle|tous les|toutes les|cada|ogni|elke|om de) ([0-9]+)\b")
_COUNTS = {
    "once": 1.0, "einmal": 1.0, "twice": 2.0, "zweimal": 2.0, "dreimal": 3.0, "several": 3.0, "mehrmals": 3.0,
    "plusieurs": 3.0, "varias": 3.0, "varios": 3.0, "diverse": 3.0, "meerdere": 3.0, "most": 0.7, "meisten": 0.7,
    "plupart": 0.7, "mayoria": 0.7, "almost": 0.9, "nearly": 0.9, "fast": 0.9, "beinahe": 0.9, "presque": 0.9,
    "casi": 0.9, "quasi": 0.9, "bijna": 0.9, "quase": 0.9,
}  # fmt: skip
_LESS = re.compile(r"<|\b(?:less|fewer|rarer|weniger|seltener|moins|menos|meno|minder)\b")
_MORE = re.compile(r">|[0-9] ?\+|\b(?:more|mehr|ofter|haufiger|plus|mas|piu|meer|mais)\b")
_NEVER = re.compile(
    r"(?:not?|never|nie|nicht|kein\w*|pas|jamais|aucun\w*|nunca|ningun\w*|mai|non|nessun\w*|nooit|geen)\b[^0-9]*"
)
_ADVERBS = {
    "rarely": 1.5, "seldom": 1.5, "selten": 1.5, "seltener": 1.5, "rarement": 1.5, "raramente": 1.5, "zelden": 1.5,
    "occasionally": 3.0, "gelegentlich": 3.0, "sometimes": 5.0, "manchmal": 5.0, "parfois": 5.0, "a veces": 5.0,
    "a volte": 5.0, "soms": 5.0, "as vezes": 5.0, "always": 800.0, "constantly": 900.0, "immer": 800.0,
    "toujours": 800.0, "siempre": 800.0, "sempre": 800.0, "altijd": 800.0,
}  # fmt: skip
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_AMOUNT = re.compile(r"[0-9]\s*([a-zμ]+)")


def ranks_of_rates(labels: Sequence[str]) -> list[float] | None:
    """Return the events a year that each level means, in the order of `labels`; None if they are no rates.

    Examples
    --------
    >>> from clinclust.drafting.orders.rates import ranks_of_rates
    >>> ranks_of_rates(["never", "monthly or less", "2-4 times a month", "every day"])
    [0.0, 8.4, 36.0, 365.0]
    """
    rates = [_rate(plain(label)) for label in labels]
    if None in rates or not any(word in _PER_YEAR for label in labels for word in re.findall(r"\w+", plain(label))):
        return None
    counted = [_AMOUNT.findall(plain(label)) for label, rate in zip(labels, rates, strict=True) if rate]
    if len({tuple(filter(is_amount, words)) for words in counted}) > 1:
        return None  # 500 mg a week are less than 1 g a day, but more than 2 mg a day
    return [rate for rate in rates if rate is not None]


def _rate(text: str) -> float | None:
    if text in _ADVERBS:
        return _ADVERBS[text]
    words = re.findall(r"\w+", text)
    units = [word for word in words if word in _PER_YEAR]
    if is_absent(text) or _NEVER.fullmatch(text):
        return 0.0
    if not units:
        return None
    if not (_PER.search(text) or not _IMPLIED.isdisjoint(units)):
        return None  # `2 years` is a duration
    if some := _EVERY_SOME.search(text):
        return _PER_YEAR[units[-1]] / float(some[1])
    numbers = [float(number.replace(",", ".")) for number in _NUMBER.findall(text)]
    count = sum(numbers) / len(numbers) if numbers else 1.0
    for word in words:
        count *= _COUNTS.get(word, 1.0)
    factor = 0.7 if _LESS.search(text) else 1.3 if _MORE.search(text) else 1.0
    return round(_PER_YEAR[units[-1]] * count * factor, 6)
