"""The text of one cell, by its type, and what is wrong with cells that have none."""

from __future__ import annotations

import math

from clinclust.files.cell_text import NUMBER, canonical_text
from clinclust.files.listed import Places, quoted
from clinclust.files.xlsx.dates import date_text, iso_text
from clinclust.files.xlsx.rich_text import unescaped
from clinclust.files.xlsx.styles import Kind

__all__ = ["MISTYPED", "Cells"]

MISTYPED = "cells with a value that their type does not have"

_NO_VALUE = "formulas without a computed value, which Excel or LibreOffice computes when it opens the file"
_NO_DATE = "numbers shown as dates that no date has, kept as numbers; correct them, or show them as numbers"
_ERRORS = "spreadsheet errors kept as text"


class Cells:
    """Turns the content of cells into canonical text.

    Parameters
    ----------
    shared : list of str
        The shared texts.
    kinds : list of str
        What each style shows a number as.
    has_1904 : bool
        Whether days are counted from 1904 (see `date_text`).

    Attributes
    ----------
    faults, remarks : Places
        Cells that cannot be read, and cells of which the reader must know.
    n_formulas : int
        How many cells hold the value of a formula.
    """

    def __init__(self, shared: list[str], kinds: list[Kind], has_1904: bool) -> None:
        self._shared, self._has_1904 = shared, has_1904
        self._kinds: dict[str | None, Kind] = {str(number): kind for number, kind in enumerate(kinds)}
        self._kinds[None] = self._kinds.setdefault("0", "number")
        self.faults, self.remarks = Places(), Places()
        self.n_formulas = 0

    def text(self, place: str, attributes: dict[str, str], value: str | None, has_formula: bool) -> str:
        """Return the text of a cell; an empty one after recording a fault.

        Parameters
        ----------
        place : str
            Such as ``B7``.
        attributes : dict
            Those of the cell: its type `t` and its style `s`.
        value : str or None
            The text of its value (or of its own text); None if it has none.
        has_formula : bool
            Whether a formula computes the value.
        """
        kind = attributes.get("t", "n")
        if has_formula:
            self.n_formulas += 1
            if value is None or (kind != "str" and not value.strip()):
                self.faults.add(_NO_VALUE, place)
                return ""
        if value is None:
            return ""
        if kind == "n":
            return self._number(place, attributes.get("s"), value)
        if kind == "s":
            return self._shared_text(place, value)
        if kind in ("str", "inlineStr"):
            return unescaped(value)
        return self._rare(place, kind, value.strip())

    def _number(self, place: str, style: str | None, value: str) -> str:
        shown_as = self._kinds.get(style)
        if shown_as is None:
            return self._fault(place, style, "styles that the file does not have")
        if shown_as == "number" and value.isdecimal() and value.isascii() and (value[0] != "0" or value == "0"):
            return value
        value = value.strip()
        if not value:
            return ""
        if not NUMBER.fullmatch(value) or not math.isfinite(float(value)):
            return self._fault(place, value, "cells of numbers that hold none")
        if shown_as != "number":
            text = date_text(float(value), shown_as, self._has_1904)
            if text is not None:
                return text
            self.remarks.add(_NO_DATE, place)
        is_whole = value.lstrip("+-").isdecimal()
        return str(int(value)) if is_whole else canonical_text(float(value))

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
        text = iso_text(value) if kind == "d" else None
        return self._fault(place, f"{kind}: {value}", MISTYPED) if text is None else text

    def _fault(self, place: str, value: str | None, finding: str) -> str:
        self.faults.add(finding, f"{place} ({quoted(value)})")
        return ""
