"""Fit text of the data into a place of limited width, with every character visible."""

from __future__ import annotations

import unicodedata

from clinclust.control_characters import visible

__all__ = ["shortened", "visible"]


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
