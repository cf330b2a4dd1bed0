"""Validate a cohort table in one pass, and find columns that cannot inform a clustering."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.data_frames import TABLE, in_pandas
from clinclust.errors import CohortError, CohortWarning
from clinclust.files.selection.row_choice import carry_rows_taken
from clinclust.nearest import did_you_mean
from clinclust.schema.failures import (
    Failure,
    column_failures,
    duplicate_identifiers,
    failures_frame,
    user_check_failure,
)
from clinclust.schema.pandera_schema import to_pandera

if TYPE_CHECKING:
    from pandera.errors import SchemaError

    from clinclust.schema.content import SchemaContent
    from clinclust.schema.feature import Feature
    from clinclust.schema.reading import Reading

_NO_VALUE = "no observed value"
_NAMES_WARNED_OF = 20
_importing = Lock()
"""Held while pandera is imported: its modules import each other, and several threads at once would deadlock."""
_MOST_HINTS = 20  # a hint compares a name with all others, and a message shows 20 failures


def validate(schema: SchemaContent, frame: pd.DataFrame, *, warn: bool = True) -> pd.DataFrame:
    """Implement `FeatureSchema.validate`; each column is read once."""
    frame = in_pandas(frame)
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame must be {TABLE}, not {type(frame).__name__}")
    refuse_unusable(frame)
    typed, readings, errors = read_columns(schema, frame)
    failures = _failures_of_columns(schema, frame) + _failures_of_cells(schema, typed, readings, errors)
    if failures:
        order = {name: position for position, name in enumerate(schema.names)}
        failures.sort(key=lambda failure: order.get(failure.column, len(order)))
        raise CohortError(failures_frame(failures))
    carry_rows_taken(frame, typed)
    if warn:
        warn_of_uninformative(kept_out(typed, schema), len(typed), stacklevel=3)
    return typed


def read_columns(
    schema: SchemaContent, frame: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, Reading], list[SchemaError]]:
    """Return the typed columns (missing where at fault), the reading of each, and the errors of pandera."""
    with _importing:
        from pandera.config import ValidationDepth, config_context
        from pandera.errors import SchemaErrors

    times = Counter(frame.columns)
    names = [feature.name for feature in schema if not feature.is_ignored and times[feature.name] == 1]
    bare = frame.copy(deep=False)
    bare.attrs = {}  # pandas copies them whenever a column is taken
    table = bare[names]
    readings: dict[str, Reading] = {}
    compiled = to_pandera(schema, readings)
    compiled.strict = False
    for name in set(compiled.columns) - set(names):
        compiled.columns[name].required = False
    if compiled.index is None:  # pandera finds failing rows by label, and labels may repeat
        table = table.set_axis(pd.RangeIndex(len(table)), axis="index")
    errors: list[SchemaError] = []
    with config_context(validation_enabled=True, validation_depth=ValidationDepth.SCHEMA_AND_DATA):
        try:
            typed = compiled.validate(table, lazy=True, inplace=True)[names]
        except SchemaErrors as found:
            errors = list(found.schema_errors)
            typed = pd.DataFrame({name: readings[name].typed for name in names}, index=table.index)
    return typed.set_axis(frame.index, axis="index"), readings, errors


def _failures_of_cells(
    schema: SchemaContent, typed: pd.DataFrame, readings: Mapping[str, Reading], errors: Sequence[SchemaError]
) -> list[Failure]:
    if not errors:
        return []
    from clinclust.schema.pandera_parts import is_own

    read = readings.items()
    failures = [found for name, reading in read for found in column_failures(schema[name], reading, typed.index)]
    # A check of the user's own expects typed values, so its result for an unsound column has no meaning.
    unsound = {failure.column for failure in failures}
    repeated = duplicate_identifiers([feature.name for feature in schema.ids], typed)
    failures, unsound = failures + repeated, unsound | {failure.column for failure in repeated}
    for error in errors:
        name = getattr(error, "column_name", None)
        if not (is_own(error.check) or name in unsound or (name is None and unsound)):
            failures.append(user_check_failure(error, typed))
    return failures or [user_check_failure(error, typed) for error in errors]


def refuse_unusable(frame: pd.DataFrame) -> None:
    """Raise CohortError for a table with column names in several rows (a MultiIndex), or without rows."""
    if isinstance(frame.columns, pd.MultiIndex):
        repair = "Join the names of each column into one, such as 'blood pressure, systolic'."
        failure = Failure("the table", "one row of column names, not several (a MultiIndex)", repair=repair)
    elif len(frame) == 0:
        repair = "Check how the file was read or filtered."
        failure = Failure("the table", "at least one row; it has none", repair=repair)
    else:
        return
    raise CohortError(failures_frame([failure]))


def _failures_of_columns(schema: SchemaContent, frame: pd.DataFrame) -> list[Failure]:
    names = Counter(frame.columns)
    unnamed = [str(name) for name in names if name not in schema]
    failures: list[Failure] = []
    for name, count in names.items():
        if count > 1 and (name in schema or schema.other_columns == "error"):
            repair = f"Rename or drop all but one of the {count} columns of this name."
            failures.append(Failure(str(name), "one column of this name", repair=repair))
    for feature in schema:
        if not feature.is_ignored and feature.name not in names:
            hint = did_you_mean(feature.name, unnamed) if len(failures) < _MOST_HINTS else ""
            repair = f"There is no such column.{hint} Rename it, or remove the feature."
            failures.append(Failure(feature.name, "a column of this name", repair=repair))
    if schema.other_columns == "error":
        absent = [name for name in schema.names if name not in names]
        for name in names:
            if name not in schema:
                hint = did_you_mean(str(name), absent or schema.names) if len(failures) < _MOST_HINTS else ""
                repair = f"{hint} Drop it, give it role: ignore in the schema, or set other_columns: ignore."
                failures.append(Failure(str(name), "a column that the schema names", repair=repair.strip()))
    return failures


def kept_out(frame: pd.DataFrame, schema: SchemaContent) -> dict[str, str]:
    """Return the cluster features of a validated table that cannot inform a clustering, each with the reason."""
    return uninformative({feature.name: feature.scores(frame[feature.name]) for feature in schema.clustered})


def uninformative(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, str]:
    """Return the columns of scores with fewer than two distinct observed values, each with the reason."""
    reasons = {}
    for name, column in columns.items():
        lowest, highest = np.fmin.reduce(column), np.fmax.reduce(column)  # fmin and fmax ignore NaN
        if np.isnan(lowest):
            reasons[name] = _NO_VALUE
        elif lowest == highest:
            reasons[name] = "the same value in every subject observed"
    return reasons


def informative_parts(frame: pd.DataFrame, features: Iterable[Feature]) -> tuple[Feature, ...]:
    """Return the parts of features (`Feature.parts`) with at least two distinct observed values."""
    return tuple(
        part
        for feature in features
        for part in feature.parts
        if not part.is_part or not uninformative({part.name: part.scores(frame[part.column])})
    )


def warn_of_uninformative(reasons: Mapping[str, str], n_subjects: int, stacklevel: int) -> None:
    """Issue one CohortWarning that names the columns with their reasons, if there are any."""
    if n_subjects == 1:  # with one subject every column is constant, so a warning would be of no use
        reasons = {name: reason for name, reason in reasons.items() if reason == _NO_VALUE}
    if not reasons:
        return
    listed = [f"{name} ({reason})" for name, reason in reasons.items()]
    more = f" and {len(listed) - _NAMES_WARNED_OF} more" if len(listed) > _NAMES_WARNED_OF else ""
    warnings.warn(
        f"{len(listed)} column{'' if len(listed) == 1 else 's'} cannot inform a clustering: "
        f"{', '.join(listed[:_NAMES_WARNED_OF])}{more}",
        CohortWarning,
        stacklevel=stacklevel + 1,
    )
