"""Ranks of levels that are quantities in several units: `12 h`, `3 days` and `1 week`; `500 mg` and `1 g`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clinclust.drafting.orders.plain import plain
from clinclust.drafting.orders.words import is_absent
from clinclust.drafting.unit_words import factors_of, with_j_written_out

__all__ = ["begins_with_a_unit", "parts_of_quantity", "ranks_of_quantities"]

_NUMBER = r"(?:[0-9]+\s+[1-9]/[1-9]|[1-9]/[1-9]|[0-9]+(?:[.,][0-9]+)?)"
_UNIT = r"[a-zμ]+\.?(?:\s?/\s?[a-zμ]+\.?)?"
_PART = re.compile(rf"({_NUMBER})\s*({_UNIT})")
_SUM = re.compile(rf"{_NUMBER}\s*{_UNIT}(?:\s*(?:,|\+|and|und|et|y|e)?\s*{_NUMBER}\s*{_UNIT})*")
_HALF = re.compile(r"(?:half an?|half|(?:eine?[nm]? )?halbe?[rsnm]?|medi[oa]|(?:une? )?demie?|mezz[oa])[ -](?=[a-z])")
_ONE = re.compile(r"(?:an?|one|eine?[nm]?|un[aeo]?)\s(?=[a-z])")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
"""A number whose mark may be that of thousands or of decimals."""
_BEFORE_ALL = -1.0
_DIGITS = 12

Parts = list[tuple[float, str]]


def ranks_of_quantities(labels: Sequence[str]) -> list[float] | None:
    """Return each quantity in one unit, in the order of `labels`; None if a unit is unknown, or of another kind.

    A level that says that nothing is there (`none`) lies below all others.

    Examples
    --------
    >>> from clinclust.drafting.orders.quantities import ranks_of_quantities
    >>> ranks_of_quantities(["1 week", "3 days", "12 hours"])
    [7.0, 3.0, 0.5]
    >>> ranks_of_quantities(["1 g", "5 mg"]), ranks_of_quantities(["1 g", "3 days"])
    ([1.0, 0.005], None)
    """
    absent = [is_absent(label) for label in labels]
    read = [None if nothing else _parts(text) for nothing, text in zip(absent, _written(labels), strict=True)]
    if any(parts is None and not nothing for parts, nothing in zip(read, absent, strict=True)) or sum(absent) > 1:
        return None
    factors = factors_of({unit for parts in read if parts is not None for _, unit in parts})
    if factors is None:
        return None
    return [_BEFORE_ALL if parts is None else _total(parts, factors) for parts in read]


def begins_with_a_unit(text: str) -> bool:
    """Return whether the first word of a text is a unit: what stands before `mg twice a day` is no code of it."""
    first = plain(text).split()[:1]
    return factors_of(first) is not None if first else False


def parts_of_quantity(text: str) -> Parts | None:
    """Return the numbers of a quantity, each with a known unit, all of one kind: `1 h 30 min`; None for other texts."""
    parts = _parts(plain(text))
    return parts if parts is not None and factors_of({unit for _, unit in parts}) is not None else None


def _written(labels: Sequence[str]) -> list[str]:
    """Return the labels with `half a` and `one` as numbers."""
    texts = with_j_written_out([plain(label) for label in labels])
    return [_ONE.sub("1 ", _HALF.sub("0.5 ", text, count=1), count=1) if text[:1].isalpha() else text for text in texts]


def _parts(text: str) -> Parts | None:
    """Return the numbers of a quantity with their units; None for another text, or a number that may mean two."""
    if _SUM.fullmatch(text) is None:
        return None
    found = _PART.findall(text)
    if any(_GROUPED.fullmatch(number) for number, _ in found):
        return None
    return [(_number(number), "".join(unit.split()).rstrip(".")) for number, unit in found]


def _number(text: str) -> float:
    *whole, last = text.split()
    over, _, under = last.replace(",", ".").partition("/")
    return float(sum(map(float, whole))) + float(over) / float(under or 1)


def _total(parts: Parts, factors: dict[str, float]) -> float:
    """Return a quantity in the base unit, rounded so that `7 days` is exactly `1 week`."""
    return float(f"{sum(number * factors[unit] for number, unit in parts):.{_DIGITS}g}")
