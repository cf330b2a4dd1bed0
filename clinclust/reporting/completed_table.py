"""Tables with missing values filled in, as files: with what was filled in each row."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import InputError
from clinclust.files.writing import atomic_write
from clinclust.reporting.assignments import write_inert_csv

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema

IMPUTATION, FILLED = "imputation", "filled_columns"
"""Columns that are added: the number of the table, from 1, and the names of the columns filled in this row."""
SUFFIXES = (".csv", ".xlsx", ".parquet")
_DIGITS = 6
_MOST_ROWS = 1_048_576


def problems_of_file(path: Path, n_rows: int) -> list[str]:
    """Return why a file of this name cannot hold so many rows."""
    suffix = path.suffix.lower()
    if suffix == ".xlsx" and n_rows >= _MOST_ROWS:
        return [f"{path} would have {n_rows:,} rows, and a sheet holds {_MOST_ROWS - 1:,}; write .csv or .parquet"]
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        return [f"{path} needs the package pyarrow: pip install pyarrow; or write .csv"]
    return []


def completed_table(frame: pd.DataFrame, schema: FeatureSchema, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the table as it was read with its missing cells filled, once for each imputation, one below the other.

    Columns that the schema does not model stay as they were read; the cells of others are those that it validates.
    """
    taken = [name for name in (IMPUTATION, FILLED) if name in frame]
    if taken:
        raise InputError(f"the table has a column {' and a column '.join(map(repr, taken))}, which is added; rename it")
    seen = schema.validate(frame, warn=False)
    missing = _filled(seen, schema, tables[0])
    names = np.array([""] * len(frame), dtype=object)
    for name, rows in missing.items():
        names[rows] = [f"{before}; {name}" if before else name for before in names[rows]]
    found = []
    for number, table in enumerate(tables, start=1):
        filled = frame.copy()
        for name, rows in missing.items():
            column = table[name]
            if pd.api.types.is_float_dtype(column) and np.isinf(column).any():  # beyond a limit of detection
                cells = filled[name].astype(object)
                cells.iloc[rows] = _as_written(column.iloc[rows], seen[name], frame[name])
                filled[name] = cells.map(str)
            else:
                filled[name] = _in_few_digits(column, rows)
        filled.insert(0, IMPUTATION, number)
        filled[FILLED] = names
        found.append(filled)
    return pd.concat(found)


def _filled(seen: pd.DataFrame, schema: FeatureSchema, table: pd.DataFrame) -> dict[str, NDArray[np.int64]]:
    """Return the rows in which each column of a validated table is filled in a completed one, int64 (n,)."""
    return {
        feature.name: np.flatnonzero(seen[feature.name].isna() & table[feature.name].notna())
        for feature in schema.reported
    }


def _in_few_digits(column: pd.Series[Any], rows: NDArray[np.int64]) -> pd.Series[Any]:
    """Return a column of numbers with the drawn ones in six digits."""
    if not pd.api.types.is_float_dtype(column):
        return column
    column = column.copy()
    column.iloc[rows] = [float(f"{cell:.{_DIGITS}g}") for cell in column.iloc[rows]]
    return column


def _as_written(cells: pd.Series[Any], seen: pd.Series[Any], as_read: pd.Series[Any]) -> list[str]:
    """Return drawn cells in six digits; those beyond a limit of detection as an observed one is written."""
    limits = {cell: str(as_read[(seen == cell).to_numpy()].iloc[0]) for cell in seen.unique() if np.isinf(cell)}
    return [limits[cell] if np.isinf(cell) else f"{cell:.{_DIGITS}g}" for cell in cells]


def filled_cells(frame: pd.DataFrame, schema: FeatureSchema, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return how many cells of each column are filled in each completed table, of how many rows."""
    filled = _filled(schema.validate(frame, warn=False), schema, tables[0])
    rows = [(name, rows.size, len(frame)) for name, rows in filled.items() if rows.size]
    return pd.DataFrame(rows, columns=["column", "filled", "rows"])


def write_completed(table: pd.DataFrame, counts: pd.DataFrame, path: Path) -> None:
    """Write the table of `completed_table` as csv or parquet, or with its `filled_cells` as a workbook."""
    if path.suffix.lower() == ".csv":
        write_inert_csv(table, path)
    elif path.suffix.lower() == ".parquet":
        with atomic_write(path) as target:
            table.to_parquet(target, index=False)
    else:
        with atomic_write(path) as target:
            _write_sheets({"Completed": table, "Filled": counts}, target)


def _write_sheets(tables: dict[str, pd.DataFrame], path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    workbook = Workbook(write_only=True)
    for title, table in tables.items():
        sheet = workbook.create_sheet(title)
        sheet.freeze_panes = "A2"
        for row in [list(table.columns), *table.astype(object).where(table.notna(), None).to_numpy().tolist()]:
            cells = []
            for value in row:
                cell = WriteOnlyCell(sheet, str(value) if isinstance(value, str) else value)
                if isinstance(value, str):
                    cell.data_type = "s"  # never a formula
                cells.append(cell)
            sheet.append(cells)
    workbook.save(path)
