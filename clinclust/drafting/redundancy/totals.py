"""Totals and means of the items of a questionnaire where some answers are missing.

A total of the answered items, a mean of them, and a total that is prorated for missing answers are no weighted sum of
columns: what a missing answer counts for depends on the other answers. So the items are looked for first, among columns
with one range of values or one stem of their names, and then each of these rules is compared with the column exactly.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.names import stem
from clinclust.drafting.redundancy.rounding import step_of
from clinclust.files.cell_text import shortened
from clinclust.files.listed import listed

__all__ = ["totals_of_items"]

Array = NDArray[np.float64]

_FEWEST_ITEMS, _MOST_ITEMS = 3, 60
_MOST_ANSWERS = 12  # different answers of an item
_FEWEST_VALUES = 5
_FEWEST_SUBJECTS = 30
_RELATED, _NEARLY = 0.1, 0.85  # correlations of one item, and of all answered items together, with their total
_LEAST_WEIGHT = 0.4  # of the largest: a column with less is none of the items
_HOLDS = 0.98
_COARSEST = 0.25  # of a standard deviation: a wider tolerance would find totals in noise
_RULES = {
    "total": "the total of the answered items among",
    "mean": "the mean of the answered items among",
    "prorated": "the total, made up for missing answers, of",
}


class _Total(NamedTuple):
    result: int
    items: tuple[int, ...]
    rule: str
    n: int
    holds: int


def totals_of_items(columns: Columns, active: NDArray[np.int64], taken: set[str]) -> list[Redundancy]:
    """Return one finding for each column that is a total or a mean of items of which some answers are missing.

    Parameters
    ----------
    active : int64 (C,)
        The columns to look at.
    taken : set of str
        Names of blocks; none is added.
    """
    del taken
    groups = _groups(columns, columns.ordered(active))
    found: list[_Total] = []
    for result in columns.ordered(active).tolist():
        if columns.n_levels[result] < _FEWEST_VALUES:
            continue
        sets = (np.array([item for item in group if item != result]) for group in groups)
        totals = [total for items in sets if (total := _total(columns, result, items)) is not None]
        found += sorted(totals, key=lambda total: -total.holds)[:1]
    return [_finding(columns, total) for total in found]


def _groups(columns: Columns, active: NDArray[np.int64]) -> list[list[int]]:
    """Return groups of columns that may be items: of one range of few values, or of one stem."""
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index in active[columns.n_levels[active] <= _MOST_ANSWERS].tolist():
        values = columns.sample[:, index]
        groups["range", float(np.nanmin(values)), float(np.nanmax(values))].append(index)
        if stem(columns.names[index]):
            groups["stem", *stem(columns.names[index])].append(index)
    large = (group[:_MOST_ITEMS] for group in groups.values() if len(group) >= _FEWEST_ITEMS)
    return [group for group in large if np.isnan(columns.sample[:, group]).any()]


def _total(columns: Columns, result: int, items: NDArray[np.int64]) -> _Total | None:
    """Return the rule by which a column follows from some of these items, or None."""
    y = columns.sample[:, result]
    for narrowed in (False, True):
        if items.size < _FEWEST_ITEMS:
            return None
        table = columns.sample[:, items]
        signs = np.array([_correlation(y, column) for column in table.T])
        items, table = items[np.abs(signs) > _RELATED], table[:, np.abs(signs) > _RELATED]
        signs = np.sign(signs[np.abs(signs) > _RELATED])
        if items.size < _FEWEST_ITEMS or _correlation(y, _mean(_scored(table, signs))) < _NEARLY:
            return None
        for rule, expected in _expected(_scored(table, signs)).items():
            n, holds = _compared(y, expected)
            if n >= _FEWEST_SUBJECTS and holds >= _HOLDS * n:
                return _Total(result, tuple(items.tolist()), rule, n, holds)
        if not narrowed:
            items = items[_needed(y, _scored(table, signs))]
    return None


def _correlation(one: Array, other: Array) -> float:
    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < _FEWEST_SUBJECTS or not (one[both].std() > 0 and other[both].std() > 0):
        return 0.0
    return float(np.corrcoef(one[both], other[both])[0, 1])


def _scored(table: Array, signs: Array) -> Array:
    """Return the answers with those of reversed items turned round within their range."""
    ends = np.nanmin(table, axis=0) + np.nanmax(table, axis=0)
    return np.where(signs < 0, ends - table, table)


def _mean(scored: Array) -> Array:
    answered = (~np.isnan(scored)).sum(axis=1)
    return np.where(answered > 0, np.nansum(scored, axis=1) / np.maximum(answered, 1), np.nan)


def _expected(scored: Array) -> dict[str, Array]:
    """Return what the column would hold by each rule; NaN where nothing is answered."""
    mean = _mean(scored)
    total = np.where(np.isnan(mean), np.nan, np.nansum(scored, axis=1))
    return {"total": total, "mean": mean, "prorated": mean * scored.shape[1]}


def _compared(y: Array, expected: Array) -> tuple[int, int]:
    """Return in how many subjects a column can be compared with a rule, and in how many it agrees up to rounding."""
    both = ~np.isnan(y) & ~np.isnan(expected)
    if not both.any():
        return 0, 0
    y, expected = y[both], expected[both]
    tolerance = 0.5 * step_of(y) * 1.001 + 1e-6
    if tolerance > _COARSEST * y.std() or not (y.std() > 0):
        return y.size, 0
    off = y - expected
    return y.size, int((np.abs(off - np.round(np.median(off))) <= tolerance).sum())  # items may be counted from 1


def _needed(y: Array, scored: Array) -> NDArray[np.bool_]:
    """Return which of the columns are items: those with weight in a regression on what was answered."""
    seen = ~np.isnan(scored)
    rows = ~np.isnan(y) & seen.any(axis=1)
    filled = np.where(seen, scored - np.nanmean(scored, axis=0), 0.0)
    design = np.column_stack([np.ones(int(rows.sum())), filled[rows], seen[rows]])
    weights = np.linalg.lstsq(design, y[rows], rcond=None)[0][1 : 1 + scored.shape[1]]
    return np.asarray(weights > _LEAST_WEIGHT * np.sort(weights)[-min(_FEWEST_ITEMS, weights.size)])


def _finding(columns: Columns, total: _Total) -> Redundancy:
    names = tuple(columns.names[index] for index in sorted((total.result, *total.items)))
    result, items = columns.names[total.result], [columns.names[index] for index in total.items]
    among = f"all {total.n:,}" if total.holds == total.n else f"{total.holds:,} of {total.n:,}"
    who = "subjects" if columns.n_subjects == len(columns.sample) else "subjects of a random sample"
    reason = f"{shortened(result)} is {_RULES[total.rule]} {listed(items)} in {among} {who}"
    return Redundancy(names, "arithmetic", "describe", reason, total.holds / total.n, described=(result,))
