"""Which texts of a column mean a missing value: words, signs, and numbers that can be no values of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.data import data
from clinclust.drafting.column import Column
from clinclust.drafting.levels import without_number
from clinclust.files.cell_text import number_of, shortened
from clinclust.files.dictionaries.words import MISSING_SIGNS, means_missing, words_of

_DIGITS = [*(digit * k for digit in "789" for k in range(1, 6)), "66", *("9" * k + d for k in (1, 2, 3) for d in "678")]
_AMONG_WORDS = frozenset(["9", "99", "999", "88", "77", "-9", "-99", "-1"])
_REFUSALS = frozenset([7.0, 8.0, 9.0])
_HIGHEST_STEP, _MOST_REFUSALS = 6.0, 0.1
_FAR = 3.0
_SHORT = 3
_SHOWN = 5


def missing_words(column: Column) -> set[str]:
    """Return the texts of a column that say in words or signs that a value is missing.

    What repeats the words of another answer is an answer: `not done` where others are `done`.
    """
    if np.isfinite(column.numbers).all():
        return set()
    texts = zip(column.texts, column.numbers, strict=True)
    found = {text for text, number in texts if np.isnan(number) and _says_missing(text)}
    signs = MISSING_SIGNS - set(data("missing_words")["also_values"])
    found |= {text for text in column.texts if text.casefold() in signs}
    others = {word for text in column.texts if text not in found for word in words_of(text)}
    small = set(data("answers")["denials"])
    found = {text for text in found if others.isdisjoint(set(words_of(text)) - small)}
    left = [text for text in column.texts if text not in found]
    if len(left) == 1 and len(left[0]) <= _SHORT:  # "ND" among "D" is "not detected"
        found = {text for text in found if not text.isalpha() or len(text) > _SHORT}
    if any("+" in text for text in left):  # among crosses, "-" is negative
        found.discard("-")
    numbers = [text for text in left if text in _AMONG_WORDS]
    if len(left) - len(numbers) > 1 and all(np.isnan(number_of(text)) for text in left if text not in numbers):
        found |= set(numbers)  # 9 among words
    return found


def _says_missing(text: str) -> bool:
    folded = " ".join(text.casefold().split())
    if folded in data("missing_words")["also_values"]:
        return False
    words = " ".join(dict.fromkeys(words_of(without_number(folded))))  # "NA_NA" too
    return folded in MISSING_SIGNS or means_missing(words)


def missing_numbers(numbers: Array, counts: NDArray[np.int64]) -> set[float]:
    """Return the numbers (m,), in so many cells, that surveys write for a missing value, and that lie apart.

    They are negative where all others are not, or exceed the largest other number by more than the range of the
    others; 7, 8 and 9 are rare, behind a gap of a scale that ends by 6.
    """
    finite = np.isfinite(numbers)
    numbers, counts = numbers[finite], counts[finite]
    found = {number for number in numbers.tolist() if _is_code(number)}
    usual = numbers[~np.isin(numbers, list(found))]
    while np.unique(usual).size < 2 and found:  # a scale may hold such numbers itself
        nearest = min(found, key=abs)
        found.remove(nearest)
        usual = np.append(usual, nearest)
    if not found or np.unique(usual).size < 2:
        return set()
    cells = {code: int(counts[numbers == code].sum()) for code in found}
    refusals = _refusals(found, usual, cells, int(counts.sum()))
    for code in sorted(found, key=abs):  # from the inside: 98 and 99 follow 97, and are no codes
        low, high = float(usual.min()), float(usual.max())
        if code not in _REFUSALS and high < code <= high + max(high - low, _FAR):
            usual = np.append(usual, code)
    low, high = float(usual.min()), float(usual.max())
    above = {code for code in found if code > high} - _REFUSALS
    gap = float(np.diff(np.unique(usual)).max()) if usual.size <= 30 else 1.0
    below = {code for code in found if code < 0.0 <= low and low - code > (1.0 if code < -1.0 else 0.0) * gap}
    below = {code for code in below if code < -1.0 or (cells[code] >= 2 and bool((usual == np.floor(usual)).all()))}
    if low > 0.0 or np.unique(usual).size < 4:
        below.discard(-1.0)
    if (usual != np.floor(usual)).any():  # of scores around 0, only a code that lies apart is one
        below |= {code for code in found if code < low - (high - low) / 2.0 and cells[code] > 1}
    return above | below | refusals


def _is_code(number: float) -> bool:
    """Return whether a number is written as codes are: 99, -9, 998, 99.9; -1 too."""
    digits = f"{abs(number):g}".replace(".", "")
    return digits in _DIGITS or number == -1.0


def _refusals(found: set[float], usual: Array, cells: dict[float, int], n: int) -> set[float]:
    """Return 7, 8 and 9 that are rare and behind a gap of a short scale of whole numbers."""
    high, steps = float(usual.max()), np.unique(usual)
    codes = {code for code in found & _REFUSALS if code > high + 1.0}
    is_scale = bool((np.diff(steps) == 1.0).all()) and 0.0 <= steps[0] <= 1.0 and high <= _HIGHEST_STEP
    is_refusal = is_scale and 9.0 in codes and high + 1.0 not in found
    return codes if is_refusal and sum(cells[code] for code in codes) <= _MOST_REFUSALS * n else set()


def quoted(texts: list[str]) -> str:
    """Return some of the texts in quotes, for a reason."""
    shown = ", ".join(repr(shortened(text)) for text in texts[:_SHOWN])
    return shown if len(texts) <= _SHOWN else f"{shown} and {len(texts) - _SHOWN} more"
