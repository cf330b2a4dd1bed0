"""Groups of columns that are connected by pairs."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["connected"]


def connected(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the groups that the pairs connect, each sorted, in the order of their first members."""
    group_of: dict[int, set[int]] = {}
    for one, other in pairs:
        joined = group_of.get(one, {one}) | group_of.get(other, {other})
        for member in joined:
            group_of[member] = joined
    distinct = {id(group): sorted(group) for group in group_of.values()}
    return sorted(distinct.values())
