"""Which rows of a sheet somebody said to be the subjects, such as ``2-61,66-``."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from clinclust.errors import InputError
from clinclust.files.listed import quoted

__all__ = ["RowRanges", "ranges_of"]

_RANGE = re.compile(r"(\d{1,7})(?:\s*(-)\s*(\d{1,7})?)?")
_LAST = 10**9  # beyond the last row of any file
_LONGEST = 120


@dataclass(frozen=True)
class RowRanges:
    """Rows by their numbers in a spreadsheet: ranges in rising order, without overlap, as somebody wrote them."""

    text: str
    firsts: tuple[int, ...]
    lasts: tuple[int, ...]

    @classmethod
    def parsed(cls, text: str) -> RowRanges:
        """Return the ranges that a text means: numbers and ranges between commas; the last range may have no end.

        Raises
        ------
        InputError
            If the text means no ranges, or if they do not rise.

        Examples
        --------
        >>> from clinclust.files.layout.row_ranges import RowRanges
        >>> rows = RowRanges.parsed("2-61, 66-")
        >>> [number in rows for number in (1, 2, 61, 62, 66, 9000)]
        [False, True, True, False, True, True]
        """
        ends: list[tuple[int, int]] = []
        for part in text.split(","):
            match = _RANGE.fullmatch(part.strip())
            first = int(match[1]) if match else 0
            last = first if match and not match[2] else int(match[3] or _LAST) if match else 0
            if not 0 < first <= last:
                raise InputError(
                    f"--rows {quoted(text)}: {quoted(part.strip())} is no range of rows; write the first and the last "
                    "row of the subjects as a spreadsheet counts them, such as 2-61; several such as 2-61,66-90; the "
                    "last without an end such as 5-"
                )
            if ends and first <= ends[-1][1]:
                raise InputError(f"--rows {quoted(text)}: write the ranges in rising order, and no row twice")
            ends.append((first, last))
        return cls(text.strip(), tuple(first for first, _ in ends), tuple(last for _, last in ends))

    def __contains__(self, number: int) -> bool:
        """Return whether the row of this number is in a range."""
        at = bisect_right(self.firsts, number) - 1
        return at >= 0 and number <= self.lasts[at]

    @property
    def first(self) -> int:
        """The first row of all ranges."""
        return self.firsts[0]


def ranges_of(numbers: Iterable[int], between: Iterable[int] = ()) -> str | None:
    """Return the text that means these rows, in rising order, or None if it would be too long to be copied.

    A range ends only before one of the rows `between`, which are not among them, and not where rows are blank.

    Examples
    --------
    >>> from clinclust.files.layout.row_ranges import ranges_of
    >>> ranges_of([2, 3, 5, 6, 9], between=[4])
    '2-3,5-9'
    """
    apart = sorted(between)
    runs: list[list[int]] = []
    for number in numbers:
        if runs and bisect_right(apart, number) == bisect_right(apart, runs[-1][1]):
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return text if 0 < len(text) <= _LONGEST else None
