"""Values beyond a limit that are written in words: `less than 20`, `über 90`, `plus de 5`, `>>100`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.files.number_notation import BEYOND_A_LIMIT, parts_of, with_plain_spaces

__all__ = ["is_beyond_a_limit", "limits_in_words"]

_ABOVE = (
    "more than|greater than|higher than|larger than|above|over|über|ueber|mehr als|größer als|groesser als|höher als|"
    "plus de|plus que|supérieur à|superieur a|supérieure à|au-dessus de|más de|mas de|mayor de|mayor que|superior a|"
    "più di|piu di|maggiore di|superiore a|oltre|meer dan|mais de|>>+"
)
_BELOW = (
    "less than|fewer than|lower than|smaller than|below|under|unter|weniger als|kleiner als|niedriger als|"
    "moins de|moins que|inférieur à|inferieur a|inférieure à|au-dessous de|menos de|menor de|menor que|inferior a|"
    "meno di|minore di|inferiore a|minder dan|<<+"
)
_WORDED = re.compile(rf"(?:(?P<above>{_ABOVE})|(?P<below>{_BELOW}))\s*(?P<number>[0-9].*)", re.IGNORECASE)
_HALF = 0.5


def is_beyond_a_limit(text: str) -> bool:
    """Return whether a text holds a value beyond a limit, in signs or in words."""
    return BEYOND_A_LIMIT.search(text) is not None or _WORDED.fullmatch(with_plain_spaces(text)) is not None


def limits_in_words(texts: Sequence[str], counts: NDArray[np.int64]) -> dict[str, str]:
    """Return the texts that say in words that a value lies beyond a limit, each with the same in signs.

    At least half of the cells must be numbers: of others, ``under 20`` is an interval of a scale.

    Parameters
    ----------
    texts : sequence of str
        The distinct texts of a column.
    counts : int64 (len(texts),)
        The number of cells that hold each.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust.files.limits_in_words import limits_in_words
    >>> limits_in_words(["35", "42", "über 90"], np.array([3, 2, 1]))
    {'über 90': '>90'}
    """
    found = {text: match for text in texts if (match := _WORDED.fullmatch(with_plain_spaces(text))) is not None}
    if not found:
        return {}
    is_number = np.array([parts_of(text) is not None and text not in found for text in texts], dtype=bool)
    if counts[is_number].sum() < _HALF * counts.sum():
        return {}
    return {
        text: (">" if match["above"] else "<") + match["number"]
        for text, match in found.items()
        if parts_of(match["number"]) is not None
    }
