"""The columns that REDCap adds to an export: forms, events, repeats and surveys."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from clinclust.files.cell_text import canonical_text, shortened
from clinclust.files.column_notes import ColumnNotes
from clinclust.files.command_words import name_in_condition, option_in_shell, text_in_condition
from clinclust.files.dictionaries.plain_text import folded
from clinclust.files.listed import listed
from clinclust.files.selection.repeated_subjects import one_row_of_each

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["added_by_redcap", "several_rows"]

_EVENT = ("redcap_event_name", "event_name")
_INSTRUMENT = ("redcap_repeat_instrument", "repeat_instrument")
_NO_MEASUREMENT = "a column that REDCap adds to an export, no measurement"
_ADDED = {
    **dict.fromkeys(_EVENT, "the event of the row"),
    **dict.fromkeys(_INSTRUMENT, "the repeated form that the row holds"),
    **dict.fromkeys(("redcap_repeat_instance", "repeat_instance"), "the number of the repeat"),
    **dict.fromkeys(("redcap_survey_identifier", "survey_identifier"), "who was invited to the survey"),
    **dict.fromkeys(("redcap_survey_timestamp", "survey_timestamp"), "when the survey was answered"),
    "complete": "the status of a form",
}
_STATUS = re.compile(r"Complete\?(?: \(\d+\))?")
_SITE = ("redcap_data_access_group", "data_access_group")


def added_by_redcap(columns: Iterable[str], forms: Iterable[str]) -> dict[str, ColumnNotes]:
    """Return the notes on the columns that REDCap adds itself, by column.

    Parameters
    ----------
    columns : iterable of str
        Those that no field of the dictionary describes.
    forms : iterable of str
        The forms of the dictionary.
    """
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
            notes[column] = ColumnNotes(label="Site", kind="nominal", role="describe", reason=reason)
        elif what is not None:
            notes[column] = ColumnNotes(role="ignore", reason=f"{what}; {_NO_MEASUREMENT}")
    return notes


def several_rows(frame: pd.DataFrame, record_id: str | None) -> list[str]:
    """Return what to say of an export that holds several rows for a record: events, or repeated forms."""
    if record_id is None:
        return []
    records = frame[record_id].map(canonical_text)
    if not records.duplicated().any():
        return []
    said = f"{len(records):,} rows hold {records.nunique():,} records of {record_id}"
    event, instrument = (_present(frame, names) for names in (_EVENT, _INSTRUMENT))
    ways = []
    if event is not None:
        by_event = frame[event].map(canonical_text).value_counts(sort=True)
        said += f", at {len(by_event)} events ({listed(by_event.index)})"
        text = text_in_condition(by_event.index[0])
        ways += [_where(frame, event, f"== {text}")] if text else []
    if instrument is not None and (frame[instrument].map(canonical_text) != "").any():
        said += f", with repeated forms ({instrument})"
        ways.append(_where(frame, instrument, "is missing"))
    ways.append(one_row_of_each(record_id))
    return [f"{said}; subtypes need one row for each subject: choose it in every command by {' or '.join(ways)}"]


def _present(frame: pd.DataFrame, names: tuple[str, ...]) -> str | None:
    return next((column for column in frame.columns if folded(column) in names), None)


def _where(frame: pd.DataFrame, column: str, what: str) -> str:
    number = list(frame.columns).index(column) + 1
    return option_in_shell("--where", f"{name_in_condition(column, number)} {what}")
