"""Recognise that a table holds several rows of one subject, as tables of visits do."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from clinclust.data import data
from clinclust.files.cell_text import canonical_text, numbers_of
from clinclust.files.listed import argument, quoted

SEVERAL_ROWS = "several_rows"  # the key of ``frame.attrs``

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_FEWEST_SUBJECTS = 20
_FILLED = 0.9
_HALF = 0.5


@dataclass(frozen=True)
class RepeatedSubjects:
    """Subjects with several rows: whose, and how many."""

    column: str  # the column of the subjects
    n_rows: int
    n_subjects: int
    n_repeated: int  # subjects with several rows
    most_rows: int
    has_visits: bool  # whether a column whose name speaks of time tells the rows of a subject apart
    are_copies: bool = False  # whether the rows of each subject are equal in every column, as if pasted twice

    def warning(self) -> str:
        """Return that rows are not subjects, as the first sentence of a report."""
        follows = "copies of one row weigh double" if self.are_copies else "subtypes may be those of visits"
        return (
            f"ROWS ARE NOT PATIENTS: the {self.n_rows:,} rows are of {self.n_subjects:,} subjects "
            f"({quoted(self.column)}), of whom {self.n_repeated:,} have several rows (up to {self.most_rows:,}); each "
            f"row counts as a subject of its own, so {follows}, and every test is too sure"
        )

    def sentence(self) -> str:
        """Return what was found, and how to keep one row of each subject."""
        return (
            f"{self.n_repeated:,} of {self.n_subjects:,} subjects have several rows (up to {self.most_rows:,} with the "
            f"same {quoted(self.column)}), and rows of one patient are not independent: keep one row of each, "
            f"{one_row_of_each(self.column)}, or those of one visit, with `where`"
        )


def one_row_of_each(column: str) -> str:
    """Return the option that keeps one row of each subject, and which rows it may be."""
    return f"{argument('one_row_per', column)} (the first; with keep='last' the last)"


def _names_subjects(name: str) -> bool:
    """Return whether the name of a column says that it identifies subjects, and nothing else."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = {word.casefold() for word in _WORD.findall(plain)}  # `patientID_2` holds patient and id
    known = words & set(data("tables")["subjects"]["words"])
    return bool(known) and words <= known | set(data("tables")["subjects"]["beside"])


def subjects_with_several_rows(frame: pd.DataFrame) -> RepeatedSubjects | None:
    """Return the subjects of a table of visits; None if no column clearly names subjects with several rows.

    The name of the column says that it identifies at least 20 subjects, and its values do so in nearly all rows. Most
    subjects have several rows, or another column speaks of visits, or all rows of a subject are copies of one.
    """
    for name in frame.columns[~frame.columns.duplicated(keep=False)]:
        found = repeated_subjects(frame, str(name)) if _names_subjects(str(name)) else None
        if found is None or found.n_subjects < _FEWEST_SUBJECTS or found.n_rows < _FILLED * len(frame):
            continue
        numbers = numbers_of(_texts(frame, str(name)).unique().tolist())
        if np.isfinite(numbers).all() and (numbers != np.floor(numbers)).any():
            continue
        if found.are_copies or found.has_visits or found.n_repeated > _HALF * found.n_subjects:
            return found
    return None


def repeated_subjects(frame: pd.DataFrame, column: str) -> RepeatedSubjects | None:
    """Return which subjects have several rows in a table, or None if each has one; cells without a value are none."""
    subjects = _texts(frame, column)
    counts = subjects[subjects != ""].value_counts()
    several = counts[counts > 1]
    if several.empty:
        return None
    is_repeated = subjects.isin(several.index).to_numpy()
    repeated = frame[is_repeated].astype(str).assign(**{column: subjects.to_numpy()[is_repeated]})
    names = [str(name) for name in frame.columns]
    timed = [
        name
        for name in names
        if name != column
        and any(part in name.casefold() for part in data("tables")["visits"]["parts"])
        and names.count(name) == 1
    ]
    return RepeatedSubjects(
        column,
        int(counts.sum()),
        len(counts),
        len(several),
        int(counts.iloc[0]),
        any(not repeated[[column, name]].duplicated().any() for name in timed),
        are_copies=len(repeated.drop_duplicates()) == len(several),
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


def _texts(frame: pd.DataFrame, name: str) -> pd.Series:
    column = frame[name]
    return column.astype(object).where(column.notna(), "").map(canonical_text)
