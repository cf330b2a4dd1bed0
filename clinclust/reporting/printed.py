"""Round the numbers of a sheet to what is printed of them, so that a shared file stores nothing that nobody sees.

A cell that shows 0.01 and stores 0.014285714285714285 tells that it is 1 of 70. In a shared report the stored value is
the value printed. Below 0.001, where p is printed as "<0.001", one digit is stored, so that a column of p holds
numbers; columns without a fixed number of decimals keep four digits.
"""

from __future__ import annotations

from dataclasses import replace

from clinclust.reporting.layout import Kind, Sheet, Table, Value, number_text

__all__ = ["as_printed"]

_SMALLEST_P = 0.001


def as_printed(sheet: Sheet) -> Sheet:
    """Return the sheet with every number as it is printed."""
    return replace(sheet, tables=[_printed(table) for table in sheet.tables])


def _printed(table: Table) -> Table:
    kinds = [column.kind for column in table.columns]
    rows = [
        [_number(value, kind, table.decimals_of(place)) for value, kind in zip(row, kinds, strict=True)]
        for place, row in enumerate(table.rows)
    ]
    return replace(table, rows=rows)


def _number(value: Value, kind: Kind, decimals: int) -> Value:
    if not isinstance(value, float) or value.is_integer():
        return value
    if kind == "p" and value < _SMALLEST_P:
        return float(f"{value:.1g}")
    if kind in ("any", "text"):
        return float(f"{value:.4g}")
    return float(number_text(value, kind, decimals))
