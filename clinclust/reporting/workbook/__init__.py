"""Write sheets as an Excel workbook."""

from __future__ import annotations

from clinclust.reporting.workbook.workbook import write_workbook

__all__ = ["write_workbook"]
