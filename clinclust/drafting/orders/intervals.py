"""Ranks of levels that are intervals of numbers: `<30`, `30-39` and `40+`; `<10k`; `100-500 m` and `unlimited`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from clinclust.drafting.orders.plain import plain
from clinclust.drafting.orders.words import begins_absent, stems_of

__all__ = ["ranks_of_intervals"]

_NUMBER = r"[0-9]+(?:[., '][0-9]{3})*(?:[.,][0-9]+)?"
_UNIT = r"[^\d<>+]{0,25}?"
_FROM = r"(?:between|from|zwischen|von|entre|de|desde|da|tra|tussen|van|du)?\s*"
_TO = r"(?:-|to|bis|bis unter|a|au|al|and|und|et|y|e|en|or|oder|ou|o|of|tot|ate|hasta|fino a|until|till)"
_WITHIN = re.compile(rf"{_FROM}({_NUMBER})({_UNIT})\s*{_TO}\s*(?:<|under|unter)?=?\s*({_NUMBER})({_UNIT})")
_CUT = re.compile(rf"([\[(])\s*(-?{_NUMBER}|-inf)\s*[,;]\s*(-?{_NUMBER}|inf)\s*[\])]()")
_BELOW = re.compile(
    rf"(?:<=?|=<|under|below|less than|fewer than|younger than|up to|at most|max\.?|unter|weniger als|junger als|bis|"
    rf"bis zu|hochstens|moins de|jusqu'a|inferieur a|menos de|hasta|menor de|meno di|fino a|sotto|minder dan|onder|"
    rf"tot|ate|menor que|inferior a)\s*({_NUMBER})({_UNIT})"
)
_BELOW_AFTER = re.compile(
    rf"({_NUMBER})({_UNIT})\s*(?:(?:or|and|oder|und|ou|et|o|y|of|en|e) (?:less|fewer|under|younger|below|weniger|"
    rf"junger|moins|menos|meno|minder|jonger))(?:{_UNIT})"
)
_ABOVE = re.compile(
    rf"(?:>=?|=>|over|above|more than|older than|at least|from|min\.?|uber|mehr als|alter als|ab|mindestens|plus de|"
    rf"au moins|superieur a|mas de|mayor de|al menos|desde|oltre|piu di|almeno|sopra|meer dan|boven|vanaf|mais de|"
    rf"acima de|pelo menos)\s*({_NUMBER})({_UNIT})"
)
_ABOVE_AFTER = re.compile(
    rf"({_NUMBER})({_UNIT})\s*(?:\+|(?:or|and|oder|und|ou|et|o|y|of|en|e) (?:more|over|older|above|up|mehr|alter|"
    rf"daruber|plus|mas|mayor|piu|oltre|meer|ouder|mais))(?:{_UNIT})"
)
_ALONE = re.compile(rf"(?:exactly |genau )?({_NUMBER})({_UNIT})")
_ENDLESS = re.compile(
    r"unlimited|unrestricted|no limit|unbegrenzt|uneingeschrankt|illimitee?|ilimitado|sin limite|illimitato|onbeperkt"
)
_LITTLE, _ALL = 1e-6, 1e12
_SCALES = {
    "k": 1e3, "thousand": 1e3, "tausend": 1e3, "mille": 1e3, "mil": 1e3, "mio": 1e6, "million": 1e6,
    "mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "meter": 1.0, "metres": 1.0, "meters": 1.0, "metros": 1.0,
    "min": 1 / 1440, "minutes": 1 / 1440, "minuten": 1 / 1440, "h": 1 / 24, "hour": 1 / 24, "hours": 1 / 24,
    "stunden": 1 / 24, "heures": 1 / 24, "horas": 1 / 24, "ore": 1 / 24, "uur": 1 / 24,
    "day": 1.0, "days": 1.0, "tag": 1.0, "tage": 1.0, "jours": 1.0, "dias": 1.0, "giorni": 1.0, "dagen": 1.0,
    "week": 7.0, "weeks": 7.0, "woche": 7.0, "wochen": 7.0, "semaines": 7.0, "semanas": 7.0, "settimane": 7.0,
    "month": 30.4, "months": 30.4, "monat": 30.4, "monate": 30.4, "mois": 30.4, "meses": 30.4, "mesi": 30.4,
    "year": 365.25, "years": 365.25, "jahr": 365.25, "jahre": 365.25, "jahren": 365.25, "an": 365.25, "ans": 365.25,
    "ano": 365.25, "anos": 365.25, "anno": 365.25, "anni": 365.25, "jaar": 365.25,
}  # fmt: skip
"""What one unit is in the smallest of its kind; only levels with different units need it."""


@dataclass(frozen=True)
class _Read:
    """One level as an interval: the number that ranks it, how it is open, and the unit that it names."""

    number: float
    kind: str
    unit: str


def ranks_of_intervals(labels: Sequence[str]) -> list[float] | None:
    """Return ranks by the lower ends of intervals, in the order of `labels`; None if they are no intervals.

    At least one level must have two ends, or be open above (`3+`) behind plain numbers; or the levels are quantities in
    several units (`1 week`, `3 months`).

    Examples
    --------
    >>> from clinclust.drafting.orders.intervals import ranks_of_intervals
    >>> ranks_of_intervals(["30-39", "<30", "40 and over"]) is not None
    True
    >>> ranks_of_intervals(["School 1", "School 2", "School 3"]) is None
    True
    """
    read = [_read(plain(label).translate(str.maketrans("", "", "€$£"))) for label in labels]
    found = [one for one in read if one is not None]
    if len(found) < len(labels):
        return None
    kinds = [one.kind for one in found]
    units = {one.unit for one in found if one.unit and one.kind not in ("none", "endless")}
    scaled = len(units) > 1 and all(unit in _SCALES for unit in units)
    if scaled and all(one.unit for one in found if one.kind == "alone"):
        return [_ranked(one, _SCALES.get(one.unit, 1.0)) for one in found]
    if not ("within" in kinds or ({"above", "below"} & set(kinds) and "alone" in kinds)):
        return None
    if not _agree_in_unit([one for one in found if one.kind != "alone"], [one for one in found if one.kind == "alone"]):
        return None
    return [_ranked(one, _SCALES.get(one.unit, 1.0) if scaled else 1.0) for one in found]


def _ranked(one: _Read, scale: float) -> float:
    number = one.number * scale
    if one.kind == "below":
        return number - _ALL
    return number * (1 + _LITTLE) + _LITTLE if one.kind == "above" else number


def _agree_in_unit(intervals: list[_Read], alone: list[_Read]) -> bool:
    """Return whether plain numbers name no other unit than the intervals do: `1 pill` beside `2-3 pills`."""
    named = {stems_of(one.unit) for one in intervals}
    return all(not one.unit or stems_of(one.unit) in named for one in alone)


def _read(text: str) -> _Read | None:
    text = text.strip()
    if begins_absent(text):
        return _Read(-2 * _ALL, "none", "")
    if _ENDLESS.fullmatch(text):
        return _Read(math.inf, "endless", "")
    if cut := _CUT.fullmatch(text):
        return _Read(_decimal(cut[2]), "within", "")
    if within := _WITHIN.fullmatch(text):
        low, high = _decimal(within[1]), _decimal(within[3])
        unit = _unit(within[2]) or _unit(within[4])
        apart = _SCALES.get(_unit(within[2]), 1.0) < _SCALES.get(_unit(within[4]), 1.0) and _unit(within[2])
        return _Read(low, "within", unit) if low < high or apart else None
    for kind, patterns in (("below", (_BELOW, _BELOW_AFTER)), ("above", (_ABOVE, _ABOVE_AFTER)), ("alone", (_ALONE,))):
        for pattern in patterns:
            if found := pattern.fullmatch(text):
                return _Read(_decimal(found[1]), kind, _unit(found[2]))
    return None


def _unit(text: str) -> str:
    return text.strip(" .()[]/%").split(" ")[0] if text else ""


def _decimal(text: str) -> float:
    """Return a number; a point, comma or space before three digits separates thousands."""
    if text in ("inf", "-inf"):
        return float(text)
    grouped = re.fullmatch(r"(-?[0-9]{1,3})((?:[., '][0-9]{3})+)", text)
    if grouped and grouped[1] != "0":
        return float(re.sub(r"[., ']", "", text))
    return float(text.replace(",", ".").replace(" ", "").replace("'", ""))
