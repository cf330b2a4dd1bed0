"""Ranks of levels that are intervals of numbers: `<30`, `30-39` and `40+`; `<10k`; `100-500 m` and `unlimited`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from clinclust.drafting.numerals import MILLION, THOUSAND
from clinclust.drafting.orders.plain import plain
from clinclust.drafting.orders.words import begins_absent, stems_of
from clinclust.drafting.unit_words import factors_of

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
_NUMERALS = dict.fromkeys(THOUSAND, 1e3) | dict.fromkeys(MILLION, 1e6)
"""Words that multiply the number before them; a number without one counts units."""


@dataclass(frozen=True)
class _Read:
    """One level as an interval: the number that ranks it, how it is open, and the unit that it names."""

    number: float
    kind: str
    unit: str


def ranks_of_intervals(labels: Sequence[str]) -> list[float] | None:
    """Return ranks by the lower ends of intervals, in the order of `labels`; None if they are no intervals.

    At least one level must have two ends, or be open above (`3+`) behind plain numbers. Ends in several units
    (`<1 week`, `1-6 months`) are compared in one.

    Examples
    --------
    >>> from clinclust.drafting.orders.intervals import ranks_of_intervals
    >>> ranks_of_intervals(["30-39", "<30", "40 and over"]) is not None
    True
    >>> ranks_of_intervals(["School 1", "School 2", "School 3"]) is None
    True
    """
    texts = [plain(label).translate(str.maketrans("", "", "€$£")) for label in labels]
    read = [_read(text) for text in texts]
    if None in read:
        read = [_read(text) for text in _without_shared(texts)]  # `EF <40`, `EF 40-49`
    found = [one for one in read if one is not None]
    if len(found) < len(labels):
        return None
    kinds = [one.kind for one in found]
    if not ("within" in kinds or ({"above", "below"} & set(kinds) and "alone" in kinds)):
        return None
    scales = _scales([one for one in found if one.kind not in ("none", "endless")])
    if scales is None or not (scales or _agree_in_unit(found)):
        return None
    if len(set(scales.values())) > 1 and _overlap(found, scales):
        return None
    return [_ranked(one, scales.get(one.unit, 1.0)) for one in found]


def _without_shared(texts: Sequence[str]) -> list[str]:
    """Return the texts without the words at their beginning that all share."""
    split = [text.split() for text in texts]
    shared = 0
    while all(len(words) > shared + 1 and words[shared] == split[0][shared] for words in split):
        shared += 1
    return [" ".join(words[shared:]) for words in split]


def _scales(found: Sequence[_Read]) -> dict[str, float] | None:
    """Return what the unit of each interval is in one unit; None if the intervals cannot be compared.

    Words that are no known units (`10-20 pills`) change no number. But where known units differ, all must be known and
    of one kind, and no interval may be without one.
    """
    units = {one.unit for one in found if one.unit}
    if not units.isdisjoint(_NUMERALS):
        return _NUMERALS if units <= set(_NUMERALS) else None
    if len(units) < 2 or not any(unit == "m" or factors_of([unit]) for unit in units):
        return {}
    factors = factors_of(units)
    if factors is None or (len(set(factors.values())) > 1 and not all(one.unit for one in found)):
        return None
    return factors


def _overlap(found: Sequence[_Read], scales: dict[str, float]) -> bool:
    """Return whether what is open below reaches beyond the lower end of another level: `<1 week` beside `1-3 days`."""
    below = [one.number * scales.get(one.unit, 1.0) for one in found if one.kind == "below"]
    others = [one.number * scales.get(one.unit, 1.0) for one in found if one.kind in ("within", "alone")]
    return bool(below and others) and max(below) > min(others) * (1 + _LITTLE)


def _ranked(one: _Read, scale: float) -> float:
    number = one.number * scale
    if one.kind == "below":
        return number - _ALL
    return number * (1 + _LITTLE) + _LITTLE * scale if one.kind == "above" else number


def _agree_in_unit(found: Sequence[_Read]) -> bool:
    """Return whether plain numbers name no other unit than the intervals do: `1 pill` beside `2-3 pills`."""
    named = {stems_of(one.unit) for one in found if one.kind != "alone"}
    return all(not one.unit or stems_of(one.unit) in named for one in found if one.kind == "alone")


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
        return _Read(low, "within", unit) if low < high or _is_smaller(_unit(within[2]), _unit(within[4])) else None
    for kind, patterns in (("below", (_BELOW, _BELOW_AFTER)), ("above", (_ABOVE, _ABOVE_AFTER)), ("alone", (_ALONE,))):
        for pattern in patterns:
            if found := pattern.fullmatch(text):
                return _Read(_decimal(found[1]), kind, _unit(found[2]))
    return None


def _is_smaller(unit: str, other: str) -> bool:
    """Return whether one unit is certainly less than another: `6 months - 1 year` rises."""
    factors = factors_of([unit, other]) if unit not in _NUMERALS else _NUMERALS
    return factors is not None and unit in factors and other in factors and factors[unit] < factors[other]


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
