"""A pandera schema for polars as the same schema for pandas; polars is needed only by who wrote it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    import pandera.pandas as pa

_SHARED = ("nullable", "unique", "required", "regex", "title", "description", "metadata")
_OF_TABLE = ("strict", "unique", "title", "metadata", "drop_invalid_rows")
_OF_CHECK = ("error", "raise_warning", "ignore_na", "n_failure_cases", "title", "description")


def in_pandas_terms(schema: Any, problems: list[str]) -> Any:
    """Return a schema or model for polars as a DataFrameSchema for pandas, and anything else unchanged.

    What is written for the data of polars, a check or parser of its own, is a problem.
    """
    theirs: Any = sys.modules.get("pandera.polars")  # a schema of this kind exists only if this was imported
    if theirs is None:
        return schema
    is_model = isinstance(schema, type) and issubclass(schema, theirs.DataFrameModel)
    found: Any = schema
    found = found.to_schema() if is_model else found
    return _converted(found, problems) if isinstance(found, theirs.DataFrameSchema) else schema


def _converted(schema: Any, problems: list[str]) -> pa.DataFrameSchema:
    import pandera.pandas as pa

    columns = {name: _column(name, column, problems) for name, column in schema.columns.items()}
    checks = _checks("the table", schema.checks, problems)
    if schema.parsers:
        problems.append("parsers of the whole table are for polars: apply them to the table before it is validated")
    shared = {name: getattr(schema, name) for name in _OF_TABLE}
    return pa.DataFrameSchema(columns, checks=checks, **shared)


def _column(name: str, column: Any, problems: list[str]) -> pa.Column:
    import pandera.pandas as pa

    if column.parsers:
        problems.append(f"{name}: its parsers are for polars: apply them to the table before it is validated")
    shared = {each: getattr(column, each) for each in _SHARED}
    return pa.Column(_dtype(column.dtype), _checks(name, column.checks, problems), name=name, **shared)


def _dtype(dtype: Any) -> Any:
    """Return the dtype of levels, the only one that says more than the values."""
    categories = getattr(getattr(dtype, "type", None), "categories", None)
    levels = [] if categories is None else list(categories)
    return pd.CategoricalDtype(levels) if levels else None


def _checks(about: str, checks: list[Any], problems: list[str]) -> list[pa.Check]:
    """Return the built-in checks; the others take the data of polars."""
    import pandera.pandas as pa

    found = []
    for check in checks:
        if check.registry_name is None or not pa.Check.is_builtin_check(check.registry_name):
            problems.append(
                f"{about}: the check {check.error or check.name} is a function of the data of polars; use a check of "
                "pandera, such as Check.in_range, or write it in a schema for pandas"
            )
            continue
        options = {name: getattr(check, name) for name in _OF_CHECK}
        found.append(getattr(pa.Check, check.registry_name)(**(check.statistics or {}), **options))
    return found
