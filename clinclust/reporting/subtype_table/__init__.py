"""The subtype table: summaries of every feature in all subjects and in each subtype ("Table 1" of a paper)."""

from __future__ import annotations

from clinclust.reporting.subtype_table.table import SubtypeTable, subtype_table

__all__ = ["SubtypeTable", "subtype_table"]
