"""The sheet Subtype table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.reporting.subtype_table.building import table_of

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings
    from clinclust.reporting.layout import Sheet

__all__ = ["subtype_table_sheet"]


def subtype_table_sheet(findings: Findings) -> Sheet:
    """Return the sheet: the subtype table in the order of the report, with each number in its own cell."""
    table = table_of(
        findings.comparisons,
        associations=findings.associations,
        names=findings.names,
        features=[feature.name for feature in findings.features],
        marks={} if findings.is_shared else dict(enumerate(findings.marks, start=1)),
        title="Every feature in all subjects and in each subtype",
    )
    return table.sheet()
