"""The table that a user passes to an estimator: a DataFrame, or an array whose columns follow the schema's order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.errors import CohortWarning, InputError
from clinclust.schema import FeatureSchema

__all__ = ["cohort_and_schema", "named_table"]


def cohort_and_schema(
    X: pd.DataFrame | ArrayLike, schema: FeatureSchema | None, *, stacklevel: int
) -> tuple[pd.DataFrame, FeatureSchema]:
    """Return the validated columns and the schema; if no schema is given, draft one from the data.

    Parameters
    ----------
    X : DataFrame or array, shape (N, D)
    schema : FeatureSchema or None
    stacklevel : int
        Stack level of the warning that a schema was drafted; 1 is the caller of this function.

    Raises
    ------
    CohortError
        If the table does not fit the schema.
    ValueError
        If an array is not two-dimensional, or its number of columns differs from that of the schema.
    """
    if schema is None:
        from clinclust.schema import draft_schema, schema_for_array

        if isinstance(X, pd.DataFrame):
            schema = draft_schema(X)
            warnings.warn(
                "No schema was given, so one was drafted from the data (see `schema_`); look it over, "
                "because the likelihoods decide what is found",
                CohortWarning,
                stacklevel=stacklevel + 1,
            )
        else:
            schema = schema_for_array(_array(X))
    return schema.validate(named_table(X, schema.names), warn=False), schema


def named_table(X: pd.DataFrame | ArrayLike, names: tuple[str, ...]) -> pd.DataFrame:
    """Return a DataFrame as it is, and an array as a DataFrame whose columns are `names`, in this order.

    Raises
    ------
    ValueError
        If an array is not two-dimensional, or its number of columns differs from the number of names.
    """
    if isinstance(X, pd.DataFrame):
        return X
    table = _array(X)
    if table.shape[1] != len(names):
        raise InputError(f"The array has {table.shape[1]} columns, the schema {len(names)}: {', '.join(names)}")
    return pd.DataFrame(table, columns=list(names))


def _array(X: ArrayLike) -> NDArray[Any]:
    table = np.asarray(X)
    if table.ndim != 2:
        raise InputError(f"A cohort is a table of shape (N, D); this array has shape {table.shape}")
    return table
