"""Columns that name a subject, a family or a place: by their names and values, or by what they determine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

import numpy as np
from scipy.special import pdtr

from clinclust.data import data
from clinclust.drafting.column import Column
from clinclust.drafting.levels import numbers_on_grid
from clinclust.files.names import name_words, says_only

_FEWEST_CELLS = 20
_NUMBERS = re.compile(r"[0-9]+\s*[/+|]\s*[0-9]+")
_BY_CHANCE = np.exp(-7.0)
"""How probable so few equal pairs may be among measurements, below which whole numbers are no measurements."""
_CONSECUTIVE, _RISING, _LONG = 1.1, 10.0, 100
_MOST_SHARED = 0.01  # of the cells: identifiers that were mistyped, or entered twice
_MOST_DIGITS = 10.0**6  # whole numbers of seven digits are more exact than measurements
_FEWEST_KEYS, _MOST_KEY_ROWS = 20, 3.0
_SAME, _SAME_BY_CHANCE = 0.995, 0.9
_FEWEST_DETERMINED = 3
_MOST_VISITS, _MOSTLY_REPEATED = 30, 0.5
_FEWEST_CROSSED, _CROSSED = 20, 0.9


def looks_identifying(name: str, *, is_unique: bool = False) -> bool:
    """Return whether a name is one of subjects or people, such as `patient_id`, `surname` or `phone`.

    Words such as `number` and `index` say so only of values that are all different.
    """
    subjects, people = data("tables")["subjects"], data("roles")["identifier"]
    unlisted = {"beside", *([] if is_unique else ["if_unique"])}
    words = frozenset(subjects["words"]).union(*(people[key] for key in people if key not in unlisted))
    return says_only(name_words(name), words, frozenset([*subjects["beside"], *people["beside"]]))


def identifies_rows(column: Column) -> bool:
    """Return whether nearly every cell has a value of its own, and they are no measurements.

    Texts identify, and whole numbers that follow each other, rise from row to row, have seven digits, or repeat less
    often than as many measurements with their spread: of n numbers with standard deviation s, in steps, n^2 / (4 s
    sqrt(pi)) pairs are equal on average.
    """
    n, n_different = column.n_observed, len(column.texts)
    is_named = looks_identifying(column.name, is_unique=True)
    if n < _FEWEST_CELLS or n - n_different > max(2, _MOST_SHARED * n) or n < 0.9 * column.codes.size:
        return n == n_different == column.codes.size > 1 and is_named
    numbers = column.numbers
    if not np.isfinite(numbers).all():
        if n_different < n or any(_NUMBERS.fullmatch(text) for text in column.texts[:_FEWEST_CELLS]):
            return False  # pressures such as 120/80
        has_words = np.mean([" " in text.strip() for text in column.texts]) > 0.5
        return bool(np.isfinite(numbers).mean() < 0.5) and (is_named or not has_words)
    if (numbers % 1 != 0).any():
        return False
    span = numbers.max() - numbers.min()
    steps = np.diff(column.in_rows(numbers)[column.codes >= 0])
    is_rising = (n >= _LONG or span <= _RISING * n) and bool((steps > 0).all() or (steps < 0).all())
    if is_named or is_rising or (n == n_different and span <= _CONSECUTIVE * n):
        return True
    grid = numbers_on_grid(numbers, np.ones(numbers.size))
    if grid.step == 1.0 and numbers.min() >= _MOST_DIGITS:
        return True
    pairs = n * (n - 1) / 2.0 / (2.0 * np.sqrt(np.pi) * max(float(numbers.std()) / grid.step, 1.0))
    return bool(pdtr(n - n_different, pairs) <= _BY_CHANCE)


def keys_of(columns: Sequence[Column]) -> set[str]:
    """Return the columns, as of families, whose values name a few rows each that agree in three other columns."""
    keys = set()
    for column in columns:
        n, n_values = column.n_observed, len(column.texts)
        is_key = min(n_values, n - n_values) >= _FEWEST_KEYS and n / _MOST_KEY_ROWS <= n_values <= 0.97 * n
        if is_key and _are_codes(column):
            determined = islice(_find_determined(column, columns), _FEWEST_DETERMINED)
            if len(list(determined)) == _FEWEST_DETERMINED:
                keys.add(column.name)
    return keys


def _are_codes(column: Column) -> bool:
    """Return whether values can be codes: texts or whole numbers."""
    return not np.isfinite(column.numbers).any() or bool((column.numbers % 1 == 0).all())


def _find_determined(key: Column, columns: Sequence[Column]) -> Iterator[Column]:
    return (other for other in columns if other is not key and _is_determined(key, other))


def is_hierarchy(key: Column, columns: Sequence[Column]) -> bool:
    """Return whether each of the columns that a key determines determines the next: units, municipalities, states.

    The sex, age and schooling of a patient do not determine each other.
    """
    determined = sorted(_find_determined(key, columns), key=lambda column: -len(column.texts))
    return len(determined) > 1 and all(_is_determined(a, b) for a, b in pairwise(determined))


def crossed_visits(columns: Sequence[Column]) -> dict[str, str]:
    """Return columns of subjects each of whom has one row at each visit, with the columns of the visits.

    ``s_1`` to ``s_40`` at baseline, V1 and V3, whatever the columns are called.
    """
    crossed, by_size = {}, dict[int, list[Column]]()
    for column in columns:
        if 2 <= len(column.texts) <= _MOST_VISITS:
            by_size.setdefault(len(column.texts), []).append(column)
    for subjects in columns:
        n, n_subjects = subjects.n_observed, len(subjects.texts)
        if not _FEWEST_CROSSED <= n_subjects <= n / 2 or not _are_codes(subjects):
            continue
        full = [visit for size, visits in by_size.items() if n >= _CROSSED * n_subjects * size for visit in visits]
        visit = next((one for one in full if one is not subjects and _tells_apart(subjects, one)), None)
        if visit is not None:
            crossed[subjects.name] = visit.name
    return crossed


def _tells_apart(subjects: Column, visit: Column) -> bool:
    """Return whether no two rows of a subject have the same visit."""
    seen = (subjects.codes >= 0) & (visit.codes >= 0)
    pairs = subjects.codes[seen] * len(visit.texts) + visit.codes[seen]
    return bool(seen.mean() > 0.99 and np.unique(pairs).size == pairs.size)


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
    if not np.isfinite(key.numbers).all():
        return True
    # Values that divide the numbers of the key into intervals, as groups of ages do, are a coarser form of it.
    firsts = np.flatnonzero(np.append(True, ~pair))
    in_order = values[firsts][np.argsort(key.numbers[keys[firsts]], kind="stable")]
    return int((in_order[1:] != in_order[:-1]).sum()) > 2 * (np.unique(values).size - 1)


def visit_columns(subjects: Column, columns: Sequence[Column]) -> list[str]:
    """Return the columns that distinguish the rows of each subject, as visits, months and occasions do."""
    n_most, n_repeated = int(subjects.counts.max(initial=0)), int((subjects.counts > 1).sum())
    if n_repeated < _MOSTLY_REPEATED * len(subjects.texts) or n_most < 2:
        return []
    return [
        column.name
        for column in columns
        if column is not subjects
        and max(2, n_most) <= len(column.texts) <= _MOST_VISITS
        and _tells_apart(subjects, column)
    ]
