"""Columns that identify subjects: by their names, or because no measurement and no count looks like their values."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.names import (
    ends_as_a_number,
    is_called_a_count,
    looks_coded,
    looks_identifying,
    looks_measured,
    names_a_code,
    names_somebody,
)
from clinclust.drafting.proposal import Proposal
from clinclust.files.selection.repeated_subjects import one_row_of_each

__all__ = ["REPEATED", "proposal_of_identifier", "proposal_of_repeated_identifier"]

REPEATED = "an identifier by its name, and its values repeat"
"""The reason of a proposal for a column that seems to name subjects with several rows."""

Array = NDArray[np.float64]

_FEWEST = 20  # with fewer rows all values often differ by chance
_SHARE = 0.9
_LONGEST = 40
_FEWEST_DIGITS, _MANY_DIGITS = 4, 7
"""The digits from which on drawn numbers can be told from measurements; and those that no measurement has."""
_FEWEST_DRAWN, _CLEARLY = {4: 150, 5: 40, 6: 40}, {4: 16.0, 5: 8.0, 6: 8.0}
"""The rows, and the nats by which equal chances must be better than a bell or a skewed curve, for drawn numbers.

By their digits: with four, two groups of newborns by their weights in g look drawn in few rows.
Among 60 to 2,000 values of platelets, NT-proBNP, steps a day, birth weight, endothelial cells, CD4 cells and ages in
days, no column was taken for drawn numbers (`tests/drafting/test_identifiers.py`)."""
_LONGEST_SCALE = 100
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{6,}")


def proposal_of_identifier(column: ObservedColumn, numbers: Array) -> Proposal | None:
    """Return the proposal for a column that identifies subjects, or None. All values must differ.

    Parameters
    ----------
    column : ObservedColumn
    numbers : float64 (len(column.texts),)
        The numbers that the texts write; NaN for others.

    Notes
    -----
    Numbers must also be whole, and stand in a column with the name of an identifier, be consecutive, have leading
    zeros, many digits, or be drawn from a range. Texts must stand in such a column, or all be short and without spaces.
    Without such a name, the column needs at least 20 rows.
    """
    if len(column.texts) != column.n_rows:
        return None
    named = looks_identifying(column.name) and not looks_measured(column.name)
    if np.isfinite(numbers).all():
        if not (np.floor(numbers) == numbers).all():
            return None
        if named or (len(numbers) >= _FEWEST and _are_labels(column, numbers)):
            return _IDENTIFIER
        return _drawn(column, numbers) if len(numbers) >= _FEWEST else None
    return _IDENTIFIER if _are_names(column, numbers, is_named=named) else None


_IDENTIFIER = Proposal({"role": "id"}, "every row has its own value, so it names the subject")


def _are_names(column: ObservedColumn, numbers: Array, *, is_named: bool) -> bool:
    """Return whether texts that all differ name subjects; some of a hexadecimal key may be numbers by chance."""
    enough = len(column.texts) >= _FEWEST
    if all(map(_HEXADECIMAL.fullmatch, column.texts)) and _n_lengths(column) == 1:
        return enough
    if is_named or np.isfinite(numbers).any():
        return is_named
    return enough and not any(" " in text or len(text) > _LONGEST for text in column.texts)


def _n_lengths(column: ObservedColumn) -> int:
    return len(set(map(len, column.texts)))


def _n_digits(column: ObservedColumn) -> int:
    """Return how many digits each text has; 0 if they have different numbers of digits, or other signs."""
    of_one_length = _n_lengths(column) == 1 and all(text.isdecimal() for text in column.texts)
    return len(column.texts[0]) if of_one_length else 0


def _are_labels(column: ObservedColumn, numbers: Array) -> bool:
    """Return whether whole numbers that all differ are consecutive, or are written as no measurement is."""
    if np.ptp(numbers) == len(numbers) - 1:
        return True
    n_digits = _n_digits(column)
    padded = n_digits >= _FEWEST_DIGITS and any(text.startswith("0") for text in column.texts)
    return padded or n_digits >= _MANY_DIGITS


def _drawn(column: ObservedColumn, numbers: Array) -> Proposal | None:
    """Return the proposal for numbers of one length that are spread as if they had been given out, or None."""
    n_digits = _n_digits(column)
    if n_digits < _FEWEST_DIGITS or is_called_a_count(column.name) or looks_measured(column.name):
        return None
    if not (ends_as_a_number(column.name) or _are_drawn(numbers, n_digits)):
        return None
    why = f"numbers of {n_digits} digits that all differ, and are spread like numbers given to subjects"
    return Proposal({"role": "id"}, f"{why}; if they measure something, write `likelihood: gaussian`", (), False)


def _are_drawn(numbers: Array, n_digits: int) -> bool:
    """Return whether equal chances between the lowest and highest number are better than a bell or a skewed curve.

    All three are compared by their greatest log likelihoods, each with two parameters.
    """
    if len(numbers) < _FEWEST_DRAWN[n_digits]:
        return False
    logs = np.log(numbers)
    bells = (-np.log(numbers.std()), -np.log(logs.std()) - logs.mean())
    best = len(numbers) * (max(bells) - 0.5 * np.log(2.0 * np.pi * np.e))
    return bool(-len(numbers) * np.log(np.ptp(numbers)) > best + _CLEARLY[n_digits])


def proposal_of_repeated_identifier(column: ObservedColumn) -> Proposal | None:
    """Return the proposal for a column with the name of an identifier whose values repeat."""
    if not looks_identifying(column.name) or looks_measured(column.name):
        return None
    if looks_coded(column.name) and not names_a_code(column.name):
        return None
    numbers, n_texts = column.numbers, len(column.texts)
    if np.isfinite(numbers).all() and not (np.floor(numbers) == numbers).all():
        return None
    if names_somebody(column.name) and _may_be_rated(numbers):
        return None
    many = f"{n_texts} different values in {column.n_rows} rows"
    if n_texts >= _SHARE * column.n_rows:
        look = f"{many}: look for rows that are repeated, empty or no subject, and give role: id"
        return Proposal({"role": "ignore"}, "an identifier by its name", (look,))
    if n_texts >= _FEWEST and column.n_observed >= _SHARE * column.n_rows:
        look = f"{many}: if these are repeated visits, keep one row of each, {one_row_of_each(column.name)}"
        return Proposal({"role": "ignore"}, REPEATED, (look,))
    return None


def _may_be_rated(numbers: Array) -> bool:
    """Return whether numbers that repeat may be those of a scale from 0 to 100, of which a name says who rated it."""
    return bool(np.isfinite(numbers).all() and numbers.min() >= 0 and numbers.max() <= _LONGEST_SCALE)
