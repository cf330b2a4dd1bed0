"""Whether a column holds dates or times, in whatever way they are written."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from clinclust.drafting.column import Column
from clinclust.files.cell_text import compile_short

_NEARLY_ALL = 0.95
_SIGNS = compile_short(r".*\d.*[-/.:\s].*\d.*", re.DOTALL)
_CLOCK = compile_short(r"([01]?\d|2[0-4]):[0-5]\d(:[0-5]\d)?(\s?[ap]\.?m\.?)?", re.IGNORECASE)
_WRITTEN = compile_short(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.](19|20)\d{2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|\d{1,2}[-/.\s]?[^\W\d]{3,10}\.?[-/.,\s]*(\d{4}|\d{2})"
    r"|[^\W\d]{3,10}\.?\s+\d{1,2},?\s+\d{4}|[^\W\d]{3,10}[-/.\s]+(\d{4}|\d{2}))([T\s].*)?"
)
_MONTHS = re.compile(
    "jan|feb|m[aäé]r|apr|avr|ma[iyj]|jun|jul|juin|juil|aug|ao[uû]|ago|sep|o[ck]t|nov|de[czs]|dic|ene|gen", re.IGNORECASE
)
_SHARE_OF_CHANCE = 0.35  # of whole numbers of five or six digits that can be read as a day, a month and a year
_CLEAR = 7.0
_YEARS = (1900, 2035)
_FEWEST = 8


def dates_in(column: Column) -> str:
    """Return what dates or times the column holds, in words; empty if it holds others."""
    if column.is_time:
        return "dates or times"
    if not column.texts:
        return ""
    if _share(column, lambda text: _CLOCK.fullmatch(text) is not None) >= _NEARLY_ALL:
        return "times of day"
    if _share(column, _is_written_date) >= _NEARLY_ALL:
        return "dates"
    texts = [text for text in column.texts if text.isdigit()]
    if len(texts) < _NEARLY_ALL * len(column.texts) or len(texts) < _FEWEST:
        return ""
    for width, form in ((8, "%Y%m%d"), (8, "%d%m%Y"), (8, "%m%d%Y"), (6, "%y%m%d"), (6, "%m%d%y"), (6, "%d%m%y")):
        if _is_compact(texts, width, form):
            return "dates without signs"
    return ""


def _share(column: Column, is_one: Callable[[str], bool]) -> float:
    of_text = np.array([is_one(text) for text in column.texts], dtype=bool)
    return float(column.counts[of_text].sum() / column.counts.sum())


def _is_written_date(text: str) -> bool:
    if not _SIGNS.fullmatch(text) and not _MONTHS.search(text):
        return False
    found = _WRITTEN.fullmatch(text)
    if found is None:
        return False
    letters = re.sub(r"[\W\dT]", "", found[1])
    if letters:
        return _MONTHS.match(letters) is not None
    parts = [int(part) for part in re.findall(r"\d+", found[1])]
    if len(parts) == 2:
        return _YEARS[0] <= max(parts) <= _YEARS[1] and 1 <= min(parts) <= 12
    day_month = parts[1:] if parts[0] > 31 else parts[:2]
    return 1 <= min(day_month) <= 12 and 1 <= max(day_month) <= 31


def _is_compact(texts: list[str], width: int, form: str) -> bool:
    """Return whether whole numbers are dates: all are valid, which has a chance of e^-7 at most for others."""
    if not all(width - 1 <= len(text) <= width for text in texts) or len(texts) * -np.log(_SHARE_OF_CHANCE) < _CLEAR:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = pd.to_datetime(pd.Series(texts).str.zfill(width), format=form, errors="coerce")
    years = read.dt.year
    return bool(read.notna().all() and (width == 6 or years.between(*_YEARS).all()))
