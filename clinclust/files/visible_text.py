"""Make text of the data safe to show: replace characters that are forbidden or that hide or reorder others."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["shortened", "visible"]

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Return `text` with a visible sign for each character that XML forbids, or that hides or reorders others."""
    return _CONTROL.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    # U+2400 to U+241F are symbols for the control characters; U+FFFD replaces characters without a symbol.
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def shortened(text: str, width: int) -> str:
    """Return `text` on one line, cut and ended by an ellipsis if it is wider than `width` characters.

    Characters that hide or reorder others are made visible (see `visible`). Wide characters, such as Chinese ones,
    count twice.
    """
    text = visible(" ".join(text.split()))
    if _cells(text) <= width:
        return text
    text = text[:width]
    while _cells(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def _cells(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
