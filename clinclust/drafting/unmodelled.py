"""Columns that identify, date or describe, and columns without information: they are no features to cluster on."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.names import looks_coded, looks_counted, looks_dated, looks_identifying, looks_measured
from clinclust.drafting.proposal import Proposal
from clinclust.files.cell_text import shortened
from clinclust.files.command_words import option_in_shell

__all__ = ["unmodelled"]

_DATE = re.compile(
    r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:[T ].*)?|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}(?:[ ,].*)?"
    r"|[0-9]{1,2}[- .]{1,2}[^\W\d]{3,9}[- .,]{1,2}[0-9]{2,4}(?: .*)?|[^\W\d]{3,9} [0-9]{1,2}, ?[0-9]{4}(?: .*)?"
)
_TIME = re.compile(r"[0-9]{1,2}:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?(?: ?[ap]\.?m\.?)?", re.IGNORECASE)
_FEWEST_FOR_AN_ID = 20  # with fewer rows all values often differ by chance
_SHARE_OF_AN_ID = 0.9
_COMPACT_DATE = re.compile(r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
_FEWEST_DATES = 5
_SPREADSHEET_DAYS = (14_610.0, 73_051.0)
"""The numbers of 1940-01-01 and 2100-01-01 in a spreadsheet."""


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
    if _is_identifier(column, numbers):
        return Proposal({"role": "id"}, "every row has its own value, so it names the subject")
    return _repeated_identifier(column)


def _counts_days(column: ObservedColumn) -> bool:
    """Return whether numbers are dates: 20240131, or in a column named as dates the days of a spreadsheet."""
    if len(column.texts) >= _FEWEST_DATES and all(map(_COMPACT_DATE.fullmatch, column.texts)):
        return True
    numbers = column.numbers
    if not looks_dated(column.name) or not np.isfinite(numbers).all():
        return False
    low, high = _SPREADSHEET_DAYS
    return bool((numbers >= low).all() and (numbers <= high).all()) and not looks_measured(column.name)


def _is_identifier(column: ObservedColumn, numbers: NDArray[np.float64]) -> bool:
    """Return whether the column identifies subjects.

    All values must differ. Numbers must also be whole, and consecutive or in a column with the name of an identifier.
    Texts must be in such a column, or all be short and without spaces. Without such a name, the column needs at least
    20 rows.
    """
    if len(column.texts) != column.n_rows:
        return False
    named = looks_identifying(column.name) and not looks_measured(column.name)
    if np.isfinite(numbers).all():
        whole = bool((np.floor(numbers) == numbers).all())
        consecutive = len(numbers) >= _FEWEST_FOR_AN_ID and np.ptp(numbers) == len(numbers) - 1
        apart = looks_counted(column.name) and not named
        return whole and not apart and (bool(consecutive) or named)
    if np.isfinite(numbers).any() and not named:
        return False
    return named or (
        len(column.texts) >= _FEWEST_FOR_AN_ID and not any(" " in text or len(text) > 40 for text in column.texts)
    )


def _repeated_identifier(column: ObservedColumn) -> Proposal | None:
    """Return the proposal for a column with the name of an identifier whose values repeat."""
    if not looks_identifying(column.name) or looks_coded(column.name) or looks_measured(column.name):
        return None
    numbers, n_texts = column.numbers, len(column.texts)
    if np.isfinite(numbers).all() and not (np.floor(numbers) == numbers).all():
        return None
    many = f"{n_texts} different values in {column.n_rows} rows"
    if n_texts >= _SHARE_OF_AN_ID * column.n_rows:
        look = f"{many}: look for rows that are repeated, empty or no subject, and give role: id"
        return Proposal({"role": "ignore"}, "an identifier by its name", (look,))
    if n_texts >= _FEWEST_FOR_AN_ID and column.n_observed >= _SHARE_OF_AN_ID * column.n_rows:
        look = (
            f"{many}: if these are repeated visits, rows are not independent patients; take the first row of each with "
            f"`{option_in_shell('--one-row-per', column.name)}`, the last with `--keep last` besides, or those of one "
            "visit with `--where`"
        )
        return Proposal({"role": "ignore"}, "an identifier by its name, and its values repeat", (look,))
    return None
