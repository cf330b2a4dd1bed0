"""Values beyond a limit that are written in words, such as `less than 20`; see `clinclust/data/number_words.toml`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.data import data
from clinclust.files.number_notation import parts_of, with_plain_spaces

__all__ = ["limits_in_words"]

_ABOVE, _BELOW = ("|".join(data("number_words")["limits"][side]) for side in ("above", "below"))
_WORDED = re.compile(rf"(?:(?P<above>{_ABOVE})|(?:{_BELOW}))\s*(?P<number>[0-9].*)", re.IGNORECASE)
_HALF = 0.5


def limits_in_words(texts: Sequence[str], counts: NDArray[np.int64]) -> dict[str, str]:
    """Return the texts that say in words that a value lies beyond a limit, each with the same in signs: ``>90``.

    At least half of the cells must be numbers: of others, ``under 20`` is an interval of a scale.

    Parameters
    ----------
    texts : sequence of str
        The distinct texts of a column.
    counts : int64 (len(texts),)
        The number of cells that hold each.
    """
    found = {text: match for text in texts if (match := _WORDED.fullmatch(with_plain_spaces(text))) is not None}
    is_number = [bool(found) and text not in found and parts_of(text) is not None for text in texts]
    if not found or counts[np.array(is_number)].sum() < _HALF * counts.sum():
        return {}
    signed = {text: (">" if match["above"] else "<") + match["number"] for text, match in found.items()}
    return {text: sign for text, sign in signed.items() if parts_of(sign) is not None}
