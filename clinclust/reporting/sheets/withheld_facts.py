"""Withhold the facts of the summary that are made of features of which a number is withheld."""

from __future__ import annotations

from dataclasses import replace

from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Sheet, Value
from clinclust.reporting.sheets.blocks import worth_of_blocks
from clinclust.reporting.sheets.summary import ABOVE_ZERO

__all__ = ["without_withheld_facts"]


def without_withheld_facts(sheet: Sheet, findings: Findings) -> Sheet:
    """Return the sheet Summary without the facts that would tell of withheld numbers.

    The number of features with a relevance above 0 less that of those whose relevance is shown is that of the withheld
    ones, and what a block counts for follows from all values of its features.
    """
    fit = findings.fit
    if fit is None or not findings.withholds_evidence:
        return sheet
    facts: dict[str, Value] = {f"Block {block}": worth for block, worth in _worth(findings).items()}
    facts[ABOVE_ZERO] = WITHHELD
    tables = [
        replace(table, rows=[[row[0], facts.get(str(row[0]), row[1])] if len(row) == 2 else row for row in table.rows])
        for table in sheet.tables
    ]
    return replace(sheet, tables=tables)


def _worth(findings: Findings) -> dict[str, str]:
    return {} if findings.fit is None else worth_of_blocks(findings.fit, findings.read.withheld)
