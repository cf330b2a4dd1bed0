"""Write the numbers of a report for programs: all sheets and tested divisions as JSON, or one tidy table."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clinclust.files.writing import atomic_write, write_text
from clinclust.reporting.assignments import write_inert_csv
from clinclust.reporting.divisions import Division
from clinclust.reporting.layout import Sheet, Table


def write_results(sheets: Sequence[Sheet], path: Path, *, title: str, divisions: Sequence[Division]) -> None:
    """Write the sheets and the tested divisions to `path`, reproducibly; what is no number is null."""
    from clinclust import __version__

    found = {
        "clinclust": __version__,
        "title": title,
        "divisions": [division_facts(division) for division in divisions],
        "sheets": {sheet.name: _content(sheet) for sheet in sheets},
    }
    write_text(json_text(found), path)


def write_tidy(sheet: Sheet, path: Path) -> None:
    """Write the sheet of all numbers, one summary, test or effect size a row, as csv or parquet.

    A column with withheld numbers is of texts, so that it has one type.
    """
    (table,) = sheet.tables
    columns = {}
    for place, column in enumerate(table.columns):
        values = [row[place] for row in table.rows]
        is_text = column.kind == "text" or any(isinstance(value, str) for value in values)
        cells = [None if value is None else str(value) for value in values] if is_text else values
        columns[column.title.lower().replace(" ", "_")] = pd.Series(cells, dtype=object if is_text else np.float64)
    found = pd.DataFrame(columns)
    if path.suffix.lower() == ".csv":
        write_inert_csv(found, path)
        return
    with atomic_write(path) as target:
        found.to_parquet(target, index=False)


def json_text(found: dict[str, Any]) -> str:
    """Return facts as JSON with a line end; what is no number is null."""
    return json.dumps(_finite(found), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def division_facts(division: Division) -> dict[str, Any]:
    """Return a tested division as facts for a program."""
    return {**asdict(division), "excess": division.excess, "result": division.result, "said": division.p_said}


def _content(sheet: Sheet) -> dict[str, Any]:
    return {"notes": [*sheet.notes, *sheet.explanations], "tables": [_table(table) for table in sheet.tables]}


def _table(table: Table) -> dict[str, Any]:
    columns = [": ".join(filter(None, (*column.group, column.title))) for column in table.columns]
    rows = list(map(list, table.rows))
    return {"caption": table.caption, "columns": columns, "rows": rows, "notes": list(table.notes)}


def _finite(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
