"""Which rows of a sheet are subjects: as somebody said, such as ``2-61``, or in doubt, with the option that answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from clinclust.errors import InputError
from clinclust.files.listed import listed, quoted

__all__ = ["Doubt", "Finding", "RowRanges", "UncertainRowsError", "ranges_of", "refusal", "rows_named"]

_RANGE = re.compile(r"(\d{1,7})(?:\s*-\s*(\d{0,7}))?")
_LAST = 10**9  # beyond the last row of any file
_LONGEST = 120
_SHOWN = 8


@dataclass(frozen=True)
class RowRanges:
    """Rows by their numbers in a spreadsheet: the first and last of ranges in rising order, and the text of these."""

    text: str
    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def parsed(cls, text: str) -> RowRanges:
        """Return the ranges that a text such as ``2-61, 66-`` means, or raise InputError if it means none."""
        ranges = [(0, 0)]
        for part in text.split(","):
            match = _RANGE.fullmatch(part.strip())
            first = int(match[1]) if match else 0
            last = first if match is None or match[2] is None else int(match[2] or _LAST)
            if not ranges[-1][1] < first <= last:
                raise InputError(
                    f"rows={quoted(text)}: {quoted(part.strip())} is no range of rows; write the first and the last "
                    "row of the subjects as a spreadsheet counts them, such as 2-61; several in rising order such as "
                    "2-61,66-90; the last without an end such as 5-"
                )
            ranges.append((first, last))
        return cls(text.strip(), tuple(ranges[1:]))

    def __contains__(self, number: int) -> bool:
        """Return whether the row of this number is in a range."""
        return any(first <= number <= last for first, last in self.ranges)

    @property
    def first(self) -> int:
        """The first row of all ranges."""
        return self.ranges[0][0]


def ranges_of(numbers: Iterable[int], between: Iterable[int] = ()) -> str | None:
    """Return the text that means these rows, and none of those `between`; None if it would be too long to be copied."""
    kept = set(numbers)
    runs = [list(run) for is_kept, run in groupby(sorted(kept.union(between)), kept.__contains__) if is_kept]
    text = ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return text if 0 < len(text) <= _LONGEST else None


class Finding(NamedTuple):
    """What some rows below the header are instead of subjects; `places` count these rows from 0."""

    what: str
    places: list[int]
    is_certain: bool = True


class Doubt(NamedTuple):
    """What was seen, as a sentence without a full stop, and the rows that are no subjects if the suspicion is right."""

    what: str
    rows: tuple[int, ...] = ()


class UncertainRowsError(InputError):
    """It is not certain which rows are subjects.

    `listing` has what was seen, a line each; `without` the value of `rows` that leaves out all rows in doubt, if it is
    short enough to be copied.
    """

    def __init__(self, listing: str, repair: str = "", without: str | None = None) -> None:
        self.listing, self.without = listing, without
        super().__init__("\n".join(filter(None, ["it is not certain which rows are subjects:", listing, repair])))


def rows_named(numbers: Sequence[int]) -> str:
    """Return the words for some rows: ``row 4``, or ``rows 4, 9``, or ``rows 4 to 9``."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"rows {numbers[0]} to {numbers[-1]}"
    return f"row{'s' * (len(numbers) > 1)} {listed(numbers)}"


def refusal(doubts: Sequence[Doubt], numbers: Sequence[int], no_subjects: Sequence[int]) -> UncertainRowsError:
    """Return the error that lists the doubts, with one option that leaves all these rows out, and one that keeps them.

    `numbers` are those of all rows that would be read as subjects, those in doubt among them, in rising order.
    """
    listed_first = [f"  - {doubt.what}" for doubt in doubts[:_SHOWN]]
    more = [f"  - and {len(doubts) - _SHOWN:,} more"] if len(doubts) > _SHOWN else []
    listing = "\n".join([*listed_first, *more])
    left_out = {row for doubt in doubts for row in doubt.rows}
    if not left_out or not numbers:
        return UncertainRowsError(listing)
    without = ranges_of([number for number in numbers if number not in left_out], left_out | set(no_subjects))
    every = ranges_of(numbers, no_subjects)
    repair = "say with `rows` which rows are subjects, or delete in the file what is none"
    if without is not None:
        repair = f"if none of these rows is a subject, say rows={without!r}"
    keep = "" if every is None else f"; if all of them are subjects, say rows={every!r}"
    return UncertainRowsError(listing, f"  {repair}{keep}", without)
