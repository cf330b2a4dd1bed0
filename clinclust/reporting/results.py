"""Write a report as JSON, for programs: the cells of the sheets as numbers and texts, and the tested divisions."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clinclust.files.writing import atomic_write
from clinclust.reporting.divisions import Division
from clinclust.reporting.layout import Sheet, Table


def write_results(sheets: Sequence[Sheet], path: Path, *, title: str, divisions: Sequence[Division]) -> None:
    """Write the sheets and the tested divisions to `path`, reproducibly; what is no number is null."""
    from clinclust import __version__

    found = {
        "clinclust": __version__,
        "title": title,
        "divisions": [_division(division) for division in divisions],
        "sheets": {sheet.name: _content(sheet) for sheet in sheets},
    }
    with atomic_write(path) as target:
        target.write_text(json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n", encoding="utf-8")


def _division(division: Division) -> dict[str, Any]:
    return {**_finite(asdict(division)), "excess": division.excess, "result": division.result, "said": division.p_said}


def _content(sheet: Sheet) -> dict[str, Any]:
    return {"notes": [*sheet.notes, *sheet.explanations], "tables": [_table(table) for table in sheet.tables]}


def _table(table: Table) -> dict[str, Any]:
    columns = [": ".join(filter(None, (*column.group, column.title))) for column in table.columns]
    rows = [_finite(list(row)) for row in table.rows]
    return {"caption": table.caption, "columns": columns, "rows": rows, "notes": list(table.notes)}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
