"""The mean of the rows of each subject, in the columns that measure something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.files.selection.plain_numbers import PlainNumbers
from clinclust.files.text_table import TableRead

__all__ = ["Column", "WhyNot", "differs_within", "with_means"]

Mask = NDArray[np.bool_]
Whole = NDArray[Any]
"""Whole numbers of any size: int64, or Python's own where these could overflow."""
_LARGEST_SUM = 2**62


@dataclass(frozen=True)
class Column:
    """A column whose cells with a value all hold a number alone.

    Attributes
    ----------
    name : str
        What means it among the columns of its file; see `clinclust.files.chosen_columns.place_of_column`.
    place : int
        Its place in the table, from 0.
    texts : object (N,)
        The canonical text of each cell.
    numbers : PlainNumbers
    """

    name: str
    place: int
    texts: NDArray[np.object_]
    numbers: PlainNumbers


WhyNot = Callable[[Column, TableRead, bool], str | None]
"""Says why the mean of a column could mislead, or None: a part of a sentence about several such columns.

Whether somebody named the column decides whether it is asked only for numbers that are none, such as 999."""


def differs_within(texts: NDArray[np.object_], subjects: NDArray[np.int64]) -> bool:
    """Return whether the cells of one subject differ."""
    by_subject = pd.Series(pd.factorize(texts)[0]).groupby(subjects)
    return bool((by_subject.transform("min") != by_subject.transform("max")).any())


def with_means(
    read: TableRead, kept: Mask, subjects: NDArray[np.int64], order: NDArray[np.int64], columns: Sequence[Column]
) -> TableRead:
    """Return the kept row of each subject, with the mean of all its rows in the columns.

    A mean has as many decimals as its column, and a half is rounded to the even digit: whole numbers stay whole, and
    each mean lies between the least and the greatest value. It is computed exactly, so that no order of rows changes
    it. Where all values of a subject are equal, its first cell with a value stays as it is written.

    Parameters
    ----------
    read : TableRead
    kept : bool (N,)
        The row of each subject that stays.
    subjects : int64 (N,)
        The subject of each row, from 0 to S - 1.
    order : int64 (N,)
        The order of the rows: the first of a subject comes first.
    columns : sequence of Column
    """
    frame = read.frame
    if kept.all():
        return read
    averaged = frame[kept].copy()
    for column in columns:
        cells = frame.iloc[:, column.place]
        averaged.isetitem(column.place, _means(column, cells, kept, subjects, order).array)
    averaged.attrs = frame.attrs
    return replace(read, frame=averaged)


def _means(
    column: Column, cells: pd.Series, kept: Mask, subjects: NDArray[np.int64], order: NDArray[np.int64]
) -> pd.Series:
    """Return the cells of one column for the kept rows."""
    scaled = column.numbers.scaled
    codes, distinct = pd.factorize(column.texts)
    is_number = np.array([text in scaled for text in distinct.tolist()], dtype=bool)
    in_order = order[is_number[codes[order]]]
    whose = subjects[in_order]
    values = _whole([scaled.get(text, 0) for text in distinct.tolist()], len(codes))[codes[in_order]]
    n_subjects = int(subjects.max()) + 1
    first_row = np.full(n_subjects, -1)
    first_row[whose[::-1]] = in_order[::-1]
    first_value = np.zeros(n_subjects, dtype=values.dtype)
    first_value[whose[::-1]] = values[::-1]
    several = np.zeros(n_subjects, dtype=bool)
    several[whose[values != first_value[whose]]] = True
    totals = np.zeros(n_subjects, dtype=values.dtype)
    np.add.at(totals, whose, values)
    means = _rounded(totals, np.maximum(np.bincount(whose, minlength=n_subjects), 1))
    raw = cells.tolist()
    found = []
    for row in np.flatnonzero(kept).tolist():
        subject = subjects[row]
        if several[subject]:
            found.append(_like(raw[first_row[subject]], int(means[subject]), column.numbers))
        else:
            found.append(raw[first_row[subject] if first_row[subject] >= 0 else row])
    return pd.Series(found, index=cells.index[kept], dtype=cells.dtype, name=cells.name)


def _whole(values: list[int], n: int) -> Whole:
    """Return values as an array in which n of them can be summed."""
    largest = max(map(abs, values), default=0)
    return np.array(values, dtype=np.int64 if largest * max(n, 1) < _LARGEST_SUM else object)


def _rounded(totals: Whole, counts: NDArray[np.int64]) -> Whole:
    """Return the quotients as whole numbers, a half as the even one."""
    counts = counts.astype(totals.dtype)
    quotients, twice = totals // counts, 2 * (totals % counts)
    goes_up = (twice > counts) | ((twice == counts) & (quotients % 2 == 1))
    return np.asarray(quotients + np.where(goes_up, 1, 0))


def _like(cell: object, mean: int, numbers: PlainNumbers) -> object:
    """Return a mean as the table holds numbers: as text, or in a column with a type as a number of this type."""
    if isinstance(cell, str):
        return numbers.written(mean)
    kind: Callable[[str], object] = type(cell)
    return kind(numbers.plainly(mean))
