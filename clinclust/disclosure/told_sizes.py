"""What the rounded numbers of a feature tell of the sizes of the groups.

A size is the sum of the counts of a feature. Where several rounded counts lie near the same end of what rounds to them,
their sum bounds the size more closely than the rounded size does, and so the counts of all other features. The bounds
follow by passing the ends of the intervals through each sum until none changes: every number that agrees with what is
shown lies within them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.disclosure.counts import ALL_SUBJECTS, FeatureCounts
from clinclust.disclosure.rounding import rounding_error
from clinclust.errors import InputError

__all__ = ["told_sizes"]

Floats = NDArray[np.float64]


def told_sizes(shown: FeatureCounts, low: Floats, high: Floats, rounding: int) -> tuple[Floats, Floats]:
    """Return the lowest and the highest possible sizes, each (G,), given the numbers of a feature.

    Parameters
    ----------
    shown : FeatureCounts
        The rounded numbers of the feature; NaN where they are withheld.
    low, high : float64 (G,)
        The lowest and the highest possible size of each group, as they are known without the feature.
    rounding : int
        The base to which the numbers are rounded.

    Raises
    ------
    ValueError
        If no counts agree with the numbers shown.
    """
    below, above = rounding_error(rounding)
    other = np.full((int(shown.is_yes_no), len(low)), np.nan)
    levels = np.vstack([shown.count, other]) if shown.is_share else np.empty((0, len(low)))
    # The rows are the levels, the observed values, the missing ones, and the sizes.
    counts = np.vstack([levels, shown.n, shown.missing])
    first = np.vstack([np.where(np.isnan(counts), 0.0, np.maximum(counts - below, 0.0)), low])
    last = np.vstack([np.where(np.isnan(counts), high, counts + above), high])
    L = len(levels)
    changes = True
    while changes:
        before = first.copy(), last.copy()
        if L > 0:
            _pass_through_sum(first[:L], last[:L], first[L], last[L])
        _pass_through_sum(first[L : L + 2], last[L : L + 2], first[L + 2], last[L + 2])
        groups, everybody = slice(ALL_SUBJECTS + 1, None), ALL_SUBJECTS
        _pass_through_sum(first[:, groups].T, last[:, groups].T, first[:, everybody], last[:, everybody])
        if (first > last).any():
            raise InputError(f"{shown.name}: no counts agree with every number shown")
        changes = not (np.array_equal(first, before[0]) and np.array_equal(last, before[1]))
    return first[-1], last[-1]


def _pass_through_sum(low: Floats, high: Floats, sum_low: Floats, sum_high: Floats) -> None:
    """Narrow the intervals of the parts, (parts, sums), and of their sums, (sums,), by each other, in place."""
    np.maximum(sum_low, low.sum(axis=0), out=sum_low)
    np.minimum(sum_high, high.sum(axis=0), out=sum_high)
    others_high, others_low = high.sum(axis=0) - high, low.sum(axis=0) - low
    np.maximum(low, sum_low - others_high, out=low)
    np.minimum(high, sum_high - others_low, out=high)
