"""Validate a cohort table in one pass, and report all failures together."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd

from clinclust.errors import CohortError
from clinclust.files.selection.row_choice import carry_rows_taken
from clinclust.nearest import did_you_mean
from clinclust.schema.failures import (
    Failure,
    column_failures,
    duplicate_identifiers,
    failures_frame,
    user_check_failure,
)
from clinclust.schema.informative import kept_out, warn_of_uninformative
from clinclust.schema.typed import is_validated

if TYPE_CHECKING:
    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["refuse_unusable", "validate"]

_MOST_HINTS = 20  # a hint compares a name with all others, and a message shows 20 failures


def validate(schema: FeatureSchema, frame: pd.DataFrame, *, warn: bool = True) -> pd.DataFrame:
    """Implement `FeatureSchema.validate`; see there."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"frame: validate needs a pandas DataFrame, one row per subject, not {type(frame).__name__}")
    refuse_unusable(frame)
    typed = frame.copy(deep=False) if is_validated(schema, frame) else _validated(schema, frame)
    carry_rows_taken(frame, typed)
    if warn:
        warn_of_uninformative(kept_out(typed, schema), len(typed), stacklevel=3)
    return typed


def _validated(schema: FeatureSchema, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the typed table, or raise CohortError."""
    about_columns = _failures_of_columns(schema, frame)
    repeated = set(frame.columns[frame.columns.duplicated()])
    present = [
        feature.name
        for feature in schema
        if not feature.is_ignored and feature.name in frame.columns and feature.name not in repeated
    ]
    table = frame[present]
    typed, about_cells = _run_pandera(schema, table)
    failures = about_columns + about_cells
    if failures:
        order = {name: position for position, name in enumerate(schema.names)}
        failures.sort(key=lambda failure: order.get(failure.column, len(order)))
        raise CohortError(failures_frame(failures))
    return typed


def refuse_unusable(frame: pd.DataFrame) -> None:
    """Raise CohortError for a table that cannot be checked at all: column names in several rows, or no rows."""
    if isinstance(frame.columns, pd.MultiIndex):
        repair = "Join the names of each column into one, such as 'blood pressure, systolic'."
        failure = Failure("the table", "one row of column names, not several (a MultiIndex)", repair=repair)
    elif len(frame) == 0:
        repair = "Check how the file was read or filtered."
        failure = Failure("the table", "at least one row; it has none", repair=repair)
    else:
        return
    raise CohortError(failures_frame([failure]))


def _failures_of_columns(schema: FeatureSchema, frame: pd.DataFrame) -> list[Failure]:
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


def _run_pandera(schema: FeatureSchema, table: pd.DataFrame) -> tuple[pd.DataFrame, list[Failure]]:
    """Validate the columns of `table`; return them, typed if all are sound, and the failures that pandera found."""
    from pandera.config import ValidationDepth, config_context
    from pandera.errors import SchemaErrors

    compiled = schema.to_pandera()
    absent = [name for name in compiled.columns if name not in table.columns]
    if absent:
        compiled = compiled.remove_columns(absent)
    compiled.strict = False
    numbered = table
    if compiled.index is None:  # pandera finds failing rows by label, and labels may repeat
        numbered = table.set_axis(pd.RangeIndex(len(table)), axis="index")
    failures = []
    with config_context(validation_enabled=True, validation_depth=ValidationDepth.SCHEMA_AND_DATA):
        try:
            typed = compiled.validate(numbered.copy(deep=False), lazy=True, inplace=True)
        except SchemaErrors as errors:
            typed, failures = table, _failures_of_cells(schema, table, errors.schema_errors)
    return typed[list(table.columns)].set_axis(table.index, axis="index"), failures


def _failures_of_cells(schema: FeatureSchema, table: pd.DataFrame, errors: list[Any]) -> list[Failure]:
    from clinclust.schema.pandera_schema import kind_of

    found = [(getattr(error, "column_name", None), kind_of(error.check), error) for error in errors]
    failures: list[Failure] = []
    unsound: set[str] = set()
    for name, kind, _ in found:
        if name is not None and kind is not None and name not in unsound:
            unsound.add(name)
            column = table[name]
            for parser in schema.extras.parsers.get(name, []):
                column = parser(column).parser_output
            failures += column_failures(schema[name], schema.missing_codes_of(schema[name]), column)
    failures += duplicate_identifiers(schema, table)
    for name, kind, error in found:
        # A check of the user's own expects typed values, so its result for an unsound column has no meaning.
        if kind is None and name not in unsound and not (name is None and unsound):
            failures.append(user_check_failure(name, error, table))
    return failures or [user_check_failure(name, error, table) for name, _, error in found]
