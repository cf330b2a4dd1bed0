"""What became of the rows of a table when some were chosen: kept with the table, in ``frame.attrs``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

from clinclust.errors import InputError
from clinclust.files.selection.repeated_subjects import SEVERAL_ROWS
from clinclust.files.selection.row_choice import RowChoice

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ROWS_TAKEN", "RowCounts", "RowsTaken", "carry_rows_taken", "note_rows_taken", "rows_taken"]

ROWS_TAKEN = "rows_taken"
"""The key of ``frame.attrs`` under which it is kept: a plain dictionary of the choice and the counts."""


@dataclass(frozen=True)
class RowCounts:
    """How many rows of a table were taken, and how many were left out for which reason."""

    in_table: int
    """Rows of the table; rows of the sheet below its header, if somebody chose among these by their numbers."""
    not_meeting: int = 0
    """Rows that do not meet the condition."""
    unknown: int = 0
    """Rows among these of which it is not known whether they meet it: a value is missing, or cannot be compared."""
    further: int = 0
    """Rows that meet it, of subjects of whom another row was taken."""
    outside: int = 0
    """Rows that are not among those of the sheet which somebody named."""

    @property
    def taken(self) -> int:
        """Rows that were taken."""
        return self.in_table - self.outside - self.not_meeting - self.further

    def problems(self) -> list[str]:
        """Return what contradicts itself."""
        if min(self.in_table, self.not_meeting, self.unknown, self.further, self.outside) < 0:
            return ["a number of rows is negative"]
        if self.unknown > self.not_meeting or self.taken < 0:
            return ["the numbers of rows contradict each other"]
        return []


class RowsTaken(NamedTuple):
    """Which rows of a table were taken, and how many."""

    choice: RowChoice
    counts: RowCounts


def note_rows_taken(frame: pd.DataFrame, taken: RowsTaken) -> None:
    """Put into ``frame.attrs`` which rows of its file a table holds."""
    frame.attrs[ROWS_TAKEN] = {"choice": taken.choice.as_dict(), "counts": asdict(taken.counts)}


def carry_rows_taken(source: pd.DataFrame, frame: pd.DataFrame) -> None:
    """Note of a table what is noted of the rows of the one that it was made from."""
    for key in (ROWS_TAKEN, SEVERAL_ROWS):
        if key in source.attrs:
            frame.attrs[key] = source.attrs[key]


def rows_taken(frame: pd.DataFrame) -> RowsTaken | None:
    """Return which rows of its file a table holds; None if it was not read by `read_cohort`, or rows were added since.

    InputError is raised if ``frame.attrs`` holds under this key what `read_cohort` did not write.
    """
    noted = frame.attrs.get(ROWS_TAKEN)
    if noted is None:
        return None
    foreign = InputError(
        f"frame.attrs[{ROWS_TAKEN!r}] does not say which rows were taken; remove it, or read the file again with "
        "clinclust.read_cohort"
    )
    if not isinstance(noted, Mapping) or set(noted) != {"choice", "counts"}:
        raise foreign
    try:
        taken = RowsTaken(RowChoice.from_dict(noted["choice"]), RowCounts(**noted["counts"]))
        if taken.counts.problems():
            raise foreign
    except TypeError:
        raise foreign from None
    return taken if len(frame) <= taken.counts.taken else None
