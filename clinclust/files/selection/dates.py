"""Dates as people write them, in a column whose cells say, together, whether the day or the month comes first."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.files.listed import quoted

__all__ = ["DATE_ORDERS", "DateColumn", "DateOrder", "date_column", "date_of", "looks_like_date"]

DateOrder = Literal["day-first", "month-first"]
DATE_ORDERS: tuple[DateOrder, ...] = ("day-first", "month-first")

_TIME = r"(?:[T ,]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?)?"
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})([-./])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_TIME}", re.ASCII)
_YEAR_LAST = re.compile(rf"(?P<one>\d{{1,2}})(?P<mark>[-./])(?P<two>\d{{1,2}})\2(?P<year>\d{{4}}){_TIME}", re.ASCII)
_SHORT_YEAR = re.compile(rf"\d{{1,2}}([-./])\d{{1,2}}\1\d{{2}}{_TIME}", re.ASCII)
_SECONDS_A_DAY = 86_400
_REPAIR = "write its dates as year-month-day"


class Moment(NamedTuple):
    """A date, and the time of the day if it is written."""

    day: int
    seconds: float | None


@dataclass(frozen=True, eq=False)
class DateColumn:
    """The dates of a column.

    Attributes
    ----------
    days : float64 (N,)
        The day of each cell, counted from a fixed one; NaN where there is no date.
    moments : float64 (N,)
        The same in seconds, at midnight if no time is written.
    order : {"day-first", "month-first"} or None
        How dates such as 03/04/2020 were read; None if there is none of which it matters.
    was_derived : bool
        Whether other dates of the column told the order, and not the separator or the reader.
    """

    days: NDArray[np.float64]
    moments: NDArray[np.float64]
    order: DateOrder | None
    was_derived: bool


def looks_like_date(text: str) -> bool:
    """Return whether a text is written as a date is, in any of the notations that are known."""
    return any(pattern.fullmatch(text) for pattern in (_YEAR_FIRST, _YEAR_LAST, _SHORT_YEAR))


def date_of(text: str, order: DateOrder | None) -> tuple[float, float] | str:
    """Return the day and the moment (see `DateColumn`) of one text, or what is wrong with it.

    Parameters
    ----------
    text : str
    order : {"day-first", "month-first"} or None
        The order of the dates that it is compared with, if they have one.
    """
    found = _order([text], order)
    if isinstance(found, str):
        return found
    moment = _moment(text, found[0])
    return moment if isinstance(moment, str) else _numbers(moment)


def date_column(texts: NDArray[np.object_], present: NDArray[np.bool_], order: DateOrder | None) -> DateColumn | str:
    """Return the dates of a column, or why they cannot be read: a clause that follows the name of the column.

    Dates with the year first are read as they stand. Of others, the cells tell whether the day or the month comes
    first: no month is above 12. If no cell tells it, points between the numbers mean that the day comes first, as
    everywhere where dates are written so; with other separators, somebody must say it.

    Parameters
    ----------
    texts : object (N,)
    present : bool (N,)
        Where the column has a value: each must be a date.
    order : {"day-first", "month-first"} or None
        What was said of dates such as 03/04/2020.
    """
    distinct = list(dict.fromkeys(texts[present].tolist()))
    found = _order(distinct, order)
    if isinstance(found, str):
        return found
    read = {text: _moment(text, found[0]) for text in distinct}
    wrong = next((said for said in read.values() if isinstance(said, str)), None)
    if wrong is not None:
        return wrong
    none = (np.nan, np.nan)
    numbers = {text: _numbers(moment) for text, moment in read.items() if not isinstance(moment, str)}
    cells = np.array(
        [numbers[text] if is_present else none for text, is_present in zip(texts, present, strict=True)],
        dtype=np.float64,
    ).reshape(-1, 2)
    return DateColumn(cells[:, 0], cells[:, 1], *found)


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


def _moment(text: str, order: DateOrder | None) -> Moment | str:
    found = _YEAR_FIRST.fullmatch(text)
    if found is not None:
        year, month, day = (int(found[part]) for part in ("year", "month", "day"))
    else:
        found = _YEAR_LAST.fullmatch(text)
        if found is None:
            about = "whose year has two digits" if _SHORT_YEAR.fullmatch(text) else "which is no date"
            return f"holds {quoted(text)}, {about}: {_REPAIR}"
        one, two, year = (int(found[part]) for part in ("one", "two", "year"))
        day, month = (two, one) if order == "month-first" else (one, two)
    try:
        ordinal = datetime.date(year, month, day).toordinal()
    except ValueError:
        return f"holds {quoted(text)}, and there is no such day: correct it"
    if found["hour"] is None:
        return Moment(ordinal, None)
    hour, minute, second = int(found["hour"]), int(found["minute"]), float(found["second"] or 0)
    if hour > 23 or minute > 59 or second >= 60:
        return f"holds {quoted(text)}, and there is no such time: correct it"
    return Moment(ordinal, 3600.0 * hour + 60.0 * minute + second)


def _numbers(moment: Moment) -> tuple[float, float]:
    return float(moment.day), moment.day * float(_SECONDS_A_DAY) + (moment.seconds or 0.0)
