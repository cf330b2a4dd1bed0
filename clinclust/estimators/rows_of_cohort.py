"""Whether a table holds the rows that a schema takes: told, or refused, before anything is made of other rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pandas as pd

from clinclust.errors import CohortWarning, InputError
from clinclust.files.listed import limited, listed, quoted
from clinclust.files.selection.condition import compared_columns, parsed
from clinclust.files.selection.row_choice import rows_taken

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema

__all__ = ["hint_at_rows", "schema_with_rows", "warn_of_missing_in_condition", "warn_of_other_rows"]


def schema_with_rows(schema: FeatureSchema, frame: pd.DataFrame, *, stacklevel: int) -> FeatureSchema:
    """Return the schema of a fit, which says which rows of its file were chosen, if that is known.

    Parameters
    ----------
    schema : FeatureSchema
    frame : DataFrame
        The table, as `read_cohort` or somebody else made it.
    stacklevel : int
        Stack level of the warning; 1 is the caller of this function.

    Raises
    ------
    InputError
        If the table was read with another choice than the schema says.

    Warns
    -----
    CohortWarning
        If the schema says which rows are taken, and nothing tells which rows the table holds.
    """
    taken = rows_taken(frame)
    if not schema.rows:
        return schema if taken is None or not taken.choice else schema.with_rows(taken.choice)
    if taken is None:
        warnings.warn(
            limited(
                f"the schema takes {_rows(schema)}; nothing tells whether the table holds these. Read it with "
                "clinclust.read_cohort(path, **schema.rows.as_dict())"
            ),
            CohortWarning,
            stacklevel=stacklevel + 1,
        )
        return schema
    if not taken.choice.follows(schema.rows):
        raise InputError(
            limited(
                f"the schema takes {_rows(schema)}, but the table was read with another choice: "
                f"{taken.choice.in_words()}. Read it with the choice of the schema, or correct `rows` in the schema"
            )
        )
    return schema.with_rows(schema.rows.completed_by(taken.choice))


def warn_of_missing_in_condition(schema: FeatureSchema, validated: pd.DataFrame, *, stacklevel: int) -> None:
    """Warn of rows that were taken by comparing a value which the schema takes for missing, such as -9 for an age."""
    if rows_taken(validated) is None or schema.rows.where is None:
        return
    compared = [name for name in compared_columns(parsed(schema.rows.where)) if name in validated]
    missing = {name: int(validated[name].isna().sum()) for name in compared}
    found = [f"{quoted(name)} ({count:,} rows)" for name, count in missing.items() if count]
    if found:
        warnings.warn(
            limited(
                f"rows were taken by a condition on {listed(found)}, in which the schema takes their values for "
                "missing. If the condition compared missing codes, leave them out in it, as in: age != -9 and age < 18"
            ),
            CohortWarning,
            stacklevel=stacklevel + 1,
        )


def warn_of_other_rows(schema: FeatureSchema, table: object, *, stacklevel: int) -> None:
    """Warn if a table of new subjects was read with another choice of rows than the table of the fit."""
    taken = rows_taken(table) if isinstance(table, pd.DataFrame) else None
    fitted = schema.rows.by_values  # the rows of a sheet are those of one table, and say nothing of another
    if taken is None or fitted is None or taken.choice.follows(fitted):
        return
    warnings.warn(
        limited(f"the model was fitted on {_rows(schema)}; of this table these are taken: {taken.choice.in_words()}"),
        CohortWarning,
        stacklevel=stacklevel + 1,
    )


def hint_at_rows(schema: FeatureSchema) -> str:
    """Return which rows the table of a fit was made of, in parentheses after a message; nothing if it is not known."""
    return limited(f" (the model was fitted on {_rows(schema)})") if schema.rows else ""


def _rows(schema: FeatureSchema) -> str:
    return f"some rows of its table: {schema.rows.in_words()}"
