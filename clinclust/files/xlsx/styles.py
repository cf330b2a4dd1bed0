"""Which numbers of a workbook are shown as dates, times or durations."""

from __future__ import annotations

import re
from typing import Literal

from clinclust.files.xlsx.archive import Attributes
from clinclust.files.xlsx.names import LOCAL

__all__ = ["Kind", "Styles"]

Kind = Literal["number", "date", "time", "duration"]

# The formats with a number and no code (ECMA-376, 18.8.30), among them dates of East Asian programs.
_BUILT_IN: dict[int, Kind] = {
    **dict.fromkeys((14, 15, 16, 17, 22, *range(27, 32), 36, *range(50, 55), 57, 58), "date"),
    **dict.fromkeys((18, 19, 20, 21, *range(32, 36), 45, 47, 55, 56), "time"),
    46: "duration",
}
_NO_LETTERS_OF_DATES = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]|general|[ap]m?/[ap]m?', re.IGNORECASE)
_DURATION = re.compile(r"\[[hms]+\]")


def kind_of_format(code: str) -> Kind:
    """Return what a format code shows a positive number as."""
    positive = _NO_LETTERS_OF_DATES.sub("", code).split(";")[0].lower()
    if _DURATION.search(positive):
        return "duration"
    if re.search("[dy]", positive) or ("m" in positive and not re.search("[hs]", positive)):
        return "date"
    return "time" if re.search("[hs]", positive) else "number"


class Styles:
    """Reads the styles of cells: `kinds` holds the kind of number of each, by its number."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self._codes: dict[int, str] = {}
        self._in_cells = False

    def start(self, name: str, attributes: Attributes) -> None:
        """Take the beginning of an element."""
        tag = LOCAL.get(name)
        if tag == "numFmt":
            self._codes[_number(attributes.get("numFmtId"))] = attributes.get("formatCode", "")
        elif tag == "cellXfs":
            self._in_cells = True
        elif tag == "xf" and self._in_cells:
            format_id = _number(attributes.get("numFmtId"))
            code = self._codes.get(format_id)
            self.kinds.append(_BUILT_IN.get(format_id, "number") if code is None else kind_of_format(code))

    def end(self, name: str) -> None:
        """Take the end of an element."""
        if LOCAL.get(name) == "cellXfs":
            self._in_cells = False

    def text(self, text: str) -> None:
        """Take text between elements: a part of styles has none."""


def _number(attribute: str | None) -> int:
    """Return the number of a format; 0, the general one, if the attribute holds none."""
    return int(attribute) if attribute and attribute.isascii() and attribute.isdecimal() and len(attribute) < 10 else 0
