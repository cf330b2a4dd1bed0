"""New subjects of a fitted model: notes on their table, and values that the model cannot read.

New rows may have repeated or missing identifiers, which a note reports. Unreadable values, such as an unknown level,
are refused or become missing. No note shows a value of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import CohortError, InputError
from clinclust.files.listed import listed, quoted
from clinclust.schema.failures import column_failures, failures_frame
from clinclust.schema.reading import read_column
from clinclust.schema.validation import read_columns

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.schema import FeatureSchema

_SHOWN_ROWS = 5


def notes_on_new_subjects(fit: Fit, frame: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for each peculiarity of a table of new subjects, with the labels of the first rows."""
    yield from _notes_on_identifiers(fit.schema_, frame)
    names = fit.selected_features_
    if names:
        observed = fit.schema_.restricted_to(names).validate(frame, warn=False).notna().any(axis="columns")
        rows = frame.index[~observed.to_numpy()]
        if len(rows):
            yield (
                f"{_which(rows)} no observed value in any feature that tells the subtypes apart; their subtype is the "
                "most frequent one, by its size alone"
            )


def _notes_on_identifiers(schema: FeatureSchema, frame: pd.DataFrame) -> Iterator[str]:
    names = [feature.name for feature in schema.ids]
    if not names or any(list(frame.columns).count(name) != 1 for name in names):
        return  # new subjects need no identifier: their rows have numbers
    keys = pd.DataFrame(
        {
            feature.name: read_column(feature, schema.missing_codes_of(feature), frame[feature.name]).typed.to_numpy()
            for feature in schema.ids
        }
    )
    missing = keys.isna().any(axis="columns").to_numpy()
    repeated: NDArray[np.bool_] = keys.duplicated(keep=False).to_numpy() & ~missing
    if missing.any():
        yield f"{_which(frame.index[missing])} no identifier ({', '.join(names)})"
    if repeated.any():
        yield (
            f"{_which(frame.index[repeated])} an identifier ({', '.join(names)}) that other rows have too; each row is "
            "assigned by itself"
        )


def _which(labels: pd.Index) -> str:
    """Return subject and verb of a sentence on the rows with these labels."""
    shown = ", ".join(map(str, labels[:_SHOWN_ROWS]))
    return f"1 row ({shown}) has" if len(labels) == 1 else f"{len(labels)} rows (first: {shown}) have"


Rows = NDArray[np.bool_]

REFUSE, TAKE_FOR_MISSING = "refuse", "missing"
"""What can be done with values that the model cannot read."""

_REPAIR = (
    "Correct the cells; or take values that the model does not know for missing (unseen='missing'), so that the other "
    "values of these subjects decide."
)
_DIGITS = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_ABSENT = "Rename the column that holds it, or add an empty one: a missing value is allowed."
_MOST_ROWS, _SHOWN_COLUMNS = 5, 10


def check_unseen(unseen: object) -> None:
    """Raise InputError for an unknown value of `unseen`."""
    if unseen not in (REFUSE, TAKE_FOR_MISSING):
        shown = repr(unseen) if isinstance(unseen, str) and len(unseen) < 40 else type(unseen).__name__
        raise InputError(f"unseen must be {REFUSE!r} or {TAKE_FOR_MISSING!r}, not {shown}")


def rows_at_fault(schema: FeatureSchema, frame: pd.DataFrame) -> tuple[Rows, CohortError]:
    """Return the rows with an unreadable cell, bool (n,), and the error that lists these cells."""
    rows, failures = np.zeros(len(frame), dtype=np.bool_), []
    for name, reading in read_columns(schema, frame)[1].items():
        rows |= np.logical_or.reduce([rows, *reading.faults.values()])
        failures += column_failures(schema[name], reading, frame.index)
    return rows, CohortError(about_new_subjects(failures_frame(failures), schema))


def without_unseen(schema: FeatureSchema, frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the table with every unreadable cell missing, and a note on their positions; empty if there are none."""
    cleared = frame.copy(deep=False)
    noted = []
    for name, rows in unseen_rows(schema, frame).items():
        cleared[name] = frame[name].astype(object).mask(rows, None)
        noted.append(f"{name} ({_rows(frame.index[rows])})")
    if not noted:
        return frame, ""
    more = f", and {len(noted) - _SHOWN_COLUMNS} more columns" if len(noted) > _SHOWN_COLUMNS else ""
    return cleared, (
        "values that the model does not know were taken for missing, as asked: "
        f"{', '.join(noted[:_SHOWN_COLUMNS])}{more}; the other values of these subjects decide"
    )


def unseen_rows(schema: FeatureSchema, frame: pd.DataFrame) -> dict[str, Rows]:
    """Return the rows with an unreadable cell, bool (n,), by feature; a missing required value is none."""
    found = {}
    for name, reading in read_columns(schema, frame)[1].items():
        unread = [rows for kind, rows in reading.faults.items() if kind != "observed"]
        if unread:
            found[name] = np.logical_or.reduce(unread)
    return found


def about_new_subjects(failures: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the failures of new subjects with repairs that do not change the schema."""
    failures = failures.copy()
    parts = (failures[name] for name in ("column", "rows", "expected", "repair", "examples"))
    failures["repair"] = [
        _alike(schema, column, examples) + _REPAIR
        if rows
        else _ABSENT
        if expected == "a column of this name"
        else repair
        for column, rows, expected, repair, examples in zip(*parts, strict=True)
    ]
    return failures


def _alike(schema: FeatureSchema, column: object, examples: Sequence[object]) -> str:
    """Return a sentence on missing codes of the form of a value, such as `20-25%` for `40-45%`; empty without any."""
    feature = next((one for one in schema if one.name == column), None)
    if feature is None:
        return ""
    forms = {_form(str(text)) for text in examples if not _DIGITS.fullmatch(str(text))}
    alike = [code for code in feature.missing_codes if _DIGITS.search(code) and _form(code) in forms]
    if not alike:
        return ""
    shown = listed(map(quoted, alike), len(alike))
    return f"The model takes values of this form for missing ({shown}), but only those that its schema lists. "


def _form(text: str) -> str:
    return _DIGITS.sub("0", " ".join(text.casefold().split()))


def _rows(labels: pd.Index) -> str:
    shown = ", ".join(map(str, labels[:_MOST_ROWS]))
    if len(labels) > _MOST_ROWS:
        return f"{len(labels)} rows, first {shown}"
    return f"row{'' if len(labels) == 1 else 's'} {shown}"
