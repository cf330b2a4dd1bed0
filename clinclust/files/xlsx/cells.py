"""The text of one cell, by its type, and what is wrong with cells that have none."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from typing import Literal
from xml.etree.ElementTree import Element

from clinclust.files.cell_text import NUMBER, canonical_text
from clinclust.files.listed import Places, quoted
from clinclust.files.xlsx.archive import LOCAL, damaged

__all__ = ["Cells", "Shown", "shown_by", "text_of"]

Shown = Literal["number", "date", "time", "duration"]

# The formats with a number and no code (ECMA-376, 18.8.30), among them dates of East Asian programs.
_BUILT_IN: dict[str, Shown] = {
    **{str(at): "date" for at in (14, 15, 16, 17, 22, *range(27, 32), 36, *range(50, 55), 57, 58)},
    **{str(at): "time" for at in (18, 19, 20, 21, *range(32, 36), 45, 47, 55, 56)},
    "46": "duration",
}
_NO_LETTERS_OF_DATES = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]|general|[ap]m?/[ap]m?', re.IGNORECASE)
_DURATION = re.compile(r"\[[hms]+\]")
_MILLISECONDS = 86_400_000
_FIRST_1900 = datetime.datetime(1899, 12, 30)
_FIRST_1904 = datetime.datetime(1904, 1, 1)
_MISTYPED = "cells with a value that their type does not have"
_NO_VALUE = "formulas without a computed value, which Excel or LibreOffice computes when it opens the file"
_NO_DATE = "numbers shown as dates that no date has, kept as numbers; correct them, or show them as numbers"
_ERRORS = "spreadsheet errors kept as text"
_ESCAPED = re.compile("(?:_x[0-9a-fA-F]{4}_)+")


def text_of(element: Element) -> str:
    r"""Return the text of a rich or plain text, without phonetic hints.

    ``_x000D_`` and the like are the characters that they stand for (ST_Xstring).
    """
    runs = (run for child in element for run in (child if LOCAL.get(child.tag) == "r" else (child,)))
    return _unescaped("".join(run.text or "" for run in runs if LOCAL.get(run.tag) == "t"))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_character, text) if "_x" in text else text


def _character(match: re.Match[str]) -> str:
    units = b"".join(int(code[2:6], 16).to_bytes(2, "little") for code in re.findall("_x.{4}_", match[0]))
    try:
        return units.decode("utf-16-le")
    except UnicodeDecodeError:  # half of a character
        return match[0]


def shown_by(number: str, code: str | None = None) -> Shown:
    """Return what a format shows a positive number as, by its number or, if it has one, its code."""
    if code is None:
        return _BUILT_IN.get(number, "number")
    positive = _NO_LETTERS_OF_DATES.sub("", code).split(";")[0].lower()
    if _DURATION.search(positive):
        return "duration"
    if re.search("[dy]", positive) or ("m" in positive and not re.search("[hs]", positive)):
        return "date"
    return "time" if re.search("[hs]", positive) else "number"


def _date_text(days: float, shown: Shown, has_1904: bool) -> str | None:
    """Return the canonical text of a number of days that is shown as a date, time or duration; None if it is none.

    Days are counted from 1 January 1904, or from 1 January 1900 as day 1. The second calendar has 29 February 1900 as
    day 60, which never was.
    """
    try:
        length = datetime.timedelta(milliseconds=round(days * _MILLISECONDS))
        if shown == "duration":
            return canonical_text(length)
        if days < 0 or (not has_1904 and 60 <= days < 61):
            return None
        if days < 1 and length.days == 0 and (shown == "time" or not has_1904):
            return canonical_text((_FIRST_1900 + length).time())
        if has_1904:
            return canonical_text(_FIRST_1904 + length)
        return canonical_text(_FIRST_1900 + length + datetime.timedelta(days=1 if math.floor(days) < 60 else 0))
    except OverflowError:
        return None


def _iso_text(text: str) -> str | None:
    """Return the canonical text of a date or time that the file holds in ISO form; None if it holds neither."""
    for read in (datetime.date.fromisoformat, datetime.time.fromisoformat, datetime.datetime.fromisoformat):
        try:
            return canonical_text(read(text.removesuffix("Z")))
        except ValueError:
            continue
    return None


class Cells:
    """Turns cells into canonical text.

    Parameters
    ----------
    shared : list of str
        The shared texts.
    shown : list of str
        What each style shows a number as.
    has_1904 : bool
        Whether days are counted from 1904 (see `_date_text`).

    Attributes
    ----------
    faults, remarks : Places
        Cells that cannot be read, and cells of which the reader must know.
    n_formulas : int
        How many cells hold the value of a formula.
    """

    def __init__(self, shared: list[str], shown: Iterable[Shown], has_1904: bool) -> None:
        self._shared, self._has_1904 = shared, has_1904
        self._shown: dict[str | None, Shown] = {str(number): kind for number, kind in enumerate(shown)}
        self._shown[None] = self._shown.setdefault("0", "number")
        self.faults, self.remarks = Places(), Places()
        self.n_formulas = 0

    def text(self, place: str, cell: Element) -> str:
        """Return the text of the cell at a place such as ``B7``; an empty one after recording a fault."""
        kind = cell.get("t", "n")
        value, has_formula = None, False
        for child in cell:
            tag = LOCAL.get(child.tag)
            if tag == "v" or tag == "is":
                if value is not None or (tag == "is") != (kind == "inlineStr"):
                    return self._fault(place, kind, _MISTYPED)
                value = text_of(child) if tag == "is" else child.text or ""
            elif tag == "f":
                has_formula = True
            elif tag == "c":
                raise damaged("a cell stands inside another")
        if has_formula:
            self.n_formulas += 1
            if value is None or (kind != "str" and not value.strip()):
                self.faults.add(_NO_VALUE, place)
                return ""
        if value is None or kind == "inlineStr":
            return value or ""
        if kind == "n":
            return self._number(place, cell.get("s"), value)
        if kind == "s":
            return self._shared_text(place, value)
        return _unescaped(value) if kind == "str" else self._rare(place, kind, value.strip())

    def _number(self, place: str, style: str | None, value: str) -> str:
        shown = self._shown.get(style)
        if shown is None:
            return self._fault(place, style, "styles that the file does not have")
        if shown == "number" and value.isdecimal() and value.isascii() and (value[0] != "0" or value == "0"):
            return value
        value = value.strip()
        if not value:
            return ""
        if not NUMBER.fullmatch(value) or not math.isfinite(float(value)):
            return self._fault(place, value, "cells of numbers that hold none")
        if shown != "number":
            text = _date_text(float(value), shown, self._has_1904)
            if text is not None:
                return text
            self.remarks.add(_NO_DATE, place)
        return str(int(value)) if value.lstrip("+-").isdecimal() else canonical_text(float(value))

    def _shared_text(self, place: str, value: str) -> str:
        number = value.strip()
        # A negative number would count from the end of the list.
        if number.isascii() and number.isdecimal() and len(number) < 10 and int(number) < len(self._shared):
            return self._shared[int(number)]
        return self._fault(place, value, f"numbers of shared texts, of which the file has {len(self._shared):,}")

    def _rare(self, place: str, kind: str, value: str) -> str:
        if kind == "b" and value in ("0", "1", "false", "true"):
            return "True" if value in ("1", "true") else "False"
        if kind == "e":
            self.remarks.add(_ERRORS, f"{place} ({value})")
            return value
        text = _iso_text(value) if kind == "d" else None
        return self._fault(place, f"{kind}: {value}", _MISTYPED) if text is None else text

    def _fault(self, place: str, value: str | None, finding: str) -> str:
        self.faults.add(finding, f"{place} ({quoted(value)})")
        return ""
