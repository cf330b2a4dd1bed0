"""Columns that say the same under two names: copies, recoded or reversed copies, other units, opposites."""

from __future__ import annotations

import numpy as np

from clinclust.drafting.redundancy.columns import Columns, in_all
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.following import Twins
from clinclust.drafting.redundancy.groups import connected
from clinclust.drafting.redundancy.names import block_name
from clinclust.files.listed import listed

__all__ = ["identical_columns"]

_MOST_LOST = 0.05  # of the subjects observed in any twin: beyond it, one column does not stand for all


def identical_columns(columns: Columns, twins: list[Twins], taken: set[str]) -> list[Redundancy]:
    """Return one finding for each group of columns that say the same; `taken` gets the names of new blocks."""
    found = []
    for group in connected((pair.one, pair.other) for pair in twins):
        members = set(group)
        pairs = [pair for pair in twins if {pair.one, pair.other} <= members]
        found.append(_finding(columns, group, pairs, taken))
    return found


def _finding(columns: Columns, group: list[int], pairs: list[Twins], taken: set[str]) -> Redundancy:
    names = tuple(columns.names[index] for index in group)
    n = min(pair.n for pair in pairs)
    how = sorted({pair.how for pair in pairs})
    kind = "opposite" if all(said.startswith("opposite") for said in how) else "identical"
    same = f"{listed(names)}: {' or '.join(how)}, {in_all(n, columns)}"
    keep = kept(columns, group)
    seen = [~np.isnan(columns.whole(index)) for index in group]
    lost = int((np.logical_or.reduce(seen) & ~seen[group.index(keep)]).sum())
    if lost > _MOST_LOST * np.logical_or.reduce(seen).sum():
        block = block_name(names, taken)
        taken.add(block)
        reason = f"{same}; but {lost:,} subjects have no value in {columns.names[keep]}: join them into one column"
        return Redundancy(names, kind, "block", reason, 1.0, block=block)
    others = tuple(name for name in names if name != columns.names[keep])
    return Redundancy(names, kind, "keep one", same, 1.0, keep=columns.names[keep], described=others)


def kept(columns: Columns, group: list[int]) -> int:
    """Return the column to keep: one that is clustered, with the fewest missing values, the finest, the first."""

    def order(index: int) -> tuple[bool, int, int, int]:
        observed = int((~np.isnan(columns.whole(index))).sum())
        return columns.features[index].role == "cluster", observed, int(columns.n_levels[index]), -index

    return max(group, key=order)
