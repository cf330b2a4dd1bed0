"""Which rows below the header are no subjects: totals, headings, notes, repeated headers, second tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.layout.below import Below
from clinclust.files.layout.doubts import Doubt
from clinclust.files.layout.filled_columns import filled_columns
from clinclust.files.layout.headings import headings
from clinclust.files.layout.repeated_headers import repeated_headers
from clinclust.files.layout.second_tables import second_tables
from clinclust.files.layout.subtotals import Subtotals

__all__ = ["NoSubjects", "rows_without_subjects"]


@dataclass(frozen=True)
class NoSubjects:
    """Which rows of a table are no subjects (a mask), what its reader must know of these, and what to ask of others."""

    mask: NDArray[np.bool_]
    remarks: list[str] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)


def rows_without_subjects(
    frame: pd.DataFrame, headers: Sequence[Sequence[str]], decimal: str | None, of_subjects: bool = True
) -> NoSubjects:
    """Find the rows of a table that are no subjects.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows below the header, as text; the labels plus 2 are row numbers.
    headers : sequence of sequences of str
        The rows of the header, as wide as the table; none if the file has no header.
    decimal : str or None
        The decimal mark that somebody said.
    of_subjects : bool
        Whether the rows are subjects. Among those of a codebook, headings and words of totals are usual.
    """
    found = NoSubjects(np.zeros(len(frame), dtype=bool))
    if frame.shape[1] < 2 or not len(frame):
        return found
    mask, remarks = found.mask, found.remarks
    repeated = repeated_headers(frame, headers)
    mask |= repeated.mask
    remarks += repeated.remarks
    if of_subjects:
        found.doubts.extend(repeated.doubts)
    _leave_out_below(frame, decimal, mask, remarks)
    if of_subjects:
        _look_between(frame, headers, decimal, found)
    return found


def _look_between(
    frame: pd.DataFrame, headers: Sequence[Sequence[str]], decimal: str | None, found: NoSubjects
) -> None:
    """Add what stands between the subjects, or as another table below them, to what was found."""
    mask, remarks, doubts = found.mask, found.remarks, found.doubts
    between = Subtotals(frame[~mask], decimal, filled_columns(frame[~mask]))
    kept = np.flatnonzero(~mask)
    certain = between.found()
    mask[kept[certain]] = True
    if certain.any():  # a grand total counts the subjects, and not the totals between them
        _leave_out_below(frame, decimal, mask, remarks)
    mask |= headings(frame, mask, remarks, doubts)
    asked = {row for doubt in doubts for row in doubt.rows}
    others = [doubt for doubt in second_tables(frame, headers, mask) if not asked.issuperset(doubt.rows)]
    of_others = {row for doubt in [*doubts, *others] for row in doubt.rows}
    between.tell(certain | mask[kept] | np.isin(np.asarray(frame.index)[kept] + 2, list(of_others)))
    remarks += between.remarks
    doubts += [*between.doubts, *others]


def _leave_out_below(frame: pd.DataFrame, decimal: str | None, mask: NDArray[np.bool_], remarks: list[str]) -> None:
    """Mark the rows below the last subject, and add what to say of them."""
    kept = np.flatnonzero(~mask)
    if kept.size:
        found, told = Below(frame.iloc[kept], decimal).found()
        mask[kept[found]] = True
        remarks += told
