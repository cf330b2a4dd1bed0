"""Words for a result below the limit of detection, beside the numbers of a column: what stands for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.odd_cells import told_cells
from clinclust.files.number_notation import BEYOND_A_LIMIT

__all__ = ["is_negative", "lowest_limit", "negative_words", "told_negative"]

_PHRASES = """
    neg; negative; negativ; négatif; négative; negativo; negativa; not detected; undetected; undetectable;
    not detectable; none detected; below detection limit; below limit of detection; below lod; below lloq; <lod;
    < lod; <lloq; < lloq; <loq; < loq; <ldl; lod; lloq; bdl; blq; bloq; bql; blod; nicht nachweisbar;
    nicht nachgewiesen; n. n.; n.n.; unter nachweisgrenze; unter der nachweisgrenze; unterhalb der nachweisgrenze;
    u. n.; u.n.; u. nwg; non détecté; non détectée; non détectable; indétectable; no detectado; no detectada;
    no detectable; indetectable; non rilevabile; non rilevato
"""
_WORDS = frozenset(phrase.strip() for phrase in _PHRASES.split(";"))
_FEWEST_NUMBERS = 4
_LEAST_RANGE = 8.0
"""The ratio of the largest and the smallest number from which on numbers are titres or concentrations, not grades."""


def negative_words(column: ObservedColumn, numbers: NDArray[np.float64]) -> list[str]:
    """Return the texts that say that a result is negative, or below the limit of detection, in a column of numbers.

    Beside a few neighbouring numbers, such as grades from 1 to 3, ``negative`` is a grade of its own, and is left.
    """
    words = [text for text in column.texts if is_negative(text)]
    positive = np.unique(numbers[np.isfinite(numbers) & (numbers > 0)])
    if not words or positive.size < _FEWEST_NUMBERS or positive[-1] < _LEAST_RANGE * positive[0]:
        return []
    return words


def is_negative(text: str) -> bool:
    """Return whether a text says that a result is negative, or below the limit of detection."""
    plain = " ".join(text.casefold().split())
    return plain in _WORDS or plain.removesuffix(".") in _WORDS


def lowest_limit(column: ObservedColumn, numbers: NDArray[np.float64], limits: NDArray[np.float64]) -> float:
    """Return the limit of detection: the commonest that the cells name, or else the smallest positive number.

    Parameters
    ----------
    column : ObservedColumn
    numbers : float64 (len(column.texts),)
        The numbers of the texts.
    limits : float64 (len(column.texts),)
        The limits themselves; NaN for texts that are not below a limit.
    """
    named = np.flatnonzero(np.isfinite(limits))
    if named.size:
        return float(limits[named[int(column.counts[named].argmax())]])
    exact = np.array([BEYOND_A_LIMIT.match(text) is None for text in column.texts], dtype=bool)
    return float(numbers[exact & (numbers > 0)].min())


def told_negative(column: ObservedColumn, words: list[str], limit: float) -> str:
    """Return what was done with negative results, and how to change it."""
    places = [place for place, text in enumerate(column.texts) if text in words]
    return (
        f"negative results among numbers are read as below the limit {limit:g}, and half of it stands for them "
        f"(`synonyms`, `censored`): {told_cells(column, places)}; list them under `missing_codes` instead if nothing "
        "was measured"
    )
