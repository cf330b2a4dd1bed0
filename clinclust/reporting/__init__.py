"""Reports of subtypes as an Excel workbook or a web page, made from the same tables."""

from __future__ import annotations

from clinclust.reporting.report import write_report

__all__ = ["write_report"]
