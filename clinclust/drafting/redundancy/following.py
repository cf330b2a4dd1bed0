"""The pairs of columns in which one follows from the other, looked at in all subjects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns
from clinclust.drafting.redundancy.evidence import Told, beyond_chance, told_by
from clinclust.drafting.redundancy.names import stem
from clinclust.drafting.redundancy.rounding import linear_within_rounding
from clinclust.drafting.redundancy.screening import FEW_LEVELS, Dependence, candidates

__all__ = ["Follows", "Twins", "pairs_that_follow"]

_NEARLY_LINEAR = 0.98
_NEIGHBOURS = 5  # gaps between values, on each side of a step
_WIDEST_GAP = 4.0  # times their mean; among evenly spread subjects one cut-off in thirty has a wider gap


class Twins(NamedTuple):
    """Two columns that say the same."""

    one: int
    other: int
    n: int
    """The number of subjects in whom both are observed."""
    how: str
    """In words, such as "equal" or "the same in another unit"."""


class Follows(NamedTuple):
    """A column that follows from another, which does not follow from it."""

    source: int
    result: int
    n: int
    evidence: float
    rising: bool | None


def pairs_that_follow(columns: Columns, dependence: Dependence) -> tuple[list[Twins], list[Follows]]:
    """Return the twins, and the pairs in which one column follows from another, in the order of the table."""
    groups = _copies(columns)
    twins = [pair for first, *others in groups for other in others if (pair := _twins(columns, first, other))]
    copies = {pair.other for pair in twins}
    follows: list[Follows] = []
    twins_seen = {(pair.one, pair.other) for pair in twins}
    for x, y in sorted(candidates(columns, dependence)):
        if copies & {x, y} or (y, x) in twins_seen or (x, y) in twins_seen:
            continue
        told = _told(columns, x, y)
        if told is not None and told.one_to_one:
            twins.append(_named(columns, x, y, told.n, told.rising))
            twins_seen.add((x, y))
        elif told is not None and (_share_a_word(columns, x, y) or _steps_among_subjects(columns, x, y)):
            follows.append(Follows(x, y, told.n, told.evidence, told.rising))
    for x, y in _nearly_linear(dependence):
        if not copies & {x, y} and (x, y) not in twins_seen and (twin := _in_another_unit(columns, x, y)):
            twins.append(twin)
    return twins, follows


def _copies(columns: Columns) -> list[list[int]]:
    """Return groups of columns that may be copies of each other, recoded or not, with the same values missing."""
    groups: dict[bytes, list[int]] = {}
    for index in columns.varying().tolist():
        groups.setdefault(_pattern(columns.sample[:, index], bool(columns.nominal[index])), []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def _pattern(column: NDArray[np.float64], nominal: bool) -> bytes:
    """Return what does not change if levels are recoded, or numbers transformed by a monotone function."""
    seen = ~np.isnan(column)
    _, first, codes = np.unique(column[seen], return_index=True, return_inverse=True)
    if nominal or first.size <= 2:
        codes = np.argsort(np.argsort(first))[codes]  # counted by first appearance
    whole = codes.astype(">i8")  # bytes in the order of the numbers
    reverse = (first.size - 1 - codes).astype(">i8")  # a reversed copy has the same pattern
    recoded = nominal or first.size <= 2
    return seen.tobytes() + (whole.tobytes() if recoded else min(whole.tobytes(), reverse.tobytes()))


def _told(columns: Columns, x: int, y: int) -> Told | None:
    """Return how y follows from x in all subjects, if at all and beyond chance; the sample is asked first."""
    ordered = {i: bool(not columns.nominal[i] or columns.n_levels[i] == 2) for i in (x, y)}
    told = None
    for values in ((columns.sample[:, x], columns.sample[:, y]), (columns.whole(x), columns.whole(y))):
        told = told_by(*values, x_ordered=ordered[x], y_ordered=ordered[y])
        if told is None or not beyond_chance(told.evidence, len(columns)):
            return None
        if columns.n_subjects == len(columns.sample):
            break
    return told


def _share_a_word(columns: Columns, x: int, y: int) -> bool:
    return bool(set(stem(columns.names[x])) & set(stem(columns.names[y])))


def _steps_among_subjects(columns: Columns, x: int, y: int) -> bool:
    """Return whether y changes where values of x lie close together, and not only across gaps between subtypes.

    A symptom of one subtype is told by a laboratory value that separates the subtypes widely, and is no cut-off of it.
    """
    if columns.nominal[x] or columns.n_levels[x] <= FEW_LEVELS:
        return True
    both = ~np.isnan(columns.sample[:, x]) & ~np.isnan(columns.sample[:, y])
    values, first = np.unique(columns.sample[both, x], return_index=True)
    images, spacing = columns.sample[both, y][first], np.diff(values)
    for step in np.flatnonzero(np.diff(images) != 0):
        near = np.concatenate([spacing[max(step - _NEIGHBOURS, 0) : step], spacing[step + 1 : step + 1 + _NEIGHBOURS]])
        if spacing[step] > _WIDEST_GAP * near.mean():
            return False
    return True


def _twins(columns: Columns, one: int, other: int) -> Twins | None:
    told = _told(columns, one, other)
    return _named(columns, one, other, told.n, told.rising) if told is not None and told.one_to_one else None


def _named(columns: Columns, one: int, other: int, n: int, rising: bool | None) -> Twins:
    x, y = columns.whole(one), columns.whole(other)
    first, second = columns.features[one], columns.features[other]
    both = ~np.isnan(x) & ~np.isnan(y)
    same_words = first.levels == second.levels
    if same_words and (x[both] == y[both]).all():
        how = "equal"
    elif first.traits.is_yes_no and second.traits.is_yes_no and rising is False:
        how = "opposite: one says yes where the other says no"
    elif rising is False:
        how = "the same on a reversed scale"
    elif first.levels is None and second.levels is None and rising:
        how = "the same in another unit or on another scale"
    else:
        how = "the same with other names for the values"
    return Twins(one, other, n, how)


def _nearly_linear(dependence: Dependence) -> list[tuple[int, int]]:
    own, other = np.nonzero(np.triu(np.abs(dependence.r) >= _NEARLY_LINEAR, 1))
    return list(zip(dependence.indices[own].tolist(), dependence.indices[other].tolist(), strict=True))


def _in_another_unit(columns: Columns, x: int, y: int) -> Twins | None:
    if columns.features[x].levels is not None or columns.features[y].levels is not None:
        return None
    if not linear_within_rounding(columns.sample[:, x], columns.sample[:, y]):
        return None
    n = linear_within_rounding(columns.whole(x), columns.whole(y))
    return Twins(x, y, n, "the same in another unit, or rounded") if n else None
