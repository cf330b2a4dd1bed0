"""Find what stands beside the numbers of a column and says nothing of their value: flags, approximations, titres."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.titres import are_titres, titre
from clinclust.files import flags
from clinclust.files.cell_text import numbers_of
from clinclust.files.flags import Marked, longest_first

__all__ = ["Marked", "without_flags"]

_OF_TEN = re.compile(r"(?P<number>[0-9]+(?:[.,][0-9]+)?)\s*(?P<mark>/\s*(?P<end>100?))")


def without_flags(texts: Sequence[str], counts: NDArray[np.int64]) -> Marked:
    """Return the texts of a column without the marks beside their numbers, of which ``1:`` is that of a titre.

    Parameters
    ----------
    texts : sequence of str
        The distinct texts of a column.
    counts : int64 (len(texts),)
        The number of cells that hold each.
    """
    if are_titres(texts, counts):
        return _titres(texts)
    return _of_ten(texts) or flags.without_flags(texts, counts)


def _of_ten(texts: Sequence[str]) -> Marked | None:
    """Return the numbers of cells that say of how many, as `6/10` beside `6`; None if not all are of one 10 or 100."""
    found = [_OF_TEN.fullmatch(text) for text in texts]
    ends = {match["end"] for match in found if match}
    bodies = [match["number"] if match else text for text, match in zip(texts, found, strict=True)]
    if len(ends) != 1:
        return None
    numbers, end = numbers_of([body.replace(",", ".") for body in bodies]), float(next(iter(ends)))
    if np.isnan(numbers).any() or numbers.min() < 0 or numbers.max() > end:
        return None
    marks = Counter(match["mark"] for match in found if match)
    return Marked(longest_first(marks), bodies, np.array([match is not None for match in found], dtype=bool))


def _titres(texts: Sequence[str]) -> Marked:
    found = [titre(text) for text in texts]
    marks = Counter(match[0] for match in found if match)
    bodies = [str(match[1]) if match else text for text, match in zip(texts, found, strict=True)]
    return Marked(longest_first(marks), bodies, np.array([match is not None for match in found], dtype=bool))
