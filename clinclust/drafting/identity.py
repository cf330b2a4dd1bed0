"""Columns that name a subject, a family or a place: by their names and values, or by what they determine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import Column
from clinclust.drafting.grid import numbers_on_grid
from clinclust.drafting.roles import looks_identifying

Codes = NDArray[np.int64]

_FEWEST_ROWS = 20
_NUMBERS = re.compile(r"[0-9]+\s*[/+|]\s*[0-9]+")
_COLLISIONS = 7.0  # the expected number of equal pairs from which on no pair at all is no chance (e^-7)
_CONSECUTIVE, _RISING, _LONG = 1.1, 10.0, 100
_FEWEST_KEYS, _MOST_KEY_ROWS = 20, 3.0
_SAME, _SAME_BY_CHANCE = 0.995, 0.9
_FEWEST_DETERMINED = 3
_MOST_VISITS, _MOSTLY_REPEATED = 30, 0.5


def identifies_rows(column: Column) -> bool:
    """Return whether every cell has a value of its own, and they are no measurements.

    Texts identify, and whole numbers that follow each other, rise from row to row, or are all different although as
    many measurements with their spread would not be (the expected number of equal pairs is at least 7).
    """
    n = column.n_observed
    if n < _FEWEST_ROWS or len(column.texts) < n or n < 0.9 * column.codes.size:
        return n == len(column.texts) == column.codes.size > 1 and looks_identifying(column.name, is_unique=True)
    numbers = column.numbers
    if not np.isfinite(numbers).all():
        if any(_NUMBERS.fullmatch(text) for text in column.texts[:_FEWEST_ROWS]):
            return False  # pressures such as 120/80
        has_words = np.mean([" " in text.strip() for text in column.texts]) > 0.5
        return bool(np.isfinite(numbers).mean() < 0.5) and (
            not has_words or looks_identifying(column.name, is_unique=True)
        )
    if not (numbers == np.floor(numbers)).all():
        return False
    span = numbers.max() - numbers.min()
    rows = column.in_rows(numbers)
    rows = rows[np.isfinite(rows)]
    is_rising = (n >= _LONG or span <= _RISING * n) and bool((np.diff(rows) > 0).all() or (np.diff(rows) < 0).all())
    if looks_identifying(column.name, is_unique=True) or span <= _CONSECUTIVE * n or is_rising:
        return True
    grid = numbers_on_grid(numbers, np.ones(numbers.size))
    spread = float(numbers.std()) / grid.step
    return bool(n * (n - 1) / 2.0 / (2.0 * np.sqrt(np.pi) * max(spread, 1.0)) >= _COLLISIONS)


def keys_of(columns: Sequence[Column]) -> set[str]:
    """Return the columns, as of families, whose values name a few rows each that agree in three other columns."""
    found = set()
    for column in columns:
        n, n_values = column.n_observed, len(column.texts)
        if min(n_values, n - n_values) < _FEWEST_KEYS or not n / _MOST_KEY_ROWS <= n_values <= 0.97 * n:
            continue
        numbers = column.numbers
        if np.isfinite(numbers).any() and not (numbers == np.floor(numbers)).all():
            continue
        determined = (other for other in columns if other is not column and _is_determined(column, other))
        if len(list(islice(determined, _FEWEST_DETERMINED))) == _FEWEST_DETERMINED:
            found.add(column.name)
    return found


def _is_determined(key: Column, other: Column) -> bool:
    """Return whether rows with the same key have the same value of another column, and that is no chance."""
    seen = (key.codes >= 0) & (other.codes >= 0)
    keys, values = key.codes[seen], other.codes[seen]
    if len(other.texts) < 2 or len(other.texts) > len(key.texts) / 2:
        return False
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    pair = keys[1:] == keys[:-1]
    if pair.sum() < _FEWEST_KEYS or (values[1:] == values[:-1])[pair].mean() < _SAME:
        return False
    shares = other.counts / other.counts.sum()
    if float((shares**2).sum()) > _SAME_BY_CHANCE:
        return False
    return not _is_coarser(key, keys, values)


def _is_coarser(key: Column, keys: Codes, values: Codes) -> bool:
    """Return whether values divide the numbers of the key into intervals, as groups of ages do."""
    if not np.isfinite(key.numbers).all():
        return False
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    in_order = values[firsts][np.argsort(key.numbers[keys[firsts]], kind="stable")]
    n_changes = int((in_order[1:] != in_order[:-1]).sum())
    return n_changes <= 2 * (np.unique(values).size - 1)


def visit_columns(subjects: Column, columns: Sequence[Column]) -> list[str]:
    """Return the columns that distinguish the rows of each subject, as visits, months and occasions do."""
    n_most, n_repeated = int(subjects.counts.max(initial=0)), int((subjects.counts > 1).sum())
    if n_repeated < _MOSTLY_REPEATED * len(subjects.texts):
        return []
    found = []
    for column in columns:
        if column is subjects or not 2 <= len(column.texts) <= _MOST_VISITS or len(column.texts) < n_most:
            continue
        seen = (subjects.codes >= 0) & (column.codes >= 0)
        pairs = subjects.codes[seen] * len(column.texts) + column.codes[seen]
        if seen.mean() > 0.99 and np.unique(pairs).size == pairs.size and n_most > 1:
            found.append(column.name)
    return found
