"""Columns that measure nearly one thing: four blood pressures, left and right, visits, incomes.

Subtypes make columns dependent too, even strongly. So the dependence that counts is what is left within groups of
similar subjects (`within`). benchmarks/redundancy.py measures how often the limits below call subtypes a repeated
measurement, and how often they miss one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.redundancy.columns import Columns
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.groups import connected
from clinclust.drafting.redundancy.names import block_name, related
from clinclust.drafting.redundancy.within import Within, correlatable, dependence_within
from clinclust.files.listed import listed

__all__ = ["repeated_measurements"]

Array = NDArray[np.float64]

_STRONG = 0.6
_STRONG_BY_NAME = 0.4  # for names such as sbp1 and sbp2, or systolic and diastolic
_SURELY = 0.3  # the lower confidence limit must exceed this, so that few subjects give no blocks
_FEWEST_SUBJECTS = 20
_FEWEST_APART = 10  # of them outside the commonest value: rare symptoms that coincide are no repetition
_LARGEST_SHARE = 0.5  # of the columns: one severity behind everything is no repeated measurement
_SMALL = 4


def repeated_measurements(columns: Columns, active: NDArray[np.int64], taken: set[str]) -> list[Redundancy]:
    """Return one finding for each group of columns that depend on each other beyond what subtypes make.

    Parameters
    ----------
    active : int64 (C,)
        The columns to look at.
    taken : set of str
        Names of blocks; it gets the names of new ones.
    """
    active = columns.with_apart(correlatable(columns, active), _FEWEST_APART)
    if active.size < 2:
        return []
    dependence = dependence_within(columns, active)
    names = [columns.names[index] for index in active]
    # Both must be strong: groups that were divided wrongly can make dependence that the whole table does not show.
    strength = np.minimum(dependence.within, dependence.overall) / _limits(names, dependence)
    strength[~_is_sure(dependence)] = 0.0
    found = []
    for group in _groups(strength):
        same_stem = all(related(names[group[0]], names[member]) for member in group[1:])
        if same_stem or len(group) <= max(_SMALL, _LARGEST_SHARE * active.size):
            found.append(_finding([names[member] for member in group], group, dependence, same_stem, taken))
    return found


def _limits(names: list[str], dependence: Within) -> Array:
    """Return the dependence that each pair needs."""
    limits = np.full(dependence.within.shape, _STRONG)
    for one, other in np.argwhere(np.triu(dependence.within >= _STRONG_BY_NAME, 1)):
        if related(names[one], names[other]):
            limits[one, other] = limits[other, one] = _STRONG_BY_NAME
    return limits


def _is_sure(dependence: Within) -> NDArray[np.bool_]:
    """Return where the lower confidence limit, at a level for so many pairs, exceeds the least dependence."""
    quantile = np.sqrt(2.0 * np.log(max(len(dependence.n), 8)))
    width = quantile / np.sqrt(np.maximum(dependence.n - 3.0, 1.0))
    lowest = np.tanh(np.arctanh(np.minimum(dependence.within, 0.9999)) - width)
    return np.asarray((lowest > _SURELY) & (dependence.n >= _FEWEST_SUBJECTS))


def _groups(strength: Array) -> list[list[int]]:
    """Return groups whose pairs have strength 1 or more on average (average linkage)."""
    from scipy.cluster.hierarchy import fcluster, linkage

    pairs = [(int(one), int(other)) for one, other in np.argwhere(np.triu(strength >= 1.0, 1))]
    groups = []
    for component in connected(pairs):
        distance = strength.max() - strength[np.ix_(component, component)]
        condensed = distance[np.triu_indices(len(component), 1)]
        labels = fcluster(linkage(condensed, "average"), strength.max() - 1.0 + 1e-9, "distance")
        for label in np.unique(labels):
            group = [component[place] for place in np.flatnonzero(labels == label)]
            if len(group) > 1:
                groups.append(group)
    return sorted(groups)


def _finding(names: list[str], group: list[int], dependence: Within, same_stem: bool, taken: set[str]) -> Redundancy:
    block = block_name(names, taken)
    taken.add(block)
    pairs = np.ix_(group, group)
    upper = np.triu_indices(len(group), 1)
    overall, within = dependence.overall[pairs][upper], dependence.within[pairs][upper]
    what = "parts or repetitions of one measurement by their names" if same_stem else "related measurements"
    reason = (
        f"{listed(names)}: {what}, rank correlation {_range(overall)}, and {_range(within)} among subjects who are "
        "otherwise alike, so subtypes do not explain it"
    )
    return Redundancy(tuple(names), "repeated", "block", reason, float(within.min()), block=block)


def _range(values: Array) -> str:
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"{low} to {high}"
