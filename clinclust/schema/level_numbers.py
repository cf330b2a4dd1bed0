"""The numbers in the levels of a scale (``60 %``, ``NYHA II``), and the scores of levels in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from clinclust.files.cell_text import compile_short, shortened

_AROUND = r"[^\W\d_]*[\s.:]*"
_NUMBERED = compile_short(
    rf"(?P<before>{_AROUND})(?P<number>[-+\u2212]?\d+(?:[.,]\d+)?)(?P<after>\s*(?:[%‰°]|[^\W\d_]*(?:[/ ][^\W\d_]+)?))"
)
_ROMAN = {"0": 0, "I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10}


@dataclass(frozen=True)
class LevelNumbers:
    """The numbers of levels, in their order, and the step of which all differences are multiples."""

    numbers: tuple[float, ...]
    step: float

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest number."""
        return min(self.numbers), max(self.numbers)


@lru_cache(maxsize=1024)
def numbers_of_levels(levels: tuple[str, ...]) -> LevelNumbers | None:
    """Return the numbers of levels that rise or fall, with the same word or sign next to each; otherwise None.

    Roman numerals are numbers, and 0 may precede them: ``("0", "I", "II")``.
    """
    written = _written(levels) or _roman(levels)
    if written is None or len(levels) < 2:
        return None
    steps = [later - earlier for earlier, later in pairwise(written)]
    if not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
        return None
    places = 10 ** max(max(0, -int(number.as_tuple().exponent)) for number in written)
    step = math.gcd(*(int(step * places) for step in steps)) / places
    return LevelNumbers(tuple(map(float, written)), step)


def _written(levels: Sequence[str]) -> list[Decimal] | None:
    found = [_NUMBERED.fullmatch(level.strip()) for level in levels]
    parts = [match for match in found if match is not None]
    beside = {(match["before"].strip(), match["after"].strip()) for match in parts}
    if len(parts) < len(levels) or len(beside) > 1:
        return None
    return [Decimal(match["number"].replace("\u2212", "-").replace(",", ".")) for match in parts]


def _roman(levels: Sequence[str]) -> list[Decimal] | None:
    split = [level.strip().rpartition(" ") for level in levels]
    if len({before for before, _, _ in split}) > 1 or not all(numeral in _ROMAN for _, _, numeral in split):
        return None
    return [Decimal(_ROMAN[numeral]) for _, _, numeral in split]


def ends_in_words(levels: Sequence[str]) -> str:
    """Return the lowest and the highest score of levels that are words: ``0 (none)–3 (severe)``."""
    return f"0 ({shortened(levels[0])})–{len(levels) - 1} ({shortened(levels[-1])})"
