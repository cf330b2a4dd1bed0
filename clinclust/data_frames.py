"""Tables of other libraries, as pandas DataFrames: the only place that knows them."""

from __future__ import annotations

import sys
from typing import Any

from clinclust.errors import InputError, missing_package

TABLE = "a table of pandas, polars or pyarrow with one row for each subject"
"""What every function takes for a table; the end of the sentence "frame must be ..."."""
_LIBRARIES = ("polars", "pyarrow")


def is_partitioned(table: object) -> bool:
    """Return whether a table is a Dask DataFrame, without importing Dask."""
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(table, dask.DataFrame)


def in_pandas(table: Any) -> Any:
    """Return a table of polars or pyarrow as a pandas DataFrame, and anything else unchanged.

    Whole numbers of a column with missing values stay exact; they would become floats by default.
    """
    library = type(table).__module__.partition(".")[0]
    if library not in _LIBRARIES:
        return table
    if type(table).__name__ == "LazyFrame":
        raise InputError("a LazyFrame of polars holds no rows yet: pass what its collect() returns")
    if not (hasattr(table, "to_pandas") and hasattr(table, "columns")):  # a Series or an array
        return table
    try:
        return table.to_pandas(integer_object_nulls=True)
    except ModuleNotFoundError as error:
        raise missing_package(f"a table of {library}", "pyarrow") from error


def is_numbered(table: Any) -> bool:
    """Return whether the columns of a pandas table are 0, 1, ..., as pandas calls those of an array."""
    return len(table.columns) > 0 and list(table.columns) == list(range(len(table.columns)))
