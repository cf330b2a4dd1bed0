"""The first sheet of a workbook, which begins with what matters most; a page has it in its overview."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clinclust.reporting.sheets.continuum import continuum_table, on_continuum_score
from clinclust.reporting.sheets.divisions import divisions_table, on_the_test, verdict
from clinclust.reporting.sheets.few_subjects import on_few_subjects, on_merged_groups

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings
    from clinclust.reporting.layout import Sheet

__all__ = ["with_the_test"]


def with_the_test(summary: Sheet, findings: Findings) -> Sheet:
    """Return the sheet Summary with what comes before all else: the test of the tree, and subtypes of few subjects."""
    sharing, *others = summary.notes
    small = [*on_merged_groups(findings), *on_few_subjects(findings)]
    said = [*verdict(findings), *small, *on_continuum_score(findings), *on_the_test(findings)]
    tables = [*divisions_table(findings), *continuum_table(findings), *summary.tables]
    return replace(summary, notes=[sharing, *said, *others], tables=tables)
