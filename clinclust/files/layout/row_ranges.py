"""Which rows of a sheet somebody said to be the subjects, such as ``2-61,66-``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from clinclust.errors import InputError
from clinclust.files.listed import quoted

__all__ = ["RowRanges", "ranges_of"]

_RANGE = re.compile(r"(\d{1,7})(?:\s*-\s*(\d{0,7}))?")
_LAST = 10**9  # beyond the last row of any file
_LONGEST = 120


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
