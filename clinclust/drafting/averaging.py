"""Whether the mean of several visits says something: that of a measurement does, that of codes, scales or years not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.drafting.draft import draft_columns
from clinclust.drafting.suspected_codes import suspected_codes
from clinclust.drafting.two_units import two_units
from clinclust.drafting.units import impossible_values
from clinclust.files.cell_text import numbers_of
from clinclust.files.column_notes import add_notes
from clinclust.files.listed import listed
from clinclust.files.selection.averages import Column
from clinclust.files.text_table import TableRead
from clinclust.schema.feature import Feature

__all__ = ["why_not_averaged"]

Array = NDArray[np.float64]

_FEW_VALUES = 20
_STEP_OF_SCALES = 2
"""Scales go in steps of a half at least: values that are whole after this factor may be those of a scale."""
_YEARS = (1900.0, 2100.0)
_CORRECT = "the mean would mix them: leave the cell empty, or correct it in the table"


def why_not_averaged(column: Column, read: TableRead, is_named: bool) -> str | None:
    """Return why the mean of a column could mislead, or None; see `clinclust.files.selection.averages.WhyNot`.

    The column is drafted as a schema would have it, with all rows of all subjects.
    """
    feature = _drafted(column, read)
    counted = {text: n for text, n in Counter(column.texts.tolist()).items() if text in column.numbers.scaled}
    numbers = numbers_of([column.numbers.plainly(column.numbers.scaled[text]) for text in counted])
    counts = np.array(list(counted.values()), dtype=np.int64)
    doubt = _codes(feature, numbers, counts) or _units(feature.name, np.repeat(numbers, counts))
    if doubt or is_named:
        return doubt
    if feature.role in ("id", "ignore"):
        return "the cells seem to name, to date or to code something"
    if feature.levels is not None or _is_a_scale(numbers):
        return f"few different values (at most {_FEW_VALUES}, or with levels), as of a scale or of codes"
    if _are_years(numbers):
        return "calendar years"
    return None


def _drafted(column: Column, read: TableRead) -> Feature:
    name = str(read.frame.columns[column.place])
    frame = pd.DataFrame({name: read.frame.iloc[:, column.place]})
    if read.notes:
        add_notes(frame, {name: read.notes[column.place]})
    return draft_columns(frame)[0][name]


def _codes(feature: Feature, numbers: Array, counts: NDArray[np.int64]) -> str | None:
    """Return that some of the numbers may stand for a missing value, or None."""
    written = numbers_of(list(feature.missing_codes))
    codes = written[np.isin(written, numbers)].tolist()
    codes += [one.code for one in suspected_codes(numbers, counts) if one.code not in codes]
    if not codes:
        return None
    shown = listed((f"{code:.12g}" for code in codes), len(codes))
    return f"{shown} may stand for a missing value, and {_CORRECT}"


def _units(name: str, numbers: Array) -> str | None:
    """Return that the numbers seem to have two units, or that some are impossible; None otherwise."""
    two = two_units(name, numbers)
    if two is not None:
        return two.said
    impossible = impossible_values(name, numbers)
    return None if impossible is None else f"{impossible.partition(':')[0]}, and {_CORRECT}"


def _is_a_scale(numbers: Array) -> bool:
    values = np.unique(numbers) * _STEP_OF_SCALES
    return values.size <= _FEW_VALUES and bool((values == np.floor(values)).all())


def _are_years(numbers: Array) -> bool:
    low, high = _YEARS
    return bool(((numbers >= low) & (numbers <= high) & (numbers == np.floor(numbers))).all())
