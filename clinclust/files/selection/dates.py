"""Dates in a column whose cells say, together, whether the day or the month comes first."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clinclust.files.listed import quoted

DateOrder = Literal["day-first", "month-first"]
DATE_ORDERS: tuple[DateOrder, ...] = ("day-first", "month-first")
A_DAY = 86_400  # seconds

_TIME = r"(?:[T ,]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>\.\d+)?)?)?"
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})([-./])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_TIME}", re.ASCII)
_YEAR_LAST = re.compile(rf"(?P<one>\d{{1,2}})(?P<mark>[-./])(?P<two>\d{{1,2}})\2(?P<year>\d{{4}}){_TIME}", re.ASCII)
_SHORT_YEAR = re.compile(rf"\d{{1,2}}([-./])\d{{1,2}}\1\d{{2}}{_TIME}", re.ASCII)
_PARTS = ("year", "month", "day", "hour", "minute", "second")


@dataclass(frozen=True, eq=False)
class DateColumn:
    """The dates of a column."""

    moments: NDArray[np.float64]  # seconds from a fixed day, at midnight if no time is written; NaN without a date
    order: DateOrder | None  # how dates such as 03/04/2020 were read; None if there is none of which it matters
    was_derived: bool  # whether other dates of the column gave the order, and not the separator or the user

    def notation(self, name: str) -> list[str]:
        """Return how the dates of the column of this name were read, if they have an order."""
        first = "day" if self.order == "day-first" else "month"
        return [f"dates of {quoted(name)} with the year last are read with the {first} first"] if self.order else []


def looks_like_date(text: str) -> bool:
    """Return whether a text is written as a date is, in any known notation."""
    return any(pattern.fullmatch(text) for pattern in (_YEAR_FIRST, _YEAR_LAST, _SHORT_YEAR))


def date_of(text: str, order: DateOrder | None) -> float | str:
    """Return the moment (see `DateColumn`) of one text, or what is wrong with it; see `date_column`."""
    found = date_column(np.array([text], dtype=object), np.ones(1, dtype=bool), order)
    return found if isinstance(found, str) else float(found.moments[0])


def date_column(texts: NDArray[np.object_], present: NDArray[np.bool_], order: DateOrder | None) -> DateColumn | str:
    """Return the dates of a column, or why they cannot be read: a clause that follows the name of the column.

    Each cell that is `present` must hold a date. With the year last, they are read in the order that was given or in
    which all cells are dates. If both orders fit, points mean that the day comes first; other separators decide
    nothing.
    """
    distinct = list(dict.fromkeys(texts[present].tolist()))
    year_last = [found for text in distinct if (found := _YEAR_LAST.fullmatch(text)) is not None]
    orders = DATE_ORDERS if order is None else (order,)
    known = {each: {text: _moment(text, each) for text in distinct} for each in orders}
    faults = {each: next((text for text in distinct if np.isnan(known[each][text])), None) for each in orders}
    fitting = [each for each in orders if faults[each] is None]
    if not fitting:
        return (
            f"holds {' and '.join(dict.fromkeys(map(quoted, faults.values())))}: not all cells are dates "
            f"{'in one order' if order is None else order}, with a year of four digits; write them as year-month-day"
        )
    unclear = next((found[0] for found in year_last if found["mark"] != "."), None)
    if len(fitting) > 1 and unclear is not None:
        return (
            f"holds {quoted(unclear)}, and no date in it tells whether the day or the month comes first: say "
            "dates='day-first' or dates='month-first'"
        )
    cells = [known[fitting[0]][text] if here else np.nan for text, here in zip(texts, present, strict=True)]
    was_derived = order is None and len(fitting) == 1
    return DateColumn(np.array(cells, dtype=np.float64), fitting[0] if year_last else None, was_derived)


def _moment(text: str, order: DateOrder) -> float:
    found = _YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text)
    if found is None:
        return np.nan
    part = found.groupdict()
    if "one" in part:
        part["day"], part["month"] = (part["one"], part["two"])[:: -1 if order == "month-first" else 1]
    try:
        when = datetime.datetime(*(int(part[name] or 0) for name in _PARTS))  # type: ignore[arg-type]
    except ValueError:
        return np.nan
    return (when - datetime.datetime.min).total_seconds() + float(part["part"] or 0)
