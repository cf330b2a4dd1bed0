"""Rows that are no subjects, or may be none: a reader who cannot decide asks, with the option that answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clinclust.errors import InputError
from clinclust.files.layout.row_ranges import ranges_of
from clinclust.files.listed import listed

__all__ = ["Doubt", "Finding", "UncertainRowsError", "refusal", "rows_named"]

_SHOWN = 8


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
