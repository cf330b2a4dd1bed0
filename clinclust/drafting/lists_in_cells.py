"""Cells that hold several things, such as drugs: each combination would be a level of its own."""

from __future__ import annotations

import re

import numpy as np

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.missing_codes import quoted
from clinclust.drafting.orders import in_order
from clinclust.drafting.proposal import Proposal

__all__ = ["proposal_of_lists"]

_SEPARATORS = (";", "\n", "|", ",", "+", "/", "&")
_FEWEST_LISTS, _FEWEST_MEMBERS = 4, 3
"""The fewest different cells that hold several members, and the fewest members."""
_SHARE = 0.1
"""The share of the cells that must hold several."""
_REPEATED = 0.8
"""The share of the members that must stand in several different cells."""
_LONGEST_MEMBER, _FEWEST_LETTERS = 40, 2
_MOST_NAMED = 6
_LETTERS = re.compile(r"[^\W\d_]")


def proposal_of_lists(column: ObservedColumn) -> Proposal | None:
    """Return the proposal for a column whose cells hold lists; None for other columns.

    The members must stand in many combinations, of which there are more than members, or one list in two orders.
    """
    for separator in _SEPARATORS:
        members = [_members(text, separator) for text in column.texts]
        if _are_lists(column, members) and in_order(column.texts, column.name) is None:
            return _ignored(column, members, separator)
    return None


def _members(text: str, separator: str) -> tuple[str, ...]:
    return tuple(part for each in text.split(separator) if (part := " ".join(each.casefold().split())))


def _are_lists(column: ObservedColumn, members: list[tuple[str, ...]]) -> bool:
    lists = [place for place, those in enumerate(members) if len(those) > 1]
    if len(lists) < _FEWEST_LISTS or column.counts[lists].sum() < _SHARE * column.n_observed:
        return False
    stand_in: dict[str, int] = {}
    for those in members:
        for member in set(those):
            stand_in[member] = stand_in.get(member, 0) + 1
    if len(stand_in) < _FEWEST_MEMBERS or not all(map(_is_member, stand_in)):
        return False
    in_several = np.mean([count > 1 for count in stand_in.values()])
    n_sorted = len({tuple(sorted(members[place])) for place in lists})
    return bool(in_several >= _REPEATED and (len(members) > len(stand_in) or n_sorted < len(lists)))


def _is_member(text: str) -> bool:
    return len(text) <= _LONGEST_MEMBER and len(_LETTERS.findall(text)) >= _FEWEST_LETTERS


def _ignored(column: ObservedColumn, members: list[tuple[str, ...]], separator: str) -> Proposal:
    """Return the proposal that leaves the column out, and says which columns would be better."""
    n_subjects: dict[str, int] = {}
    for those, count in zip(members, column.counts.tolist(), strict=True):
        for member in set(those):
            n_subjects[member] = n_subjects.get(member, 0) + count
    commonest = sorted(n_subjects, key=lambda member: (-n_subjects[member], member))
    names = quoted(commonest[:_MOST_NAMED])
    more = f" and {len(commonest) - _MOST_NAMED} more" if len(commonest) > _MOST_NAMED else ""
    sign = "line breaks" if separator == "\n" else repr(separator)
    look = (
        f"the cells hold lists, divided by {sign}: {len(column.texts)} combinations of {len(commonest)}, each of which "
        f"would be a level of its own: give each a yes/no column of its own in the table: {names}{more}"
    )
    return Proposal({"role": "ignore"}, "lists of several things in one cell", (look,))
