"""The cohort as a table of named columns, from a DataFrame or an array, with its schema and the rows that it takes.

The messages about arrays hold the words that scikit-learn's own checks of estimators look for.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.errors import CohortWarning, InputError
from clinclust.files.listed import limited, listed, quoted
from clinclust.files.selection.condition import compared_columns, parsed
from clinclust.files.selection.row_choice import rows_taken
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema


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


def cohort_and_schema(
    X: pd.DataFrame | ArrayLike, schema: FeatureSchema | None, *, stacklevel: int, progress: bool = True
) -> tuple[pd.DataFrame, FeatureSchema]:
    """Return the validated columns and the schema of the fit; if no schema is given, draft one from the data.

    Parameters
    ----------
    X : DataFrame or array, shape (N, D)
    schema : FeatureSchema or None
    stacklevel : int
        Stack level of the warnings; 1 is the caller of this function.
    progress : bool
        Whether to tell the stages of drafting.

    Raises
    ------
    CohortError
        If the table does not fit the schema.
    ValueError
        If an array is no table of numbers or texts, its number of columns differs from that of the schema, or a table
        was read with another choice of rows than the schema says.

    Warns
    -----
    CohortWarning
        If no schema was given, it says which rows are taken and nothing tells whether the table holds these, or rows
        were taken for values that the schema takes for missing.
    """
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


def named_table(X: pd.DataFrame | ArrayLike, names: tuple[str, ...]) -> pd.DataFrame:
    """Return a DataFrame as it is, and an array as a DataFrame whose columns are `names`, in this order.

    Raises
    ------
    ValueError
        If an array is no table of numbers or texts, or its number of columns differs from the number of names.
    """
    if isinstance(X, pd.DataFrame):
        return X
    table = _array(X, "X")
    if table.shape[1] != len(names):
        raise InputError(f"The array X has {table.shape[1]} columns, the schema {len(names)}: {', '.join(names)}")
    return pd.DataFrame(table, columns=list(names))


def table_of_fitted(X: pd.DataFrame | ArrayLike, names: tuple[str, ...], *, called: str = "X") -> pd.DataFrame:
    """Return what `named_table` returns, for new subjects of a fitted model; `called` names the argument in errors."""
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
    """Return a two-dimensional array of at least one column; a masked value is missing in it."""
    sparse = sys.modules.get("scipy.sparse")  # nobody can hold a sparse matrix of a package that was not imported
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
        raise InputError(f"{called} must be a DataFrame or an array of shape (N, D), not {type(X).__name__}")
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
    """Return a masked array with every masked value missing; `np.asarray` would bring back what was masked."""
    of_numbers = X.dtype.kind in "biuf"
    table = np.array(X.data, dtype=np.float64 if of_numbers else object)
    table[np.ma.getmaskarray(X)] = np.nan if of_numbers else None
    return table
