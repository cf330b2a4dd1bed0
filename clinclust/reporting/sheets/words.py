"""Numbers and lists in sentences."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["counted", "listed", "was"]


def counted(number: int, noun: str, ending: str = "s") -> str:
    """Return a number of things: "1 subtype", "2 subtypes"."""
    return f"{number:,} {noun}{'' if number == 1 else ending}"


def was(number: int) -> str:
    """Return "was" of one thing, else "were"."""
    return "was" if number == 1 else "were"


def listed(parts: Sequence[str], comma: str = ", ") -> str:
    """Return a list in words: "a, b and c"."""
    *most, last = parts
    return f"{comma.join(most)} and {last}" if most else last
