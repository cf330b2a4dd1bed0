"""The numbers of rows that were left out of an analysis: all are shown or none, for they follow from each other."""

from __future__ import annotations

import numpy as np

from clinclust.disclosure.rule import Rule
from clinclust.files.selection.row_choice import RowCounts

__all__ = ["are_small_rows"]


def are_small_rows(counts: RowCounts, n_subjects: int, threshold: int) -> bool:
    """Return whether a number of rows that were left out is small, or one that could be computed: withhold all then.

    The rows that were left out and the subjects add up to the rows of the table, so one small number would follow from
    the others. Each row is treated as a subject, because it may be one.

    Parameters
    ----------
    counts : RowCounts
    n_subjects : int
        The subjects that were analysed, whose number is shown.
    threshold : int
        The smallest count that is not withheld.
    """
    left_out = [
        counts.not_meeting,
        counts.unknown,
        counts.not_meeting - counts.unknown,
        counts.further,
        counts.outside,
        counts.taken - n_subjects,
    ]
    table = np.array([left_out], dtype=np.float64)
    is_small = Rule(threshold).sensitive(table, np.zeros((1, 1), dtype=np.bool_))
    return bool(is_small.any())
