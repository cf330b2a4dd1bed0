"""What a message names: many things, of which only the first are shown, and arguments, which can be pasted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice

from clinclust.files.cell_text import shortened

_SHOWN = 5
_LONGEST_MESSAGE = 3500


def listed(items: Iterable[object], count: int | None = None) -> str:
    """Return the first five items, shortened, and how many more of `count` (by default, of the items) there are."""
    given = list(items)
    count = len(given) if count is None else count
    shown = [shortened(str(item)) for item in given[:_SHOWN]]
    more = f" and {count - len(shown):,} more" if count > len(shown) else ""
    return ", ".join(shown) + more


def quoted(value: object) -> str:
    """Return the value as Python writes it, in quotes if it is text, and shortened."""
    if isinstance(value, (list, tuple, dict)):
        return shortened(repr(list(islice(value.items() if isinstance(value, dict) else value, _SHOWN))))
    return repr(shortened(value)) if isinstance(value, str) else shortened(repr(value))


def limited(message: str) -> str:
    """Return a message, cut after 3,500 characters."""
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + " ... (cut)"


class Places:
    """Findings by kind, each with the first places where it was found, and how many there are."""

    def __init__(self) -> None:
        self._first: dict[str, list[str]] = {}
        self._count: Counter[str] = Counter()

    def add(self, finding: str, place: str) -> None:
        """Add a place to a finding, a sentence that can follow a list of places and a colon."""
        self._count[finding] += 1
        if self._count[finding] <= _SHOWN:
            self._first.setdefault(finding, []).append(place)

    def sentences(self) -> list[str]:
        """Return one sentence for each finding, with its places, in the order of the first of them."""
        return [f"{listed(first, self._count[finding])}: {finding}" for finding, first in self._first.items()]


def argument(name: str, value: str | list[str]) -> str:
    """Return an argument of a function as a message names it: ``by='date'``."""
    return f"{name}={value!r}"
