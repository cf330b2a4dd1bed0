"""Units of measurement in the labels of a questionnaire, such as ``Weight (kg)``."""

from __future__ import annotations

import re

__all__ = ["unit_in", "without_unit"]

_PART = (
    r"(?:x?\s*10[\^*]?\d{1,2}|[kcmµμnpd]?g|[kcmµμn]?m|[mdcµμ]?l|[mµμnp]?mol|k?pa|mmhg|k?cal|k?j|m?eq|[mµμk]?i?u|cells?|"
    r"copies|bpm|beats|breaths|points?|s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|mo|y|yrs?|"
    r"years?|pack[ -]years?|drinks?|units?|%|‰|°\s?[cf]|mv|hz|"
    r"sekunden?|minuten|stunden?|tage?|wochen?|monate?|jahre?|"
    r"secondes?|heures?|jours?|semaines?|mois|ans?|segundos?|minutos?|horas?|dias?|días?|semanas?|mes(?:es)?|años?)"
)
_POWER = r"(?:\^?[23]|²|³)?"
_UNIT = re.compile(
    rf"/?\s?{_PART}{_POWER}(?:\s?(?:/|per|pro|par|por)\s?(?:1[.,]73\s?)?{_PART}{_POWER})*", re.IGNORECASE
)
_IN_BRACKETS = re.compile(r"[(\[]\s*(?:in|en)?\s*([^()\[\]]{1,30}?)\s*[)\]]\s*[:?]?$")


def unit_in(label: str, note: str) -> str | None:
    """Return the unit in brackets at the end of a label, or the note if it is nothing but a unit; otherwise None.

    Examples
    --------
    >>> from clinclust.files.dictionaries.units import unit_in
    >>> unit_in("Weight (kg)", ""), unit_in("eGFR", "mL/min/1.73m2"), unit_in("Falls (last year)", "ask twice")
    ('kg', 'mL/min/1.73m2', None)
    """
    found = _IN_BRACKETS.search(label)
    for text in (found[1] if found else "", note.strip()):
        if text and _UNIT.fullmatch(text):
            return text
    return None


def without_unit(label: str, unit: str) -> str:
    """Return a label without the unit in brackets at its end, which is told apart from it."""
    found = _IN_BRACKETS.search(label)
    bare = label[: found.start()].rstrip() if found and found[1] == unit else label
    return bare or label
