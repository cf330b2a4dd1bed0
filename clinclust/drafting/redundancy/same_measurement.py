"""Columns that one other determines, or nearly: equal, opposite, recoded, coarser, in another unit, transformed.

How often each value of y occurs leaves n! / prod(n_v!) ways to spread the values over the n subjects. If x determines
y, a map from the values of x to those of y says the same. A third of the logarithm of the number of ways, less the
logarithm of the number of maps of that kind, is the evidence in nats. All of it would count for columns without any
relation, but severity and subtypes make the columns of a cohort agree.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array, Whole
from clinclust.graded import mid_ranks, paired_moments

FEW_LEVELS = 30  # beyond it, levels tell who or where a subject is, and so all that is constant there
_ROWS = 1000  # in which candidates are looked for
_ABOVE = np.iinfo(np.int32).max
_NEARLY_LINEAR = 0.98  # rank correlation: monotone and linear relations of columns with more levels exceed it
_MOST_PAIRS = 20_000  # beyond it, only the strongest are looked at
_ONE_TABLE_IN = 1000
COUNTED = 1.0 / 3.0  # of the evidence against columns without any relation
_MOST_DECIMALS = 8
_COARSEST = 0.25  # of a standard deviation: a wider grid would find lines in noise
_SLACK = 1.1  # the fitted line is not the true one
_WIDEST_GAP, _NEIGHBOURS = 6.0, 5  # a cut at a given value falls into a gap so wide, in mean gaps, in 2 of 100 columns


class Kinds(NamedTuple):
    """What the values of each column are, bool (C,)."""

    ordered: NDArray[np.bool_]  # two values always are
    number: NDArray[np.bool_]  # not levels


class Scored(NamedTuple):
    """One column for an exact comparison."""

    values: Array  # (N,), NaN = missing
    ordered: bool
    number: bool


class Relation(NamedTuple):
    """That y is determined by x in all subjects in whom both are observed."""

    n: int  # the number of these subjects
    how: str  # equal, opposite, reversed, unit, transform, recoded, coarser, limits or levels
    evidence: float  # in nats; see the module

    @property
    def one_to_one(self) -> bool:
        """Whether x is determined by y too."""
        return self.how not in ("coarser", "limits", "levels")


def needed_evidence(n_columns: int, n_sources: int = 1) -> float:
    """Return the evidence, in nats, that one in a thousand tables of so many unrelated columns has by chance.

    It is log(1000) + log(C) + log(C choose k), for each of C columns and each set of k sources.
    """
    n = max(n_columns, n_sources + 1)
    return math.log(_ONE_TABLE_IN) + math.log(n) + _log_choices(n, n_sources)


def step_of(values: Array) -> float:
    """Return the unit of the last decimal place of these numbers (1 for whole ones), or 0 if they have none."""
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = values * 10.0**decimals
        if np.abs(scaled).max(initial=0.0) < 2.0**50 and np.abs(scaled - np.rint(scaled)).max(initial=0.0) < 1e-6:
            return float(10.0**-decimals)
    return 0.0


def rank_correlation(table: Array, ordered: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return the number of subjects and the rank correlation of columns in pairs, float64 (C, C); 0 if unordered."""
    ranks = np.column_stack([mid_ranks(column) for column in table.T])
    ranks -= np.nan_to_num(np.nanmean(ranks, axis=0))
    n, covariance, own, other = paired_moments(ranks, ranks)
    varying = (np.minimum(own, other) > 1e-9) & ordered & ordered[:, None]
    r = np.where(varying, covariance / np.sqrt(np.where(varying, own * other, 1.0)), 0.0)
    np.fill_diagonal(r, 0.0)
    return n, r


def candidates(table: Array, kinds: Kinds, r: Array) -> list[tuple[int, int]]:
    """Return the pairs (x, y) in which y may be determined by x: nothing in these subjects contradicts it.

    The rows of the table (N, C) are in random order; `r` has the rank correlations (C, C).
    """
    codes = np.full(table.shape, -1, dtype=np.int32)
    n_levels, ways = np.zeros(table.shape[1], dtype=np.int64), np.zeros(table.shape[1])
    for index, column in enumerate(table.T):
        seen = ~np.isnan(column)
        levels, codes[seen, index], counts = np.unique(column[seen], return_inverse=True, return_counts=True)
        n_levels[index], ways[index] = levels.size, COUNTED * log_ways(counts)
    codes = codes[:_ROWS]  # `relation` looks at all
    missing_last = np.where(codes < 0, _ABOVE, codes)
    least, varying = needed_evidence(len(n_levels)), n_levels > 1
    size = np.abs(r)
    strongest = np.sort(size, axis=None)[-_MOST_PAIRS:][0]
    pairs = {(int(x), int(y)) for x, y in np.argwhere(size >= max(_NEARLY_LINEAR, strongest))}
    for group in np.flatnonzero(varying & (n_levels <= max(len(table) // 2, 2))):
        # As x: y has one value in each of its levels. An order of y is no help here, so y must vary enough.
        determined = (
            varying & ~(kinds.number & (n_levels > FEW_LEVELS)) & (ways - _log_maps(n_levels[group], n_levels) >= least)
        )
        # As y: its levels are ranges of an ordered x that do not overlap.
        cut = kinds.ordered & (n_levels > n_levels[group]) & (n_levels[group] <= FEW_LEVELS)
        asked = np.flatnonzero((determined | (cut & (ways[group] >= least))) & (np.arange(len(n_levels)) != group))
        if not asked.size:
            continue
        low, high = _ranges(codes[:, group], codes[:, asked], missing_last[:, asked])
        pairs |= {(int(group), int(y)) for y in asked[determined[asked] & (high <= low).all(axis=0)]}
        order = np.argsort(low, axis=0, kind="stable")
        low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
        pairs |= {(int(x), int(group)) for x in asked[cut[asked] & (high[:-1] <= low[1:]).all(axis=0)]}
    return sorted(pairs)


def _ranges(
    group: NDArray[np.int32], low: NDArray[np.int32], high: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the lowest and the highest code of each column in each level of a group, int32 (L, C).

    In `low` and `high`, int32 (N, C), a missing value is below, or above, all others; in the group it is -1.
    """
    order = np.argsort(group, kind="stable")
    order = order[np.count_nonzero(group < 0) :]
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.minimum.reduceat(high[order], starts, axis=0), np.maximum.reduceat(low[order], starts, axis=0)


def relation(x: Scored, y: Scored, subjects: Whole | None = None) -> Relation | None:
    """Return how y is determined by x, and how sure that is, or None if it is not.

    The same values of one subject, int64 (N,), count once where subjects have several rows.
    """
    both = ~np.isnan(x.values) & ~np.isnan(y.values)
    n, one, other = int(both.sum()), x.values[both], y.values[both]
    if subjects is not None and n:
        once = np.unique(np.column_stack([subjects[both], one, other]), axis=0)
        one, other = once[:, 1], once[:, 2]
    x_values, x_codes = np.unique(one, return_inverse=True)
    y_values, y_codes, counts = np.unique(other, return_inverse=True, return_counts=True)
    n_x, n_y = x_values.size, y_values.size
    if min(n_x, n_y) < 2:
        return None
    images = y_codes[:, None].astype(np.int32)
    low, high = (image[:, 0].astype(np.int64) for image in _ranges(x_codes.astype(np.int32), images, images))
    ways, mixed = COUNTED * log_ways(counts), np.flatnonzero(low != high)
    if mixed.size and n_y <= FEW_LEVELS and _is_binned(x, x_values, low, high, mixed):
        n_mixed = int(np.isin(x_codes, mixed).sum())  # each of their subjects may be in either bin
        return Relation(n, "limits", ways - _log_bins(n_x, n_y) - (n_mixed + mixed.size) * math.log(2.0))
    if mixed.size:
        line = _log_line(one, other) if x.number and y.number else None
        return None if line is None else Relation(n, "unit", line)
    changes = np.diff(low)
    monotone = bool(x.ordered and y.ordered and ((changes >= 0).all() or (changes <= 0).all()))
    is_binned = x.ordered and np.count_nonzero(changes) == n_y - 1
    # A number that each level happens to have, such as the income of a district, is more than another name for it.
    is_many = n_x > FEW_LEVELS or (y.number and n_y > FEW_LEVELS)
    maps = math.inf if is_many else float(_log_maps(n_x, np.array([n_y]))[0])
    if monotone:
        maps = min(maps, _log_choices(n_x - 1, n_y - 1) + math.log(2.0))
    elif is_binned:
        maps = min(maps, _log_bins(n_x, n_y))
    if n_x > n_y:
        how = "coarser" if is_binned else "levels"
        return Relation(n, how, ways - maps) if _steps_among_subjects(x, x_values, low) else None
    rises = monotone and changes[0] > 0
    if np.array_equal(one, other):
        how = "equal"
    elif not monotone or (n_y == 2 and rises):
        how = "recoded"
    elif n_y == 2:
        how = "opposite"
    elif not (x.number and y.number):
        how = "recoded" if rises else "reversed"
    else:
        how = "unit" if rises and np.corrcoef(one, other)[0, 1] > 1.0 - 1e-12 else "transform"
    return Relation(n, how, ways - maps)


def _is_binned(x: Scored, values: Array, low: Whole, high: Whole, mixed: Whole) -> bool:
    """Return whether y divides an ordered x, but that some limits are rounded and occur in two bins."""
    if not x.number or values.size <= FEW_LEVELS or mixed.size >= FEW_LEVELS or mixed[0] == 0:
        return False
    below, above = low[mixed - 1], high[np.minimum(mixed + 1, values.size - 1)]
    first = np.minimum(low[mixed], high[mixed]), np.maximum(low[mixed], high[mixed])
    around = np.minimum(below, above), np.maximum(below, above)
    pure = np.delete(low, mixed)
    n_runs = 1 + np.count_nonzero(np.diff(pure))
    return bool(
        np.array_equal(first, around) and n_runs == np.unique(pure).size and _steps_among_subjects(x, values, low)
    )


def _steps_among_subjects(x: Scored, values: Array, image: Whole) -> bool:
    """Return whether y changes where values of x lie close together, and not only in gaps between subtypes."""
    if not x.ordered or values.size <= FEW_LEVELS:
        return True
    spacing = np.diff(values)
    for step in np.flatnonzero(np.diff(image)):
        near = np.concatenate([spacing[max(step - _NEIGHBOURS, 0) : step], spacing[step + 1 : step + 1 + _NEIGHBOURS]])
        if spacing[step] <= _WIDEST_GAP * near.mean():
            return True
    return False


def _log_line(x: Array, y: Array) -> float | None:
    """Return the evidence that y = a + b x in all subjects, up to the grids on which both are written, if it is so."""
    centred = x - x.mean()
    slope = float(centred @ (y - y.mean()) / (centred @ centred))
    residual = np.abs(y - y.mean() - slope * centred).max()
    tolerance = 0.5 * (step_of(y) + abs(slope) * step_of(x))
    if not residual <= _SLACK * tolerance + 1e-9 * y.std() or not 0.0 < tolerance <= _COARSEST * y.std():
        return None
    return COUNTED * (x.size - 2) * math.log(2.0 * float(y.std()) / tolerance)


def log_ways(counts: Whole) -> float:
    """Return the logarithm of the number of ways to spread values that occur so often, n! / prod(n_v!)."""
    return math.lgamma(counts.sum() + 1.0) - sum(map(math.lgamma, (counts + 1.0).tolist()))


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


def _log_bins(n_x: int, n_y: int) -> float:
    return _log_choices(n_x - 1, n_y - 1) + math.lgamma(n_y + 1.0)


def _log_maps(n_x: int, n_y: Whole) -> Array:
    """Return the logarithm of the number of maps from n_x values to n_y, or of recodings if they are as many."""
    recodings = math.lgamma(n_x + 1.0)
    return np.where(n_y == n_x, recodings, np.where(n_y > n_x, np.inf, n_x * np.log(np.maximum(n_y, 1))))


_NEARLY = 0.8
_FEWEST_SUBJECTS = 50


def groups_of_nearly_same(n: Array, r: Array) -> list[list[int]]:
    """Return groups of columns of rank correlation .8 or more on average (average linkage), given n and r (C, C)."""
    from scipy.cluster.hierarchy import fcluster, linkage

    size = np.abs(r)
    # Fisher's z is nearly normal; the tail of a normal distribution beyond z is at most exp(-z^2 / 2).
    z = np.arctanh(np.minimum(size, 0.999999)) * np.sqrt(np.maximum(n - 3.0, 0.0))
    sure = (size >= _NEARLY) & (n >= _FEWEST_SUBJECTS) & (z**2 / 2.0 >= needed_evidence(len(r)))
    members = np.flatnonzero(sure.any(axis=0))
    if not members.size:
        return []
    size = np.where((n >= _FEWEST_SUBJECTS) | sure, size, 0.0)[np.ix_(members, members)]
    distance = 1.0 - size[np.triu_indices(members.size, 1)]
    labels = fcluster(linkage(distance, "average"), 1.0 - _NEARLY + 1e-9, "distance")
    groups = [members[labels == label].tolist() for label in np.unique(labels)]
    return sorted(group for group in groups if len(group) > 1)
