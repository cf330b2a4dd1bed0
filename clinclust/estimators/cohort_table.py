"""The cohort as a table of named columns, from a DataFrame or an array, with its schema and choice of rows.

Messages about arrays use the words that the estimator checks of scikit-learn look for.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.data_frames import TABLE, in_pandas
from clinclust.errors import CohortWarning, InputError
from clinclust.files.listed import limited, listed, quoted
from clinclust.files.selection.condition import compared_columns, parsed
from clinclust.files.selection.row_choice import rows_taken
from clinclust.schema import FeatureSchema


def schema_with_rows(schema: FeatureSchema, frame: pd.DataFrame, *, stacklevel: int) -> FeatureSchema:
    """Return the schema with the choice of rows of its file, if known.

    InputError is raised if the table was read with another choice, CohortWarning issued if that is unknown.
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
    """Warn of rows that were chosen by a value which the schema takes for missing, such as -9 for an age."""
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
    """Warn if new subjects were read with another choice of rows than the cohort."""
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
    """Return the choice of rows of the cohort in parentheses, for a message; empty if unknown."""
    return limited(f" (the model was fitted on {_rows(schema)})") if schema.rows else ""


def _rows(schema: FeatureSchema) -> str:
    return f"some rows of its table: {schema.rows.in_words()}"


def cohort_and_schema(
    X: pd.DataFrame | ArrayLike, schema: FeatureSchema | None, *, stacklevel: int, progress: bool = True
) -> tuple[pd.DataFrame, FeatureSchema]:
    """Return the validated columns and the schema of the fit; without a schema, draft one (which warns).

    Raises CohortError and InputError for unusable tables. Stack level 1 is the caller.
    """
    X = in_pandas(X)
    if schema is None:
        from clinclust.drafting import draft_schema
        from clinclust.schema import schema_for_array

        if isinstance(X, pd.DataFrame):
            schema = draft_schema(X, progress=progress)
            warnings.warn(
                "No schema was given, so one was drafted from the data (see `schema_`); look it over, "
                "because the likelihoods decide what is found",
                CohortWarning,
                stacklevel=stacklevel + 1,
            )
        else:
            schema = schema_for_array(_array(X, "X"))
    table = named_table(X, schema.names)
    schema = schema_with_rows(schema, table, stacklevel=stacklevel + 1)
    validated = schema.validate(table, warn=False)
    warn_of_missing_in_condition(schema, validated, stacklevel=stacklevel + 1)
    return validated, schema


def named_table(X: pd.DataFrame | ArrayLike, names: Sequence[str]) -> pd.DataFrame:
    """Return a table as a DataFrame, an array with the columns `names`; InputError if it does not fit."""
    X = in_pandas(X)
    if isinstance(X, pd.DataFrame):
        return X
    table = _array(X, "X")
    if table.shape[1] != len(names):
        raise InputError(f"The array X has {table.shape[1]} columns, the schema {len(names)}: {', '.join(names)}")
    return pd.DataFrame(table, columns=list(names))


def table_of_fitted(X: pd.DataFrame | ArrayLike, names: Sequence[str], *, called: str = "X") -> pd.DataFrame:
    """Return the same for new subjects of a fitted model; `called` names the argument in errors."""
    X = in_pandas(X)
    if isinstance(X, pd.DataFrame):
        return X
    table = _array(X, called)
    if table.shape[1] != len(names):
        raise InputError(
            f"{called} has {table.shape[1]} features, but MAPDP is expecting {len(names)} features as input: "
            f"{', '.join(names)}"
        )
    return pd.DataFrame(table, columns=list(names))


def _array(X: ArrayLike, called: str) -> NDArray[Any]:
    """Return a two-dimensional array of at least one column; masked values become missing."""
    sparse = sys.modules.get("scipy.sparse")  # a sparse matrix exists only if its package was imported
    if sparse is not None and sparse.issparse(X):
        raise InputError(
            f"{called}: sparse data was passed, but dense data is required; use {called}.toarray(), in which every "
            "value that is not stored is 0, not missing"
        )
    if not isinstance(X, np.ndarray) and (hasattr(X, "column_names") or hasattr(X, "columns")):
        raise InputError(
            f"{called} is a {type(X).__module__.partition('.')[0]} {type(X).__name__}, whose columns have names; pass "
            f"{called}.to_pandas(), in which columns are found by their names"
        )
    if X is None or isinstance(X, str | bytes | dict | set):
        raise InputError(f"{called} must be {TABLE}, or an array of shape (N, D), not {type(X).__name__}")
    try:
        table = _unmasked(X) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"{called} cannot be read as an array of shape (N, D); every subject needs the same number of values"
        ) from error
    if table.ndim != 2:
        raise InputError(
            f"{called} must be a table of shape (N, D), with one row for each subject; this array has shape "
            f"{table.shape}. Reshape your data: array.reshape(1, -1) for one subject, array.reshape(-1, 1) for one "
            "feature"
        )
    if table.shape[1] == 0:
        raise InputError(f"{called} has 0 feature(s) (shape={table.shape}) while a minimum of 1 is required.")
    if np.iscomplexobj(table):
        raise InputError(f"{called}: Complex data not supported; give the real and the imaginary part a column each")
    return table.astype(np.float64) if table.dtype == np.longdouble else table


def _unmasked(X: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return a masked array with its masked values missing."""
    of_numbers = X.dtype.kind in "biuf"
    table = np.array(X.data, dtype=np.float64 if of_numbers else object)
    table[np.ma.getmaskarray(X)] = np.nan if of_numbers else None
    return table
