"""The sheet of a report that holds the subtype table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.reporting.subtype_table import subtype_table

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings
    from clinclust.reporting.layout import Sheet

__all__ = ["subtype_table_sheet"]


def subtype_table_sheet(findings: Findings) -> Sheet:
    """Return the subtype table of the report, features in its order, every number in a cell of its own."""
    table = subtype_table(
        findings.comparisons,
        associations=findings.associations,
        names=findings.names,
        features=[feature.name for feature in findings.features],
        title="Every feature in all subjects and in each subtype",
    )
    return table.sheet()
