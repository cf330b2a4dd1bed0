"""The numbers of the table: as a tidy frame, and each in its own cell for the sheet Numbers of a workbook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from clinclust.comparisons.frame import WITHHELD, Record, is_missing, is_suppressed
from clinclust.reporting.layout import Column, Table, Value, as_value
from clinclust.reporting.subtype_table.plan import Line, Plan, clean
from clinclust.reporting.subtype_table.summaries import decimals_of

_COLUMNS = {
    "n": Column("n", "0"),
    "missing": Column("Missing", "0"),
    "count": Column("Count", "0"),
    "percent": Column("%", "0.0"),
    "mean": Column("Mean", "measure"),
    "sd": Column("SD", "measure"),
    "q1": Column("Q1", "measure"),
    "median": Column("Median", "measure"),
    "q3": Column("Q3", "measure"),
    "total": Column("Total", "0"),
}
_COUNTED = ("n", "missing", "count", "percent", "mean")
_MEASURED = ("n", "missing", "mean", "sd", "q1", "median", "q3")


def numbers_of(plan: Plan) -> pd.DataFrame:
    """Return a tidy frame with one row for each number of the table, as `SubtypeTable.numbers`."""
    rows = [
        {
            "section": line.feature.section,
            "feature": line.feature.name,
            "label": line.feature.label,
            "unit": line.feature.unit,
            "level": line.level,
            **quantity,
        }
        for line in plan.lines()
        if line.kind != "missing"
        for quantity in _quantities(plan, line)
    ]
    types = dict.fromkeys(("section", "feature", "label", "unit", "level"), "string") | {
        "subtype": "Int64",
        "quantity": "string",
        "value": "float64",
        "suppressed": "boolean",
    }
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def _quantities(plan: Plan, line: Line) -> Iterator[dict[str, Any]]:
    for group in plan.groups if line.kind != "heading" else ():
        record = line.records[group]
        for name, value in _summaries(plan, line, record).items():
            yield _quantity(group, name, value, is_suppressed(record))
    test, validated = plan.descriptive(line), plan.validated(line)
    if test:
        yield _quantity(None, "descriptive p", test["p"], is_suppressed(test))
    for name in ("p", "q") if validated else ():
        yield _quantity(None, f"validated {name}", validated[name], False)


def _summaries(plan: Plan, line: Line, record: Record) -> dict[str, Any]:
    """Return the numbers of a group: of a share its count, else mean, quartiles and the total of events."""
    if line.summary == "n":
        return {name: record[name] for name in _COUNTED}
    found = {name: record[name] for name in _MEASURED}
    if line.feature.traits.is_count and plan.has_totals:
        is_known = not is_missing(record["n"]) and not is_missing(record["mean"])
        found["total"] = round(record["n"] * record["mean"]) if is_known else None
    return found


def _quantity(subtype: int | None, name: str, value: Any, is_withheld: bool) -> dict[str, Any]:
    number = float("nan") if is_missing(value) else float(value)
    return {"subtype": subtype, "quantity": name, "value": number, "suppressed": is_missing(value) and is_withheld}


def numbers_table_of(plan: Plan) -> Table:
    """Return the numbers of every group, a feature or level a row, for the sheet Numbers."""
    lines = [line for line in plan.lines() if line.kind not in ("heading", "missing")]
    held = {name for line in lines for name in _summaries(plan, line, line.records[plan.groups[0]])}
    shown = [name for name in _COLUMNS if name in held]
    columns = [Column("Feature"), Column("Level")]
    for group in plan.groups:
        *who, number = plan.heading(group)
        columns += [replace(_COLUMNS[name], group=(": ".join(who), number)) for name in shown]
    rows: list[list[Value]] = []
    for line in lines:
        row: list[Value] = [clean(line.feature.title), None if line.level is None else clean(line.level)]
        for group in plan.groups:
            record = line.records[group]
            numbers = _summaries(plan, line, record)
            row += [_value(numbers[name], record) if name in numbers else None for name in shown]
        rows.append(row)
    bands = [clean(line.feature.section) or "No section" for line in lines]
    decimals = [decimals_of(line.feature, "mean") for line in lines]
    bands = bands if set(bands) != {"No section"} else []
    return Table("The numbers of every subtype", columns, rows, bands, decimals, stub=2)


def _value(number: Any, record: Record) -> Value:
    if is_missing(number):
        return WITHHELD if is_suppressed(record) else None
    return as_value(number)
