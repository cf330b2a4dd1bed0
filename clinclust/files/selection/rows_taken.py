"""What became of the rows of a table when some were chosen: kept with the table, in ``frame.attrs``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

from clinclust.errors import InputError
from clinclust.files.selection.repeated_subjects import SEVERAL_ROWS
from clinclust.files.selection.row_choice import RowChoice

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ROWS_TAKEN", "RowCounts", "RowsTaken", "carry_rows_taken", "note_rows_taken", "rows_taken"]

ROWS_TAKEN = "rows_taken"


@dataclass(frozen=True)
class RowCounts:
    """How many rows of a table were taken, and how many were left out for which reason."""

    in_table: int  # rows of the table; rows of the sheet below its header, if these were chosen by their numbers
    not_meeting: int = 0  # do not meet the condition
    unknown: int = 0  # of these: it is not known whether they meet it, as a value is missing or cannot be compared
    further: int = 0  # meet it, but another row of the subject was taken
    outside: int = 0  # are not among the rows of the sheet that somebody named

    @property
    def taken(self) -> int:
        """Rows that were taken."""
        return self.in_table - self.outside - self.not_meeting - self.further

    def problems(self) -> list[str]:
        """Return what contradicts itself."""
        least = min(*asdict(self).values(), self.taken, self.not_meeting - self.unknown)
        return ["the numbers of rows contradict each other"] if least < 0 else []


class RowsTaken(NamedTuple):
    """Which rows of a table were taken, and how many."""

    choice: RowChoice
    counts: RowCounts


def note_rows_taken(frame: pd.DataFrame, taken: RowsTaken) -> None:
    """Put into ``frame.attrs`` which rows of its file a table holds."""
    frame.attrs[ROWS_TAKEN] = {"choice": taken.choice.as_dict(), "counts": asdict(taken.counts)}


def carry_rows_taken(source: pd.DataFrame, frame: pd.DataFrame) -> None:
    """Note of a table what is noted of the rows of the one that it was made from."""
    frame.attrs |= {key: source.attrs[key] for key in (ROWS_TAKEN, SEVERAL_ROWS) if key in source.attrs}


def rows_taken(frame: pd.DataFrame) -> RowsTaken | None:
    """Return which rows of its file a table holds; None if it was not read by `read_cohort`, or rows were added since.

    InputError is raised if ``frame.attrs`` holds under this key what `read_cohort` did not write.
    """
    noted = frame.attrs.get(ROWS_TAKEN)
    if noted is None:
        return None
    try:
        taken = RowsTaken(RowChoice.from_dict(noted["choice"]), RowCounts(**noted["counts"]))
        is_ours = len(noted) == 2 and not taken.counts.problems()
    except (TypeError, KeyError):
        is_ours = False
    if not is_ours:
        raise InputError(
            f"frame.attrs[{ROWS_TAKEN!r}] does not say which rows were taken; remove it, or read the file again with "
            "clinclust.read_cohort"
        )
    return taken if len(frame) <= taken.counts.taken else None
