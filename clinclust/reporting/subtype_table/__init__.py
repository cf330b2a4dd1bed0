"""The subtype table: every feature in all subjects and in each subtype, as papers print it ("Table 1")."""

from __future__ import annotations

from clinclust.reporting.subtype_table.building import subtype_table
from clinclust.reporting.subtype_table.table import SubtypeTable

__all__ = ["SubtypeTable", "subtype_table"]
