"""Guess which values of a column are codes for a missing value."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clinclust.files.cell_text import numbers_of, shortened

__all__ = ["suspected_codes"]

_WORDS = frozenset(
    {"na", "n/a", "#n/a", "n.a.", "nan", "<na>", "nat", "null", "unknown", "unk", "missing", "not known"}
    | {"not available", "not done", "nd", "n.d.", ".", "..", "?", "-", "--"}
)
_NUMBERS = (-1.0, -9.0, -99.0, -999.0, -9999.0, 9.0, 99.0, 999.0, 9999.0, 88.0, 888.0)
_ODD_TEXTS = 5  # the most distinct texts in a column of numbers that are not numbers and still count as codes
_ODD_SHARE = 0.1  # the largest share of the cells that such texts may fill


def suspected_codes(texts: list[str], counts: NDArray[np.int64]) -> tuple[list[str], str]:
    """Return the texts of a column that look like missing codes, and a remark that names them for the reader.

    Parameters
    ----------
    texts : list of str
        The distinct texts of the column.
    counts : ndarray, shape (len(texts),)
        The number of cells that hold each text.
    """
    numbers = numbers_of(texts)
    is_word = np.array([text.casefold() in _WORDS for text in texts], dtype=bool)
    if "-" in texts and "+" in texts:  # here "-" means negative, not missing
        is_word[texts.index("-")] = False
    is_number = np.isfinite(numbers)
    is_odd = ~is_number & ~is_word
    remarks, codes = [], [text for text, word in zip(texts, is_word, strict=True) if word]
    if codes:
        remarks.append(f"{_quoted(codes)} taken for missing")
    few = is_odd.sum() <= _ODD_TEXTS and counts[is_odd].sum() <= _ODD_SHARE * counts.sum()
    if is_odd.any() and few and is_number.sum() > 2:
        odd = [text for text, is_it in zip(texts, is_odd, strict=True) if is_it]
        remarks.append(f"{_quoted(odd)} not a number: taken for missing until you decide otherwise")
        codes += odd
    if is_number.any() and len(codes) + is_number.sum() == len(texts):
        found = _outlying(numbers[is_number])
        outliers = [text for text, number in zip(texts, numbers, strict=True) if number in found]
        if outliers:
            remarks.append(f"{_quoted(outliers)} lies apart from all other values: taken for missing")
            codes += outliers
    return codes, "; ".join(remarks)


def _outlying(numbers: NDArray[np.float64]) -> set[float]:
    """Return the usual missing codes that lie far outside the range of all other numbers of a column.

    A code lies far outside if it is negative and no other number is, or if it exceeds the largest other number by
    more than the range of the others (and by more than 3).
    """
    found = {code for code in _NUMBERS if code in numbers}
    usual = np.array([number for number in numbers if number not in found])
    if usual.size < 2:
        return set()
    low, high = usual.min(), usual.max()
    spread = max(high - low, 1.0)
    if not math.isfinite(spread):
        return set()
    return {code for code in found if (code < 0 <= low) or code > high + max(spread, 3.0)}


def _quoted(texts: list[str]) -> str:
    return ", ".join(repr(shortened(text)) for text in texts[:_ODD_TEXTS])
