"""What a draft says of the cells of a column of numbers that write none, and of a column with too many of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.files.cell_text import number_of, shortened
from clinclust.files.listed import listed

__all__ = ["told_cells", "told_odd", "told_too_few"]

_SHOWN = 3
_MOST_LEVELS = 10
"""Different numbers beyond which a column with words is one of numbers, and not one of levels."""
_NUMBERS_AT_LEAST = 0.5
_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*(?:-|–|to|bis|à|a)\s*({_NUMBER})")


def told_cells(column: ObservedColumn, places: Sequence[int]) -> str:
    """Return some of the texts at these places, the commonest first, with their numbers of cells and first rows."""
    ranked = sorted(places, key=lambda place: (-int(column.counts[place]), column.first[place]))
    shown = [_told_cell(column, place) for place in ranked[:_SHOWN]]
    return listed(shown, len(ranked))


def _told_cell(column: ObservedColumn, place: int) -> str:
    count, row = int(column.counts[place]), shortened(str(column.labels[column.first[place]]))
    where = f"row {row}" if count == 1 else f"{count:,} cells, the first in row {row}"
    return f"{column.texts[place][:20]!r} ({where})"


def told_odd(column: ObservedColumn, texts: Sequence[str]) -> str:
    """Return what was done with the cells that hold one of these texts, which write no number, and how to change it."""
    odd = set(texts)
    places = [place for place, text in enumerate(column.texts) if text in odd]
    n = int(column.counts[places].sum())
    cells = "1 cell is not a number and is" if n == 1 else f"{n:,} cells are not numbers and are"
    return (
        f"{cells} taken for missing (`missing_codes`): {told_cells(column, places)}; where one stands for a number, "
        f"take it out of `missing_codes` and write the number, such as `synonyms: {_example(texts)}`"
    )


def _example(texts: Sequence[str]) -> str:
    """Return a synonym as the schema writes it: the middle of a range, if there is one."""
    for text in texts:
        ends = _RANGE.fullmatch(text)
        if ends is not None:
            low, high = (number_of(end.replace(",", ".")) for end in ends.groups())
            return f'{{"{text[:20]}": {(low + high) / 2:g}}}'
    return f'{{"{texts[0][:20]}": ...}}'


def told_too_few(column: ObservedColumn, numbers: NDArray[np.float64]) -> str | None:
    """Return why a column of many numbers is none of numbers: which other cells it holds; None if it has few numbers.

    Parameters
    ----------
    column : ObservedColumn
    numbers : float64 (len(column.texts),)
        The number that each text writes; NaN if it writes none.
    """
    is_number = np.isfinite(numbers)
    share = column.counts[is_number].sum() / column.n_observed
    if share < _NUMBERS_AT_LEAST or is_number.all() or np.unique(numbers[is_number]).size <= _MOST_LEVELS:
        return None
    places = np.flatnonzero(~is_number).tolist()
    n = int(column.counts[places].sum())
    return (
        f"{share:.0%} of the cells are numbers, and {n:,} are not: {told_cells(column, places)}; list under "
        "`missing_codes` what means no result, write under `synonyms` which number a text stands for, or correct the "
        "table, and give a likelihood such as `likelihood: gaussian`"
    )
