"""Types of the fields of a feature, and levels that are numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from clinclust.files.cell_text import NUMBER, canonical_text, compile_short, listed, quoted, shortened

# The types of the fields of a feature, and the values that each accepts from Python and YAML.

_SIDES = ("below", "above")
_OF_NUMBERS = frozenset("0123456789.,-\u2212'’<>=≤≥ ")
"""The characters of numbers and of signs of limits."""


def text(value: object) -> str:
    """Return `value` if it is text that is not blank and can be encoded; raise ValueError otherwise."""
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {quoted(value)}")
    if not value.strip():
        raise ValueError("must not be empty")
    return _encodable(value)


def _encodable(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{quoted(value)} holds half of a character (a lone surrogate), which no file can store"
        ) from None
    return value


def _number(value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number and not (isinstance(value, str) and NUMBER.fullmatch(value.strip())):
        raise ValueError(f"must be a number, not {quoted(value)}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"must be a finite number, not {quoted(value)}")
    return number


def _whole(value: object) -> int:
    number = _number(value)
    if number != math.floor(number) or number < 1:
        raise ValueError(f"must be a whole number of at least 1, not {quoted(value)}")
    return int(number)


def _items(value: object) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"must be a list, not {quoted(value)}")
    return list(value)


def _levels(value: object) -> tuple[str, ...]:
    levels = _items(value)
    for level in levels:
        if not isinstance(level, str):
            raise ValueError(
                f'levels are text: write "{shortened(canonical_text(level))}" in quotes, not {quoted(level)}'
            )
        if level != level.strip():
            raise ValueError(f"level {quoted(level)} has white space at an end, which is stripped from every cell")
        _encodable(level)
    repeated = sorted(level for level, times in Counter(levels).items() if times > 1)
    if repeated:
        raise ValueError(f"every level must be listed once; repeated: {listed(map(quoted, repeated))}")
    return tuple(levels)


def codes(value: object) -> tuple[str, ...]:
    """Return missing codes, texts or numbers, as distinct texts; raise ValueError for anything else."""
    given = _items(value)
    for code in given:
        if isinstance(code, bool) or not isinstance(code, (str, int, float)):
            raise ValueError(f"missing codes are text or numbers, not {quoted(code)}")
        _encodable(str(code))
    return tuple(dict.fromkeys(canonical_text(code) for code in given))


def _marks(value: object) -> tuple[str, ...]:
    marks = []
    for mark in _items(value):
        if not isinstance(mark, str) or not mark.strip():
            raise ValueError(f'marks are text, such as "H" or "~", not {quoted(mark)}')
        if _OF_NUMBERS.issuperset(mark):
            raise ValueError(f"{quoted(mark)} could be a part of a number, and is no mark next to one")
        marks.append(_encodable(mark.strip()))
    return tuple(dict.fromkeys(marks))


def _spikes(value: object) -> tuple[float, ...]:
    given = list(value) if isinstance(value, (list, tuple)) else [value]
    return tuple(sorted({_number(item) for item in given}))


def _limits(value: object) -> tuple[str, ...]:
    given = list(value) if isinstance(value, (list, tuple)) else [value]
    for side in given:
        if side not in _SIDES:
            raise ValueError(f"must be one of {', '.join(_SIDES)}, or a list of both, not {quoted(side)}")
    return tuple(side for side in _SIDES if side in given)


def _yes_no(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise ValueError(f"must be true or false, not {quoted(value)}")


def _prior(value: object) -> dict[str, float | list[float]]:
    if not isinstance(value, dict):
        raise ValueError(f"must give values by name, such as {{a: 1, b: 1}}, not {quoted(value)}")
    read: dict[str, float | list[float]] = {}
    for name, given in value.items():
        try:
            read[str(name)] = [_number(item) for item in given] if isinstance(given, (list, tuple)) else _number(given)
        except ValueError as error:
            raise ValueError(f"{shortened(str(name))} {error}") from None
    return read


def _synonyms(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise ValueError(f'must give what other texts mean, such as {{ja: "yes"}}, not {quoted(value)}')
    read: dict[str, str] = {}
    for given, meant in value.items():
        for side in (given, meant):
            if isinstance(side, bool) or not isinstance(side, (str, int, float)):
                raise ValueError(f"texts are given for texts, not {quoted(side)}")
            _encodable(str(side))
        text, level = (side.strip() if isinstance(side, str) else canonical_text(side) for side in (given, meant))
        read[text] = level
    return read


Censored = Literal["limit", "half", "missing"]
Text = Annotated[str, BeforeValidator(text)]
Number = Annotated[float, BeforeValidator(_number)]
Whole = Annotated[int, BeforeValidator(_whole)]
YesNo = Annotated[bool, BeforeValidator(_yes_no)]
Levels = Annotated[tuple[str, ...], BeforeValidator(_levels)]
Marks = Annotated[tuple[str, ...], BeforeValidator(_marks)]
Spikes = Annotated[tuple[float, ...], BeforeValidator(_spikes)]
Limits = Annotated[tuple[str, ...], BeforeValidator(_limits)]
Codes = Annotated[tuple[str, ...], BeforeValidator(codes)]
Synonyms = Annotated[dict[str, str], BeforeValidator(_synonyms)]
Prior = Annotated[dict[str, float | list[float]], BeforeValidator(_prior)]


# The numbers in the levels of a scale (``60 %``, ``NYHA II``), and the scores of levels in words.

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
