"""Texts of cells: numbers among them, and how messages show and list them."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import show_cells

# Canonical texts of cells, and the numbers that texts write.

# A float written in full has 25 characters, with groups of thousands, a unit and flags 50. A cell may have 131,072.
LONGEST_NUMBER = 64


def compile_short(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern for `match` and `fullmatch` that fails at once for texts of more than 64 characters.

    The work of most patterns of numbers grows with the square or the cube of the length.
    """
    return re.compile(rf"(?=(?s:.{{0,{LONGEST_NUMBER}}})\Z)(?:{pattern})", flags)


# ASCII digits with an optional sign, decimal point and exponent
NUMBER = compile_short(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_SHOWN = 60
_INFINITY = compile_short(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_CHARACTERS = frozenset("0123456789.+-eE")
_LARGEST_WHOLE_FLOAT = 2.0**53  # a float64 cannot represent every whole number above it


def number_of(text: str) -> float:
    """Return the number that `text` writes, or NaN if it writes none. ``1e400`` and ``inf`` are infinite."""
    return float(text) if NUMBER.fullmatch(text) or _INFINITY.fullmatch(text) else float("nan")


def without_letters(texts: list[str]) -> bool:
    """Return whether the texts are as short as numbers, and hold only their characters."""
    return max(map(len, texts), default=0) <= LONGEST_NUMBER and _CHARACTERS.issuperset("".join(texts))


def numbers_of(texts: list[str]) -> NDArray[np.float64]:
    """Return `number_of` each text, float64 (len(texts),)."""
    if without_letters(texts):  # of these characters float() accepts exactly what NUMBER matches
        with suppress(ValueError):
            return np.array(texts, dtype=object).astype(np.float64)
    return np.array([number_of(text) for text in texts], dtype=np.float64)


# Spaces that look like the plain one, of no break or another width; and what has no width: soft hyphen, zero-width
# space, word joiner, byte-order mark, marks of direction. Joiners between letters of Persian and Indic words stay.
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
# A number in other digits and signs, `−3.5`, `１２０`, `٣٧` or `'13.2`, which Excel writes for a number kept as a text.
_OTHER_SIGNS = str.maketrans({"−": "-", "\u066b": ".", "\uff0d": "-"})
_IN_OTHER_SIGNS = compile_short(r"'?[<>]?=?[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?\s?%?")


def remove_unseen(text: str) -> str:
    """Return a text without characters that cannot be seen, and without blanks around it."""
    return (text if text.isascii() else _UNSEEN.sub("", _SPACES.sub(" ", text))).strip()


def canonical_text(value: object) -> str:
    """Return the canonical text of one cell.

    Text is stripped, without characters that cannot be seen: ``m`` and ``m`` with a zero-width space are one level. A
    number is in the digits and signs of ASCII. A whole float below 2^53 has no decimals (1.0 is ``1``), a date and time
    is in ISO form, without the time if it is midnight.
    """
    if isinstance(value, str):
        text = remove_unseen(value)
        if text[:1] != "'" and text.isascii():
            return text
        digits = (str(unicodedata.decimal(sign, sign)) for sign in unicodedata.normalize("NFKC", text[:LONGEST_NUMBER]))
        plain = "".join(digits).translate(_OTHER_SIGNS)
        return plain.lstrip("'") if len(text) < LONGEST_NUMBER and _IN_OTHER_SIGNS.fullmatch(plain) else text
    if isinstance(value, (float, np.floating)):
        is_whole = abs(float(value)) < _LARGEST_WHOLE_FLOAT and float(value).is_integer()
        return str(int(value) if is_whole else value)
    if isinstance(value, datetime.datetime):
        at_midnight = value.time() == datetime.time() and value.tzinfo is None
        return value.date().isoformat() if at_midnight else value.isoformat()
    text = str(value)
    return text.removesuffix("T00:00:00") if isinstance(value, np.datetime64) else text.strip()


def texts_of(column: pd.Series) -> pd.Series:
    """Return the canonical texts of the cells of a column, empty where one is missing."""
    return column.astype(object).where(column.notna(), "").map(canonical_text)


def shortened(text: str) -> str:
    """Return `text` for a message: unchanged if it has at most 60 characters, otherwise its beginning."""
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def is_blank(text: str) -> bool:
    """Return whether a cell holds nothing that can be seen."""
    return not canonical_text(text)


# What a message names: many things, of which only the first are shown.

_SHOWN = 5
_LONGEST_MESSAGE = 3500


def listed(items: Iterable[object], count: int | None = None) -> str:
    """Return the first five items, shortened, and how many more of `count` (by default, of the items) there are."""
    every = list(items)
    count = len(every) if count is None else count
    shown = [shortened(str(item)) for item in every[:_SHOWN]]
    more = f" and {count - len(shown):,} more" if count > len(shown) else ""
    return ", ".join(shown) + more


def rows_named(numbers: Sequence[int]) -> str:
    """Return the words for some rows: ``row 4``, or ``rows 4, 9``, or ``rows 4 to 9``."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"rows {numbers[0]} to {numbers[-1]}"
    return f"row{'s' * (len(numbers) > 1)} {listed(numbers)}"


def quoted(value: object) -> str:
    """Return the value as Python writes it, in quotes if it is text, and shortened."""
    return repr(shortened(value)) if isinstance(value, str) else shortened(repr(value))


def quote_cell(text: str) -> str:
    """Return the text of a cell for a message, in quotes and shortened; a summary for programs masks it."""
    return show_cells(repr(shortened(text)))


def limited(message: str) -> str:
    """Return a message, cut after 3,500 characters."""
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + " ... (cut)"


class Places(defaultdict[str, list[str]]):
    """The places of each finding, which is a sentence that can follow a list of places and a colon."""

    def __init__(self) -> None:
        super().__init__(list)

    def sentences(self) -> list[str]:
        """Return one sentence for each finding that has places, with the first of them."""
        return [f"{listed(places)}: {finding}" for finding, places in self.items() if places]
