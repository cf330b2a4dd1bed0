"""Guess which values of a column are codes for a missing value."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.no_results import normal_words, without_result
from clinclust.drafting.orders import in_order
from clinclust.drafting.redundancy.outcome_levels import say_who_died
from clinclust.drafting.yes_no import ranked_pair
from clinclust.files.cell_text import numbers_of, shortened
from clinclust.files.dictionaries.missing_words import MISSING_SIGNS, means_missing

__all__ = ["missing_words", "odd_texts", "outlying_codes", "quoted"]

_NUMBERED = re.compile(r"[0-9]{1,3}\s*[-=:.)]\s*(?=[^\W\d])")
_WORD = re.compile(r"[^\W\d_]+")
_SMALL_WORDS = frozenset(("not", "no", "nicht", "keine", "kein", "non", "sin", "zu", "a", "the", "de"))
_SHORT_ANSWER = 3
_NUMBERS_BESIDE_WORDS = frozenset(["9", "99", "999", "88", "77", "-9", "-99", "-1"])
_ALSO_VALUES = frozenset(["uk", "nc", "ns", "ns/nc", "invalid", "refuse", "refus", "unspecified", "undetermined"])
"""Texts that mean missing as the label of a code, but may be a value where they are typed into a table."""
_NUMBERS = (
    *(-float(number) for number in (1, 2, 3, 6, 7, 8, 9, 66, 77, 88, 97, 98, 99, 666, 777, 888, 997, 998, 999, 9999)),
    *(float(number) for number in (7, 8, 9, 66, 77, 88, 96, 97, 98, 99, 666, 777, 888, 996, 997, 998, 999)),
    *(float(number) for number in (7777, 8888, 9997, 9998, 9999, 99999, 999999)),
)
_ABSENCES = frozenset(["fehlend", "fehlt", "missing"])
_LOST = frozenset(["lost", "perdido", "perdida", "perso", "persa", "perdu", "perdue", "verloren"])
"""Beside the dead and the living, texts for a patient of whom nobody knows more: an outcome, and not missing."""
_SHORT_REFUSALS = {7.0, 8.0}
_LONGEST_SCALE = 30
_SHOWN = 5
_ODD_SHARE = 0.1  # the largest share of the cells of a column of numbers that may hold other texts
_FEWEST_CELLS, _COMMON = 50, 0.05  # the fewest cells of a scale with refusals, and the least share of its last step
_FEWEST_USUAL = 2  # the fewest distinct numbers from which a code can stand apart


def missing_words(column: ObservedColumn) -> list[str]:
    """Return the texts of a column that say in words that a value is missing."""
    codes = [text for text in column.texts if _says_missing(" ".join(text.casefold().split()))]
    if say_who_died(column.texts):
        codes = [code for code in codes if " ".join(code.casefold().split()) not in _LOST]
    codes = [code for code in codes if not _is_absence(code, [text for text in column.texts if text not in codes])]
    others = {word for text in column.texts if text not in codes for word in _WORD.findall(text.casefold())}
    # Beside "trifft zu", "trifft nicht zu" is an answer, and beside "done" so is "not done".
    codes = [code for code in codes if others.isdisjoint(set(_WORD.findall(code.casefold())) - _SMALL_WORDS)]
    left = [text for text in column.texts if text not in codes]
    if len(left) == 1 and len(left[0]) <= _SHORT_ANSWER:  # "ND" beside "D" is "not detected"
        codes = [code for code in codes if len(code) > _SHORT_ANSWER or not code.isalpha()]
    worded = [text for text in left if text not in _NUMBERS_BESIDE_WORDS]
    if len(worded) > 1 and not np.isfinite(numbers_of(worded)).any():  # numbers that code no answer, beside words
        codes += [text for text in left if text in _NUMBERS_BESIDE_WORDS]
    signs = {text.replace("+", "") for text in column.texts if "+" in text}
    if signs:  # beside crosses, "-" means negative, not missing
        codes = [text for text in codes if text != "-"]
    return codes


def _is_absence(code: str, others: list[str]) -> bool:
    """Return whether a word for missing is the lowest degree of presence: `fehlend` beside `vorhanden`."""
    if " ".join(code.casefold().split()) not in _ABSENCES or not others:
        return False
    return ranked_pair([code, others[0]]) is not None if len(others) == 1 else in_order([code, *others], "") is not None


def _says_missing(text: str) -> bool:
    text = _NUMBERED.sub("", text)  # "9 - not asked"
    return text in MISSING_SIGNS or (text not in _ALSO_VALUES and means_missing(text))


def odd_texts(texts: list[str], numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> list[str]:
    """Return the few texts of a column of numbers that write none; empty if there are too many of them."""
    is_odd = ~np.isfinite(numbers)
    explained = np.zeros(len(texts), dtype=bool)
    normal = normal_words(texts, counts)
    explained[[*without_result(texts), *(place for place, text in enumerate(texts) if text in normal)]] = True
    few = counts[is_odd & ~explained].sum() <= _ODD_SHARE * counts[~explained].sum()
    if not (few and np.isfinite(numbers).sum() > _FEWEST_USUAL):
        return []
    return [text for text, is_it in zip(texts, is_odd, strict=True) if is_it]


def outlying_codes(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> set[float]:
    """Return the usual missing codes that lie far outside the range of all other numbers of a column.

    A code lies far outside if it is negative and no other number is, or if it exceeds the largest other number by
    more than the range of the others (and by more than 3). 7, 8 and 9 behind a short scale need only a gap, because
    surveys code refusals so.
    """
    finite = numbers[np.isfinite(numbers)]
    found = {code for code in _NUMBERS if code in finite}
    usual = np.array([number for number in finite if number not in found])
    while usual.size < _FEWEST_USUAL and found:  # a scale may itself hold usual codes
        lowest = min(found, key=abs)
        found.remove(lowest)
        usual = np.append(usual, lowest)
    if usual.size < _FEWEST_USUAL:
        return set()
    low, high = float(usual.min()), float(usual.max())
    spread = max(high - low, 1.0)
    if not math.isfinite(spread):
        return set()
    above = {code for code in found if code > high + max(spread, 3.0)} - _SHORT_REFUSALS
    below = {code for code in found if code < 0 <= low}
    if low - max(below, default=low) <= _largest_gap(usual):  # a scale or a difference that goes on below 0
        below = set()
    return above | below | _refusals(found, usual, finite, numbers, counts)


def _largest_gap(numbers: NDArray[np.float64]) -> float:
    """Return the largest difference of neighbouring numbers of a scale, at least 1; 0 for other numbers."""
    distinct = np.unique(numbers)
    if len(distinct) > _LONGEST_SCALE or not bool((np.floor(distinct) == distinct).all()):
        return 1.0
    return max(1.0, float(np.diff(distinct).max(initial=1.0)))


def _refusals(
    found: set[float],
    usual: NDArray[np.float64],
    finite: NDArray[np.float64],
    numbers: NDArray[np.float64],
    counts: NDArray[np.int64],
) -> set[float]:
    """Return 7, 8 and 9 (or 77, 88, 99) that are rare and stand behind a gap of a short scale of whole numbers."""
    high = float(usual.max())
    is_short = bool((np.floor(usual) == usual).all()) and usual.min() >= 0 and high <= 6 and len(usual) <= 7
    behind = {code for code in found & {7.0, 8.0, 9.0, 77.0, 88.0, 99.0} if code > high + _largest_gap(usual)}
    behind = behind if len(behind) > 1 or behind & {9.0, 99.0} else set()
    if not is_short or not behind or high + 1 in finite or counts.sum() < _FEWEST_CELLS:
        return set()
    share = counts[np.isin(numbers, list(behind))].sum() / counts.sum()
    of_highest = counts[numbers == high].sum() / counts.sum()  # the values of a count thin out instead
    return behind if share <= _ODD_SHARE and of_highest >= _COMMON else set()


def quoted(texts: list[str]) -> str:
    """Return some of the texts in quotes, for a reason."""
    shown = ", ".join(repr(shortened(text)) for text in texts[:_SHOWN])
    return shown if len(texts) <= _SHOWN else f"{shown} and {len(texts) - _SHOWN} more"
