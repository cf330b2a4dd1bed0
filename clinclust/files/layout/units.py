"""Units of measurement: in a row of their own below the header, or in the names of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clinclust.files.layout.sheet_rows import is_blank
from clinclust.files.layout.written_numbers import share_of_numbers

__all__ = ["unit_in_name", "units_in_row"]

_PREFIXED = r"(?:[kmcdµμunpf]|mc)?(?:g|l|mol|mol/l|eq|val|m|s|U|IU|IE|UI|Pa|Gy|Sv|Bq|Hz|V|A|W|J|cal)"
_PLAIN = (
    r"%|‰|°|°C|°F|C|F|h|hr|hrs|hours?|min|mins|minutes?|sec|seconds?|d|days?|wk|weeks?|months?|y|yr|yrs|years?|"
    r"Jahre?|Monate?|Wochen?|Tage?|Stunden?|Minuten|Sekunden|ans?|années?|mois|semaines?|jours?|heures?|"
    r"mm ?Hg|cm ?H2O|mosm/kg|bpm|/min|1/min|pack[- ]?years?|py|points?|Punkte|score|kPa|kcal|MET|dB|dpt|Torr|"
    r"10\^?\d+/l|10\*\d+/l|G/l|T/l|Mio/[µμ]l|Tsd/[µμ]l|/[µμ]l|/nl|/pl|cells?/[µμ]l|copies/ml|ratio|n|count|AE"
)
_UNIT = re.compile(
    rf"(?:{_PLAIN}|{_PREFIXED}(?:/(?:\d+ ?)?(?:[kmcdµμ]?(?:l|g|m|mol)|dl|min|h|d|day|kg|1[.,]73 ?m[2²])"
    r"(?:/(?:min|h|d|1[.,]73 ?m[2²]))?)?(?:[²2]|\^2)?|kg/m(?:\^?2|²)|m(?:\^?2|²|\^?3|³))",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"[\[(]\s*([^\])]{1,20}?)\s*[\])]")
_IN_NAME = re.compile(r"(.*\S)\s*[\[(]\s*([^\])(\[]{1,20}?)\s*[\])]\s*", re.DOTALL)
_NO_UNIT = ("", "-", "–", "n/a", ".", "/")
_MOST_NUMBERS = 0.5
_FEWEST_BESIDE_OTHERS = 2


def unit_in_name(name: str) -> tuple[str, str] | None:
    """Return the name without its unit, and the unit, if a name such as ``CRP (mg/L)`` ends in one.

    Examples
    --------
    >>> from clinclust.files.layout.units import unit_in_name
    >>> unit_in_name("CRP [mg/L]"), unit_in_name("Sex (m/w)")
    (('CRP', 'mg/L'), None)
    """
    match = _IN_NAME.fullmatch(name)
    return (match[1], match[2]) if match and _UNIT.fullmatch(match[2]) else None


def units_in_row(texts: Sequence[str], below: Sequence[Sequence[str]]) -> dict[int, str]:
    """Return the unit of each column (by its place from 0) if a row holds units; otherwise none.

    Beside units in several columns of numbers there may be other words, such as ``No.`` for the subject.

    Parameters
    ----------
    texts : sequence of str
        The row below the header.
    below : sequence of sequences of str
        Rows that stand below it, as wide as the row: most cells below a unit must be numbers.
    """
    units: dict[int, str] = {}
    n_known = n_others = 0
    for place, text in enumerate(map(str.strip, texts)):
        if text.casefold() in _NO_UNIT:
            continue
        bracketed = _BRACKETED.fullmatch(text)
        is_known = bool(_UNIT.fullmatch(bracketed[1] if bracketed else text))
        if not is_known and not bracketed:
            n_others += 1
            continue
        if share_of_numbers(row[place] for row in below if not is_blank(row[place])) < _MOST_NUMBERS:
            return {}
        n_known += is_known
        units[place] = bracketed[1] if bracketed else text
    is_clear = 2 * n_known >= len(units) if not n_others else n_known >= max(_FEWEST_BESIDE_OTHERS, n_others)
    return units if is_clear and len(below) > 0 else {}
