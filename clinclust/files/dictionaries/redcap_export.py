"""The columns that REDCap adds to an export: forms, events, repeats and surveys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from clinclust.data import data
from clinclust.files.cell_text import canonical_text, shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.dictionaries.plain_text import folded

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["added_by_redcap", "notes_without_dictionary"]

_NO_MEASUREMENT = "a column that REDCap adds to an export, no measurement"
_ADDED = data("dictionaries")["redcap_columns"]
_STATUSES = frozenset(("0", "1", "2", "incomplete", "unverified", "complete"))
_RECORDS = ("record_id", "study_id", "subject_id", "participant_id", "patient_id")
_SITE = ("redcap_data_access_group", "data_access_group")


def added_by_redcap(columns: Iterable[str], forms: Iterable[str]) -> dict[str, ColumnNotes]:
    """Return the notes on those of the columns that REDCap adds itself, given the forms of the dictionary."""
    known = dict(_ADDED)
    for form in filter(None, forms):
        known[f"{folded(form)}_complete"] = f"the status of the form {shortened(form)}"
        known[f"{folded(form)}_timestamp"] = f"when the form {shortened(form)} was answered"
    notes = {}
    for column in columns:
        if folded(column) in _SITE:
            reason = "the site (data access group) of the record, which REDCap adds to an export; described only"
            notes[column] = ColumnNotes(label="Site", kind="nominal", role="site", reason=reason)
        elif folded(column) in known:
            notes[column] = ColumnNotes(role="ignore", reason=f"{known[folded(column)]}; {_NO_MEASUREMENT}")
    return notes


def notes_without_dictionary(frame: pd.DataFrame) -> dict[str, ColumnNotes]:
    """Return the notes on the columns that REDCap adds to an export, by column, where no dictionary describes it.

    An export is recognised by a column that only REDCap names, or by a record in its first column and the status of a
    form in another.
    """
    columns = [str(name) for name in frame.columns]
    statuses = [name for name in columns if folded(name).endswith("_complete") and _holds_statuses(frame[name])]
    own = [name for name in columns if folded(name).startswith("redcap_")]
    if not own and not (statuses and folded(columns[0]) in _RECORDS):
        return {}
    forms = [folded(name).removesuffix("_complete") for name in statuses]
    times = {f"{form}_timestamp" for form in ("survey", *forms)}
    return added_by_redcap([*own, *statuses, *(name for name in columns if folded(name) in times)], forms)


def _holds_statuses(cells: pd.Series) -> bool:
    texts = {canonical_text(cell).casefold().removesuffix(".0") for cell in cells.dropna().unique()}
    return texts - {""} <= _STATUSES
