"""Columns that follow from one other column: an age group beside the age, a cut-off beside the laboratory value."""

from __future__ import annotations

from clinclust.drafting.redundancy.columns import Columns, in_all
from clinclust.drafting.redundancy.finding import Redundancy
from clinclust.drafting.redundancy.following import Follows
from clinclust.files.cell_text import shortened

__all__ = ["columns_that_follow"]


def columns_that_follow(columns: Columns, follows: list[Follows], copies: set[int]) -> list[Redundancy]:
    """Return one finding for each column that follows from another, with the finest of these.

    Parameters
    ----------
    copies : set of int
        Columns that are described already, because they are copies of others.
    """
    sources: dict[int, list[Follows]] = {}
    for pair in follows:
        if not copies & {pair.source, pair.result}:
            sources.setdefault(pair.result, []).append(pair)
    return [_finding(columns, max(pairs, key=lambda pair: _rank(columns, pair))) for pairs in sources.values()]


def _rank(columns: Columns, pair: Follows) -> tuple[bool, int, int, int]:
    clustered = columns.features[pair.source].role == "cluster"
    return clustered, pair.n, int(columns.n_levels[pair.source]), -pair.source


def _finding(columns: Columns, pair: Follows) -> Redundancy:
    source, result = columns.names[pair.source], columns.names[pair.result]
    names = tuple(columns.names[index] for index in sorted((pair.source, pair.result)))
    how = "is a coarser form of" if pair.rising is not None else "follows from"
    reason = f"{shortened(result)} {how} {shortened(source)} {in_all(pair.n, columns)}"
    return Redundancy(names, "function", "describe", reason, 1.0, described=(result,))
