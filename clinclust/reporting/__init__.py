"""Reports of subtypes for people: an Excel workbook or a web page, from the same tables."""

from __future__ import annotations

from clinclust.reporting.report import write_report

__all__ = ["write_report"]
