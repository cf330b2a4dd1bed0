"""Dates and times, which a workbook stores as numbers of days."""

from __future__ import annotations

import datetime
import math

from clinclust.files.cell_text import canonical_text
from clinclust.files.xlsx.styles import Kind

__all__ = ["date_text", "iso_text"]

_MILLISECONDS = 86_400_000
_FIRST_1900 = datetime.datetime(1899, 12, 30)
_FIRST_1904 = datetime.datetime(1904, 1, 1)


def date_text(days: float, kind: Kind, has_1904: bool) -> str | None:
    """Return the canonical text of a number of days that is shown as a date, time or duration; None if it is none.

    Parameters
    ----------
    days : float
    kind : str
        What the cell shows: ``date``, ``time`` or ``duration``.
    has_1904 : bool
        Whether the workbook counts days from 1 January 1904, and not from 1 January 1900 as day 1. The second calendar
        has 29 February 1900 as day 60, which never was.
    """
    try:
        length = datetime.timedelta(milliseconds=round(days * _MILLISECONDS))
        if kind == "duration":
            return canonical_text(length)
        if days < 0 or (not has_1904 and 60 <= days < 61):
            return None
        if days < 1 and length.days == 0 and (kind == "time" or not has_1904):
            return canonical_text((_FIRST_1900 + length).time())
        if has_1904:
            return canonical_text(_FIRST_1904 + length)
        return canonical_text(_FIRST_1900 + length + datetime.timedelta(days=1 if math.floor(days) < 60 else 0))
    except OverflowError:
        return None


def iso_text(text: str) -> str | None:
    """Return the canonical text of a date or time that the file holds in ISO form; None if it holds neither."""
    bare = text.removesuffix("Z")
    for read in (datetime.date.fromisoformat, datetime.time.fromisoformat, datetime.datetime.fromisoformat):
        try:
            return canonical_text(read(bare))
        except ValueError:
            continue
    return None
