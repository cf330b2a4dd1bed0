"""Columns that identify, date or describe, and columns without information: they are no features to cluster on."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.administration_names import looks_dated_in_days
from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.identifiers import proposal_of_identifier, proposal_of_repeated_identifier
from clinclust.drafting.names import looks_dated, looks_measured, looks_postal
from clinclust.drafting.proposal import Proposal
from clinclust.files.cell_text import shortened

__all__ = ["POSTAL", "could_be_postal_codes", "unmodelled"]

_DATE = re.compile(
    r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:[T ].*)?|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}(?:[ ,].*)?"
    r"|[0-9]{1,2}[- .]{1,2}[^\W\d]{3,9}[- .,]{1,2}[0-9]{2,4}(?: .*)?|[^\W\d]{3,9} [0-9]{1,2}, ?[0-9]{4}(?: .*)?"
)
_TIME = re.compile(r"[0-9]{1,2}:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?(?: ?[ap]\.?m\.?)?", re.IGNORECASE)
_MOST_REGIONS = 30
"""The most postal codes that are regions; more are places that few subjects share."""
_SHORTEST_POSTAL = 3
POSTAL = "postal codes: a region, or a distance, can be computed from them and clustered on"
_COMPACT_DATE = re.compile(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
_FEWEST_DATES = 5
_SPREADSHEET_DAYS = (14_610.0, 73_051.0)
"""The numbers of 1940-01-01 and 2100-01-01 in a spreadsheet."""
_USUAL_DAYS = (20_000.0, 60_000.0)
"""The numbers of days from 1954 to 2064, for names that speak of a date less clearly, such as `Aufnahme`."""


def unmodelled(column: ObservedColumn, numbers: NDArray[np.float64] | None = None) -> Proposal | None:
    """Return the proposal for a column that is not modelled, or None.

    Parameters
    ----------
    column : ObservedColumn
    numbers : float64 (len(column.texts),), optional
        The numbers that the texts write, if the column is one of numbers; by default those of plain numbers.
    """
    numbers = column.numbers if numbers is None else numbers
    if not column.texts:
        return Proposal({"role": "ignore"}, "no observed value")
    if len(column.texts) == 1:
        return Proposal({"role": "ignore"}, f"the same value in every subject observed: {shortened(column.texts[0])!r}")
    if column.is_time or all(map(_DATE.fullmatch, column.texts)) or _counts_days(column):
        return Proposal({"role": "ignore"}, "dates: compute what matters from them, such as a duration in years")
    if all(map(_TIME.fullmatch, column.texts)) and not np.isfinite(numbers).all():
        return Proposal({"role": "ignore"}, "times of day: compute what matters from them, such as a duration in hours")
    if looks_postal(column.name) and len(column.texts) > _MOST_REGIONS and could_be_postal_codes(column):
        return Proposal({"role": "ignore"}, f"{len(column.texts)} {POSTAL}")
    return proposal_of_identifier(column, numbers) or proposal_of_repeated_identifier(column)


def could_be_postal_codes(column: ObservedColumn) -> bool:
    """Return whether all values hold digits and, if they are numbers, are whole and of one width.

    A spreadsheet takes a zero off their beginning, so one digit may be missing. The name must say the rest.
    """
    widths = [len(text) for text in column.texts]
    numbers = column.numbers[np.isfinite(column.numbers)]
    is_code = min(widths) >= _SHORTEST_POSTAL and all(any(map(str.isdigit, text)) for text in column.texts)
    is_fixed = not numbers.size or max(widths) - min(widths) <= 1
    return is_code and is_fixed and bool((np.floor(numbers) == numbers).all())


def _counts_days(column: ObservedColumn) -> bool:
    """Return whether numbers are dates: 20240131, or in a column named as dates the days of a spreadsheet."""
    if len(column.texts) >= _FEWEST_DATES and all(map(_COMPACT_DATE.fullmatch, column.texts)):
        return True
    numbers = column.numbers
    if not np.isfinite(numbers).all() or looks_measured(column.name):
        return False
    low, high = _SPREADSHEET_DAYS if looks_dated(column.name) else _USUAL_DAYS
    if not ((numbers >= low) & (numbers <= high)).all():
        return False
    perhaps = looks_dated_in_days(column.name) and len(numbers) >= _FEWEST_DATES
    return looks_dated(column.name) or bool(perhaps and (np.floor(numbers) == numbers).all())
