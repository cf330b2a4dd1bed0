"""Find a condition that leaves one row of each subject: the rows of one visit, without those of repeated forms."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from clinclust.files.cell_text import canonical_text
from clinclust.files.command_words import name_in_condition, text_in_condition

__all__ = ["condition_of_one_visit"]

_MOST_VISITS = 60
_SHARE = 0.5
"""The share of the subjects that must have a row of the visit."""
_ABOUT_AS_MANY = 0.9
"""A visit that has this share of the rows of the commonest is as good; the first in the file is then taken."""
_REPEAT = ("repeat", "wiederhol", "repet", "ripet")


def condition_of_one_visit(frame: pd.DataFrame, subjects: str, visits: Sequence[str]) -> str | None:
    """Return a condition under which no subject has several rows, and most have one; None if there is none.

    Parameters
    ----------
    frame : pandas.DataFrame
    subjects : str
        The column of the subjects.
    visits : sequence of str
        Columns whose names speak of visits, in the order in which they are tried.

    Examples
    --------
    >>> import pandas as pd
    >>> from clinclust.files.selection.one_visit import condition_of_one_visit
    >>> visits = pd.DataFrame({"id": ["a", "a", "b", "b"], "visit": ["1", "2", "1", "2"]})
    >>> condition_of_one_visit(visits, "id", ["visit"])
    'visit == "1"'
    """
    who = _texts(frame, subjects)
    repeats = [str(name) for name in frame.columns if _names_a_repeat(str(name)) and str(name) not in visits]
    once = pd.Series(True, index=frame.index)
    clauses = []
    for name in repeats:
        filled = _texts(frame, name) != ""
        if filled.any() and not filled.all():
            once &= ~filled
            clauses.append(f"{_named(frame, name)} is missing")
    for name in visits:
        texts = _texts(frame, name)
        for kept, more in ((pd.Series(True, index=frame.index), []), (once, clauses[-1:])):
            visit = _commonest(texts[kept & (texts != "")])
            written = None if visit is None else text_in_condition(visit)
            if written and _one_row_each(who[kept & (texts == visit)], who):
                return " and ".join([f"{_named(frame, name)} == {written}", *more])
    if clauses and _one_row_each(who[once], who):
        return clauses[-1]
    return None


def _names_a_repeat(name: str) -> bool:
    return any(word in name.casefold() for word in _REPEAT)


def _texts(frame: pd.DataFrame, name: str) -> pd.Series:
    column = frame[name]
    return column.where(column.notna(), "").map(canonical_text)


def _named(frame: pd.DataFrame, name: str) -> str:
    return name_in_condition(name, [str(one) for one in frame.columns].index(name) + 1)


def _commonest(texts: pd.Series) -> str | None:
    """Return the commonest text, or the first in the file that is about as common; None if there are too many."""
    counts = texts.value_counts()
    if counts.empty or len(counts) > _MOST_VISITS:
        return None
    common = set(counts.index[counts >= _ABOUT_AS_MANY * counts.iloc[0]])
    return next(str(text) for text in texts if text in common)


def _one_row_each(rows: pd.Series, everybody: pd.Series) -> bool:
    return not rows.duplicated().any() and rows.nunique() >= _SHARE * everybody[everybody != ""].nunique()
