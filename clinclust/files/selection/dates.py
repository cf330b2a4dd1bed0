"""Dates as people write them, in a column whose cells say, together, whether the day or the month comes first."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clinclust.files.listed import quoted

__all__ = ["DATE_ORDERS", "DateColumn", "DateOrder", "date_column", "date_of", "looks_like_date"]

DateOrder = Literal["day-first", "month-first"]
DATE_ORDERS: tuple[DateOrder, ...] = ("day-first", "month-first")

_TIME = r"(?:[T ,]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>\.\d+)?)?)?"
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})([-./])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_TIME}", re.ASCII)
_YEAR_LAST = re.compile(rf"(?P<one>\d{{1,2}})(?P<mark>[-./])(?P<two>\d{{1,2}})\2(?P<year>\d{{4}}){_TIME}", re.ASCII)
_SHORT_YEAR = re.compile(rf"\d{{1,2}}([-./])\d{{1,2}}\1\d{{2}}{_TIME}", re.ASCII)
_PARTS = ("year", "month", "day", "hour", "minute", "second")
_SECONDS_A_DAY = 86_400
_REPAIR = "write its dates as year-month-day"


@dataclass(frozen=True, eq=False)
class DateColumn:
    """The dates of a column."""

    days: NDArray[np.float64]
    """The day of each cell, counted from a fixed one; NaN where there is no date."""
    moments: NDArray[np.float64]
    """The same in seconds, at midnight if no time is written."""
    order: DateOrder | None
    """How dates such as 03/04/2020 were read; None if there is none of which it matters."""
    was_derived: bool
    """Whether other dates of the column told the order, and not the separator or the reader."""

    def told(self, name: str) -> list[str]:
        """Return how the dates of the column of this name were read, if they have an order."""
        first = "day" if self.order == "day-first" else "month"
        return [f"dates of {quoted(name)} with the year last are read with the {first} first"] if self.order else []


def looks_like_date(text: str) -> bool:
    """Return whether a text is written as a date is, in any of the notations that are known."""
    return any(pattern.fullmatch(text) for pattern in (_YEAR_FIRST, _YEAR_LAST, _SHORT_YEAR))


def date_of(text: str, order: DateOrder | None) -> tuple[float, float] | str:
    """Return the day and the moment (see `DateColumn`) of one text, or what is wrong with it.

    `order` is that of the dates with which it is compared, if they have one.
    """
    found = _order([text], order)
    return found if isinstance(found, str) else _moment(text, found[0])


def date_column(texts: NDArray[np.object_], present: NDArray[np.bool_], order: DateOrder | None) -> DateColumn | str:
    """Return the dates of a column, or why they cannot be read: a clause that follows the name of the column.

    Dates with the year first are read as they stand. Of others, the cells tell whether the day or the month comes
    first: no month is above 12. If no cell tells it, points between the numbers mean that the day comes first, as
    everywhere where dates are written so; with other separators, somebody must say it. Each cell that is `present` must
    hold a date.
    """
    distinct = list(dict.fromkeys(texts[present].tolist()))
    found = _order(distinct, order)
    if isinstance(found, str):
        return found
    known = {}
    for text in distinct:
        moment = _moment(text, found[0])
        if isinstance(moment, str):
            return moment
        known[text] = moment
    cells = [known[text] if here else (np.nan, np.nan) for text, here in zip(texts, present, strict=True)]
    days, moments = np.array(cells, dtype=np.float64).reshape(-1, 2).T
    return DateColumn(days, moments, *found)


def _order(texts: Iterable[str], order: DateOrder | None) -> tuple[DateOrder | None, bool] | str:
    """Return the order of dates, and whether their numbers told it; or why it is not known."""
    year_last = [found for text in texts if (found := _YEAR_LAST.fullmatch(text)) is not None]
    day_first = next((found[0] for found in year_last if int(found["one"]) > 12), None)
    month_first = next((found[0] for found in year_last if int(found["two"]) > 12), None)
    if day_first is not None and month_first is not None:
        return f"holds {quoted(day_first)} with the day first and {quoted(month_first)} with the month first: {_REPAIR}"
    told: DateOrder | None = "day-first" if day_first else "month-first" if month_first else None
    if order is not None and told is not None and order != told:
        return f"holds {quoted(day_first or month_first)}, which is not written {order}: say --dates {told}"
    if order is not None or told is not None:
        return (order or told) if year_last else None, order is None and told is not None
    unclear = next((found[0] for found in year_last if found["mark"] != "."), None)
    if unclear is not None:
        return (
            f"holds {quoted(unclear)}, and no date in it tells whether the day or the month comes first: say --dates "
            "day-first or --dates month-first"
        )
    return ("day-first" if year_last else None), False


def _moment(text: str, order: DateOrder | None) -> tuple[float, float] | str:
    found = _YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text)
    if found is None:
        about = "whose year has two digits" if _SHORT_YEAR.fullmatch(text) else "which is no date"
        return f"holds {quoted(text)}, {about}: {_REPAIR}"
    part = found.groupdict()
    if "one" in part:
        part["day"], part["month"] = (part["one"], part["two"])[:: -1 if order == "month-first" else 1]
    try:
        year, month, day, hour, minute, second = (int(part[name] or 0) for name in _PARTS)
        when = datetime.datetime(year, month, day, hour, minute, second)
    except ValueError:
        return f"holds {quoted(text)}, and there is no such day or time: correct it"
    seconds = 3600.0 * when.hour + 60.0 * when.minute + when.second + float(part["part"] or 0)
    return float(when.toordinal()), when.toordinal() * float(_SECONDS_A_DAY) + seconds
