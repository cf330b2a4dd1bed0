"""The columns that REDCap adds to an export: forms, events, repeats and surveys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from clinclust.data import data
from clinclust.files.cell_text import canonical_text, shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.command_words import option_in_shell
from clinclust.files.dictionaries.plain_text import folded
from clinclust.files.listed import listed
from clinclust.files.selection.dates import looks_like_date
from clinclust.files.selection.repeated_subjects import condition_of_one_visit, one_row_of_each

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["added_by_redcap", "notes_without_dictionary", "several_rows"]

_EVENT = ("redcap_event_name", "event_name")
_INSTRUMENT = ("redcap_repeat_instrument", "repeat_instrument")
_NO_MEASUREMENT = "a column that REDCap adds to an export, no measurement"
_ADDED = data("dictionaries")["redcap_columns"]
_STATUS = re.compile(r"Complete\?(?: \(\d+\))?")
_STATUSES = frozenset(("0", "1", "2", "incomplete", "unverified", "complete"))
_NO_TIME = frozenset(("[not completed]",))
_RECORDS = ("record_id", "study_id", "subject_id", "participant_id", "patient_id")
_SITE = ("redcap_data_access_group", "data_access_group")


def added_by_redcap(columns: Iterable[str], forms: Iterable[str]) -> dict[str, ColumnNotes]:
    """Return the notes on those of the columns that REDCap adds itself, given the forms of the dictionary."""
    statuses = {f"{folded(form)}_complete": form for form in forms if form}
    times = {f"{folded(form)}_timestamp": form for form in forms if form}
    notes = {}
    for column in columns:
        name = folded(column)
        what = "the status of a form" if _STATUS.fullmatch(column.strip()) else _ADDED.get(name)
        if name in statuses:
            what = f"the status of the form {shortened(statuses[name])}: 0 incomplete, 1 unverified, 2 complete"
        elif name in times:
            what = f"when the form {shortened(times[name])} was answered"
        if name in _SITE:
            reason = "the site (data access group) of the record, which REDCap adds to an export; described only"
            notes[column] = ColumnNotes(label="Site", kind="nominal", role="site", reason=reason)
        elif what is not None:
            notes[column] = ColumnNotes(role="ignore", reason=f"{what}; {_NO_MEASUREMENT}")
    return notes


def notes_without_dictionary(frame: pd.DataFrame) -> dict[str, ColumnNotes]:
    """Return the notes on the columns that REDCap adds to an export, by column, where no dictionary describes it.

    An export is recognised by a column that only REDCap names, or by a record in its first column and the status of a
    form in another. Forms are those of which the table holds a status, or a time.

    Examples
    --------
    >>> import pandas as pd
    >>> from clinclust.files.dictionaries.redcap_export import notes_without_dictionary
    >>> export = pd.DataFrame({"record_id": ["1", "2"], "crp": ["3", "4"], "blood_complete": ["2", "0"]})
    >>> notes_without_dictionary(export)["blood_complete"].role
    'ignore'
    """
    columns = [str(name) for name in frame.columns]
    statuses = [name for name in columns if folded(name).endswith("_complete") and _holds(frame, name, _STATUSES)]
    named = any(folded(name).startswith("redcap_") for name in columns)
    if not named and not (statuses and columns and folded(columns[0]) in _RECORDS):
        return {}
    times = [
        name
        for name in columns
        if folded(name).endswith("_timestamp") and _holds(frame, name, _NO_TIME, looks_like_date)
    ]
    forms = [name[: -len("_complete")] for name in statuses] + [name[: -len("_timestamp")] for name in times]
    own = [name for name in columns if folded(name).startswith("redcap_") or _STATUS.fullmatch(name.strip())]
    return added_by_redcap([*own, *statuses, *times], forms)


def _holds(
    frame: pd.DataFrame, name: str, words: frozenset[str], accepts: Callable[[str], bool] = lambda _: False
) -> bool:
    """Return whether a column holds nothing but some words, numbers among them, or what else is accepted."""
    texts = [str(text) for text in frame[name].dropna().map(canonical_text).unique() if text]
    return all(text.casefold().removesuffix(".0") in words or accepts(text) for text in texts)


def several_rows(frame: pd.DataFrame, record_id: str | None) -> list[str]:
    """Return what to say of an export that holds several rows for a record: events, or repeated forms."""
    if record_id is None:
        return []
    records = frame[record_id].map(canonical_text)
    if not records.duplicated().any():
        return []
    said = f"{len(records):,} rows hold {records.nunique():,} records of {record_id}"
    event, instrument = (_present(frame, names) for names in (_EVENT, _INSTRUMENT))
    if event is not None:
        events = list(dict.fromkeys(text for text in frame[event].map(canonical_text) if text))
        said += f", at {len(events)} events ({listed(events)})" if len(events) > 1 else ""
    if instrument is not None and (frame[instrument].map(canonical_text) != "").any():
        said += f", with repeated forms ({instrument})"
    condition = condition_of_one_visit(frame, record_id, [] if event is None else [event])
    ways = [] if condition is None else [option_in_shell("--where", condition)]
    ways.append(one_row_of_each(record_id))
    return [f"{said}; subtypes need one row for each subject: choose it in every command by {' or '.join(ways)}"]


def _present(frame: pd.DataFrame, names: tuple[str, ...]) -> str | None:
    return next((column for column in frame.columns if folded(column) in names), None)
