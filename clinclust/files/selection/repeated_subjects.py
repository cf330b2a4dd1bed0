"""Recognise that a table holds several rows of one subject, as tables of visits do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from clinclust.files.cell_text import canonical_text, numbers_of
from clinclust.files.command_words import name_in_condition, option_in_shell
from clinclust.files.listed import quoted
from clinclust.files.selection.dates import looks_like_date
from clinclust.files.selection.one_visit import condition_of_one_visit

__all__ = [
    "SEVERAL_ROWS",
    "RepeatedSubjects",
    "names_a_visit",
    "note_several_rows",
    "noted_several_rows",
    "one_row_of_each",
    "repeated_subjects",
]

SEVERAL_ROWS = "several_rows"
"""The key of ``frame.attrs`` under which it is noted that subjects have several rows."""

_MOST_CANDIDATES = 3
_VISIT = ("visit", "visite", "wave", "event", "time", "date", "datum", "besuch", "month", "monat", "baseline", "welle")


@dataclass(frozen=True)
class RepeatedSubjects:
    """Subjects with several rows.

    Attributes
    ----------
    column : str
        The column of the subjects.
    n_rows, n_subjects, n_repeated, most_rows : int
        Rows with a subject, subjects, subjects with several rows, and the most rows of one of them.
    visit_columns : tuple of str
        Columns that tell the rows of each subject apart, and whose names speak of visits or time.
    visit_number : int
        The number of the first of these in the table, from 1; 0 if there is none.
    ordering : str or None
        The first of these that holds numbers or dates throughout, by which the rows can be ordered.
    condition : str or None
        A condition that leaves one row of each subject who meets it, such as the rows of one visit.
    are_copies : bool
        Whether the rows of each subject with several are equal in every column: rows that were pasted twice.
    """

    column: str
    n_rows: int
    n_subjects: int
    n_repeated: int
    most_rows: int
    visit_columns: tuple[str, ...]
    visit_number: int = 0
    ordering: str | None = None
    condition: str | None = None
    are_copies: bool = False

    def warning(self) -> str:
        """Return that rows are not subjects, as a sentence that stands before all others."""
        return (
            f"ROWS ARE NOT PATIENTS: the {self.n_rows:,} rows are of {self.n_subjects:,} subjects "
            f"({quoted(self.column)}), of whom {self.n_repeated:,} have several rows (up to {self.most_rows:,}); each "
            f"row counts as a subject of its own, so {self._what_follows()}"
        )

    def _what_follows(self) -> str:
        if self.are_copies:
            return "copies of one row weigh double, and every test is too sure"
        return "subtypes may be those of visits, and every test is too sure"

    def sentence(self) -> str:
        """Return what was found, and how to keep one row of each subject."""
        by = where = ""
        condition = self.condition
        if condition is None and self.visit_columns:
            condition = f'{name_in_condition(self.visit_columns[0], self.visit_number)} == "..."'
        if condition is not None:
            where = f", or the rows of one visit, {option_in_shell('--where', condition)}"
        if self.ordering is not None:
            by = f", in the order of {option_in_shell('--by', self.ordering)}"
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
    return any(word in name.casefold() for word in _VISIT)


def repeated_subjects(frame: pd.DataFrame, column: str) -> RepeatedSubjects | None:
    """Return which subjects have several rows in a table, or None if each has one.

    Parameters
    ----------
    frame : pandas.DataFrame
    column : str
        The column of the subjects; cells without a value are no subject.

    Examples
    --------
    >>> import pandas as pd
    >>> from clinclust.files.selection.repeated_subjects import repeated_subjects
    >>> visits = pd.DataFrame({"id": ["a", "a", "b"], "visit": ["1", "2", "1"]})
    >>> found = repeated_subjects(visits, "id")
    >>> found.n_repeated, found.most_rows, found.visit_columns
    (1, 2, ('visit',))
    """
    given = frame[column]
    present = given.notna() & (given.astype(str).str.strip() != "")
    subjects = given[present].map(canonical_text)
    counts = subjects.value_counts()
    several = counts[counts > 1]
    if several.empty:
        return None
    repeated = frame[present.to_numpy()][subjects.isin(several.index).to_numpy()]
    of_whom = subjects[subjects.isin(several.index)]
    visits = [
        str(name)
        for name in frame.columns[~frame.columns.duplicated(keep=False)]
        if name != column
        and names_a_visit(str(name))
        and not pd.DataFrame({"who": of_whom.to_numpy(), "what": repeated[name].astype(str).to_numpy()})
        .duplicated()
        .any()
    ]
    number = [str(name) for name in frame.columns].index(visits[0]) + 1 if visits else 0
    shown = tuple(visits[:_MOST_CANDIDATES])
    once = [str(name) for name in frame.columns if str(name) != column and names_a_visit(str(name))]
    condition = condition_of_one_visit(frame, column, [*visits, *(name for name in once if name not in visits)])
    ordering = next((name for name in visits if _has_order(frame[name])), None)
    return RepeatedSubjects(
        column,
        int(present.sum()),
        len(counts),
        len(several),
        int(counts.iloc[0]),
        shown,
        number,
        ordering,
        condition,
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


def _has_order(cells: pd.Series) -> bool:
    """Return whether all cells with a value are numbers, or all are dates."""
    texts = [text for text in cells.dropna().map(canonical_text).unique().tolist() if text]
    return bool(texts) and (not np.isnan(numbers_of(texts)).any() or all(map(looks_like_date, texts)))
