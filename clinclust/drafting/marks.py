"""Find what stands beside the numbers of a column and says nothing of their value: flags, approximations, titres."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.titres import are_titres, titre
from clinclust.files import flags
from clinclust.files.flags import Marked, longest_first

__all__ = ["Marked", "without_flags"]


def without_flags(texts: Sequence[str], counts: NDArray[np.int64]) -> Marked:
    """Return the texts of a column without the marks beside their numbers, of which ``1:`` is that of a titre.

    Parameters
    ----------
    texts : sequence of str
        The distinct texts of a column.
    counts : int64 (len(texts),)
        The number of cells that hold each.
    """
    return _titres(texts) if are_titres(texts, counts) else flags.without_flags(texts, counts)


def _titres(texts: Sequence[str]) -> Marked:
    found = [titre(text) for text in texts]
    marks = Counter(match[0] for match in found if match)
    bodies = [str(match[1]) if match else text for text, match in zip(texts, found, strict=True)]
    return Marked(longest_first(marks), bodies, np.array([match is not None for match in found], dtype=bool))
