"""The text of a cell: plain, in runs of different fonts, or with characters that XML cannot hold."""

from __future__ import annotations

import re

from clinclust.files.xlsx.archive import Attributes
from clinclust.files.xlsx.names import LOCAL

__all__ = ["SharedStrings", "unescaped"]

_ESCAPED = re.compile("(?:_x[0-9a-fA-F]{4}_)+")


def unescaped(text: str) -> str:
    r"""Return the text in which ``_x000D_`` and the like are the characters that they stand for (ST_Xstring)."""
    return _ESCAPED.sub(_character, text) if "_x" in text else text


def _character(match: re.Match[str]) -> str:
    units = b"".join(int(code[2:6], 16).to_bytes(2, "little") for code in re.findall("_x.{4}_", match[0]))
    try:
        return units.decode("utf-16-le")
    except UnicodeDecodeError:  # half of a character
        return match[0]


class SharedStrings:
    """Reads the texts that cells refer to by number. Phonetic hints, which stand beside a text, are left out."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._parts: list[str] = []
        self._in_text = False
        self._in_hint = 0

    def start(self, name: str, attributes: Attributes) -> None:
        """Take the beginning of an element."""
        tag = LOCAL.get(name)
        if tag == "t":
            self._in_text = not self._in_hint
        elif tag == "si":
            self._parts = []
        elif tag == "rPh":
            self._in_hint += 1

    def end(self, name: str) -> None:
        """Take the end of an element."""
        tag = LOCAL.get(name)
        if tag == "t":
            self._in_text = False
        elif tag == "si":
            self.texts.append(unescaped("".join(self._parts)))
        elif tag == "rPh":
            self._in_hint -= 1

    def text(self, text: str) -> None:
        """Take text between elements."""
        if self._in_text:
            self._parts.append(text)
