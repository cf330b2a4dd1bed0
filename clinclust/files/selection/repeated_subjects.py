"""Recognise that a table holds several rows of one subject, as tables of visits do."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from clinclust.files.cell_text import canonical_text
from clinclust.files.command_words import name_in_condition, option_in_shell
from clinclust.files.listed import quoted

__all__ = ["RepeatedSubjects", "repeated_subjects"]

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
    """

    column: str
    n_rows: int
    n_subjects: int
    n_repeated: int
    most_rows: int
    visit_columns: tuple[str, ...]
    visit_number: int = 0

    def sentence(self) -> str:
        """Return what was found, and how to keep one row of each subject."""
        by = where = ""
        if self.visit_columns:
            visit, number = self.visit_columns[0], self.visit_number
            by = f", or --keep last, or by its date: {option_in_shell('--by', visit)}"
            condition = f'{name_in_condition(visit, number)} == "..."'
            where = f", or the rows of one visit: {option_in_shell('--where', condition)}"
        return (
            f"{self.n_repeated:,} of {self.n_subjects:,} subjects have several rows (up to {self.most_rows:,} with the "
            f"same {quoted(self.column)}): subtypes are of subjects, so keep one row of each, "
            f"{option_in_shell('--one-row-per', self.column)} (the first in the file{by}){where}"
        )


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
        for name in frame.columns
        if name != column
        and any(word in str(name).casefold() for word in _VISIT)
        and not pd.DataFrame({"who": of_whom.to_numpy(), "what": repeated[name].astype(str).to_numpy()})
        .duplicated()
        .any()
    ]
    number = [str(name) for name in frame.columns].index(visits[0]) + 1 if visits else 0
    shown = tuple(visits[:_MOST_CANDIDATES])
    return RepeatedSubjects(column, int(present.sum()), len(counts), len(several), int(counts.iloc[0]), shown, number)
