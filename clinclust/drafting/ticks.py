"""Ticked lists: columns side by side in which only one mark stands, such as `x`, and the other cells are empty."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.proposal import Proposal
from clinclust.likelihoods.bernoulli import Bernoulli

__all__ = ["are_in_a_ticked_list", "proposal_of_ticks"]

_MARKS = {
    **dict.fromkeys(("x", "xx", "✓", "✔", "☑", "☒", "+", "1", "*", "•", "yes", "y", "true", "checked"), "no"),
    **dict.fromkeys(("ja", "j", "wahr"), "nein"),
    **dict.fromkeys(("oui", "o", "vrai"), "non"),
    **dict.fromkeys(("si", "sí", "sì", "s"), "no"),
    **dict.fromkeys(("sim",), "não"),
}
"""What ticks a line of a list, and the word for no that goes with it."""


def are_in_a_ticked_list(columns: Sequence[ObservedColumn]) -> list[bool]:
    """Return for each column of a table whether it and a neighbour hold one mark alone, the same, and empty cells."""
    found: list[bool] = []
    for mark, side_by_side in groupby(columns, key=_mark_of):
        n = len(list(side_by_side))
        found += [mark is not None and n > 1] * n
    return found


def proposal_of_ticks(column: ObservedColumn) -> Proposal | None:
    """Return the proposal for a column with one mark and empty cells; None for any other column.

    In a ticked list an empty cell is taken for no, which is told. In a single column it may as well mean that nobody
    asked, so nothing is taken for granted.
    """
    mark = _mark_of(column)
    if mark is None:
        return None
    written, no = column.texts[0], _MARKS[mark]
    n_empty = column.n_rows - column.n_observed
    fields = {"likelihood": Bernoulli.name, "levels": [no, written], "synonyms": {"": no}}
    if column.is_ticked:
        look = (
            f"assumed: the {n_empty:,} empty cells mean {no!r}, because columns side by side hold only {written!r}, as "
            "a list that is ticked does; if an empty cell may mean that nobody asked, write `role: ignore`"
        )
        return Proposal(fields, f"a ticked list: {written!r} or empty", (look,), False)
    look = (
        f"only {written!r} or empty: if the {n_empty:,} empty cells mean {no!r}, write `likelihood: {Bernoulli.name}`, "
        f'`levels: ["{no}", "{written}"]` and `synonyms: {{"": "{no}"}}` instead of `role: ignore`'
    )
    return Proposal({"role": "ignore"}, f"the same value in every subject observed: {written!r}", (look,))


def _mark_of(column: ObservedColumn) -> str | None:
    """Return the mark of a column that holds nothing else but empty cells, in one case; None for any other column."""
    if len(column.texts) != 1 or column.n_observed == column.n_rows or column.is_time:
        return None
    mark = column.texts[0].casefold()
    return mark if mark in _MARKS else None
