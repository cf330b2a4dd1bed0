"""Recognise that a table holds several rows of one subject, as tables of visits do, and which rows may be chosen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from clinclust.data import data
from clinclust.files.cell_text import canonical_text, numbers_of
from clinclust.files.command_words import name_in_condition, option_in_shell, text_in_condition
from clinclust.files.listed import quoted
from clinclust.files.selection.dates import looks_like_date

__all__ = ["SEVERAL_ROWS", "RepeatedSubjects", "condition_of_one_visit", "names_a_code", "names_a_visit"]
__all__ += ["names_subjects", "note_several_rows", "noted_several_rows", "one_row_of_each", "repeated_subjects"]
__all__ += ["subjects_with_several_rows"]

SEVERAL_ROWS = "several_rows"
"""The key of ``frame.attrs`` under which it is noted that subjects have several rows."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MOST_CANDIDATES, _MOST_VISITS = 3, 60
_FEWEST_SUBJECTS = 20
_FILLED = 0.9
_HALF = 0.5
_ABOUT_AS_MANY = 0.9
"""A visit that has this share of the rows of the commonest is as good; the first in the file is then taken."""


@dataclass(frozen=True)
class RepeatedSubjects:
    """Subjects with several rows: whose, how many, and which rows may be chosen."""

    column: str
    """The column of the subjects."""
    n_rows: int
    n_subjects: int
    n_repeated: int
    """Subjects with several rows."""
    most_rows: int
    visit_columns: tuple[str, ...]
    """Columns that tell the rows of each subject apart, and whose names speak of visits or time."""
    visit_number: int = 0
    """The number of the first of these in the table, from 1; 0 if there is none."""
    ordering: str | None = None
    """The first of these that holds numbers or dates throughout, by which the rows can be ordered."""
    condition: str | None = None
    """A condition that leaves one row of each subject who meets it, such as the rows of one visit."""
    are_copies: bool = False
    """Whether the rows of each subject with several are equal in every column: rows that were pasted twice."""

    def warning(self) -> str:
        """Return that rows are not subjects, as a sentence that stands before all others."""
        follows = "copies of one row weigh double" if self.are_copies else "subtypes may be those of visits"
        return (
            f"ROWS ARE NOT PATIENTS: the {self.n_rows:,} rows are of {self.n_subjects:,} subjects "
            f"({quoted(self.column)}), of whom {self.n_repeated:,} have several rows (up to {self.most_rows:,}); each "
            f"row counts as a subject of its own, so {follows}, and every test is too sure"
        )

    def sentence(self) -> str:
        """Return what was found, and how to keep one row of each subject."""
        condition = self.condition
        if condition is None and self.visit_columns:
            condition = f'{name_in_condition(self.visit_columns[0], self.visit_number)} == "..."'
        by = "" if self.ordering is None else f", in the order of {option_in_shell('--by', self.ordering)}"
        where = "" if condition is None else f", or the rows of one visit, {option_in_shell('--where', condition)}"
        return (
            f"{self.n_repeated:,} of {self.n_subjects:,} subjects have several rows (up to {self.most_rows:,} with the "
            f"same {quoted(self.column)}), and rows of one patient are not independent: keep one row of each, "
            f"{one_row_of_each(self.column)}{by}{where}"
        )


def one_row_of_each(column: str) -> str:
    """Return the option that keeps one row of each subject, and which rows it may be.

    Examples
    --------
    >>> from clinclust.files.selection.repeated_subjects import one_row_of_each
    >>> one_row_of_each("id")
    '--one-row-per id (the first; with --keep last the last; with --keep mean the mean of its measurements)'
    """
    option = option_in_shell("--one-row-per", column)
    return f"{option} (the first; with --keep last the last; with --keep mean the mean of its measurements)"


def names_a_visit(name: str) -> bool:
    """Return whether the name of a column speaks of visits or time."""
    return any(word in name.casefold() for word in data("tables")["visits"]["parts"])


def names_a_code(name: str) -> bool:
    """Return whether the name of a column says that its numbers are codes: of a place, a sample, a subject."""
    return names_subjects(name) or not set(_words(name)).isdisjoint(data("tables")["codes"]["words"])


def names_subjects(name: str) -> bool:
    """Return whether the name of a column says that it identifies subjects, and nothing else."""
    listed, words = data("tables")["subjects"], [word for word in _words(name) if not word.isdigit()]
    known = set(words) & set(listed["words"])
    return bool(known) and set(words) <= known | set(listed["beside"])


def _words(name: str) -> list[str]:
    """Return the words of a name without case and accents: `patientID_2` holds patient, id and 2."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return [word.casefold() for word in _WORD.findall(plain)]


def subjects_with_several_rows(frame: pd.DataFrame) -> RepeatedSubjects | None:
    """Return the subjects of a table of visits; None if no column clearly names subjects with several rows.

    The name of the column must say that it identifies subjects, its values must do so in nearly all rows, and there
    must be at least 20. Most subjects must have several rows, or another column tells the rows of each apart and speaks
    of visits, or all rows of a subject are copies of one.
    """
    for name in frame.columns[~frame.columns.duplicated(keep=False)]:
        found = repeated_subjects(frame, str(name)) if names_subjects(str(name)) else None
        if found is None or found.n_subjects < _FEWEST_SUBJECTS or found.n_rows < _FILLED * len(frame):
            continue
        numbers = numbers_of(_texts(frame, str(name)).unique().tolist())
        if np.isfinite(numbers).all() and (numbers != np.floor(numbers)).any():
            continue
        if found.are_copies or found.visit_columns or found.n_repeated > _HALF * found.n_subjects:
            return found
    return None


def repeated_subjects(frame: pd.DataFrame, column: str) -> RepeatedSubjects | None:
    """Return which subjects have several rows in a table, or None if each has one; cells without a value are none.

    Examples
    --------
    >>> import pandas as pd
    >>> from clinclust.files.selection.repeated_subjects import repeated_subjects
    >>> visits = pd.DataFrame({"id": ["a", "a", "b"], "visit": ["1", "2", "1"]})
    >>> found = repeated_subjects(visits, "id")
    >>> found.n_repeated, found.most_rows, found.visit_columns
    (1, 2, ('visit',))
    """
    subjects = _texts(frame, column)
    present = (subjects != "").to_numpy()
    counts = subjects[present].value_counts()
    several = counts[counts > 1]
    if several.empty:
        return None
    is_repeated = subjects.isin(several.index).to_numpy()
    repeated, whose = frame[is_repeated], subjects[is_repeated].to_numpy()
    names = [str(name) for name in frame.columns]
    timed = [name for name in names if name != column and names_a_visit(name) and names.count(name) == 1]
    visits = [
        name
        for name in timed
        if not pd.DataFrame({"who": whose, "what": repeated[name].astype(str).to_numpy()}).duplicated().any()
    ]
    return RepeatedSubjects(
        column,
        int(present.sum()),
        len(counts),
        len(several),
        int(counts.iloc[0]),
        tuple(visits[:_MOST_CANDIDATES]),
        names.index(visits[0]) + 1 if visits else 0,
        next((name for name in visits if _has_order(frame[name])), None),
        condition_of_one_visit(frame, column, [*visits, *(name for name in timed if name not in visits)]),
        are_copies=len(repeated.astype(str).drop_duplicates()) == len(several),
    )


def note_several_rows(frame: pd.DataFrame, found: RepeatedSubjects | None) -> None:
    """Put into ``frame.attrs`` that the subjects of a table have several rows."""
    if found is not None:
        frame.attrs[SEVERAL_ROWS] = asdict(found)


def noted_several_rows(frame: pd.DataFrame) -> RepeatedSubjects | None:
    """Return what `note_several_rows` noted of a table; None if nothing is noted that could be read."""
    noted = frame.attrs.get(SEVERAL_ROWS)
    try:
        return RepeatedSubjects(**noted) if isinstance(noted, Mapping) else None
    except TypeError:
        return None


def condition_of_one_visit(frame: pd.DataFrame, subjects: str, visits: Sequence[str]) -> str | None:
    """Return a condition under which no subject has several rows, and most have one; None if there is none.

    The columns `visits`, whose names speak of visits, are tried in this order, and repeats of forms are left out.
    """
    who = _texts(frame, subjects)
    names = [str(name) for name in frame.columns]

    def is_one_row_each(rows: pd.Series) -> bool:
        chosen = who[rows]
        return not chosen.duplicated().any() and chosen.nunique() >= _HALF * who[who != ""].nunique()

    every, once, clause = pd.Series(True, index=frame.index), pd.Series(True, index=frame.index), ""
    for name in names:
        if name not in visits and any(part in name.casefold() for part in data("tables")["visits"]["repeats"]):
            filled = _texts(frame, name) != ""
            if filled.any() and not filled.all():
                once &= ~filled
                clause = f"{name_in_condition(name, names.index(name) + 1)} is missing"
    for name in visits:
        texts = _texts(frame, name)
        for rows, more in ((every, ""), (once, clause and f" and {clause}")):
            visit = _commonest(texts[rows & (texts != "")])
            text = None if visit is None else text_in_condition(visit)
            if text is not None and is_one_row_each(rows & (texts == visit)):
                return f"{name_in_condition(name, names.index(name) + 1)} == {text}{more}"
    return clause if clause and is_one_row_each(once) else None


def _texts(frame: pd.DataFrame, name: str) -> pd.Series:
    column = frame[name]
    return column.astype(object).where(column.notna(), "").map(canonical_text)


def _commonest(texts: pd.Series) -> str | None:
    """Return the commonest text, or the first in the file that is about as common; None if there are too many."""
    counts = texts.value_counts()
    if counts.empty or len(counts) > _MOST_VISITS:
        return None
    common = set(counts.index[counts >= _ABOUT_AS_MANY * counts.iloc[0]])
    return next(str(text) for text in texts if text in common)


def _has_order(cells: pd.Series) -> bool:
    """Return whether all cells with a value are numbers, or all are dates."""
    texts = [text for text in cells.dropna().map(canonical_text).unique().tolist() if text]
    return bool(texts) and (not np.isnan(numbers_of(texts)).any() or all(map(looks_like_date, texts)))
