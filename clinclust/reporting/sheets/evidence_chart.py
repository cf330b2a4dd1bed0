"""The chart of a workbook on the divisions that were tested: evidence beside that of one continuous population."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from clinclust.reporting.layout import Chart, Column, Table, Value
from clinclust.reporting.sheets.divisions import evidence_in_words

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings

__all__ = ["evidence_chart", "evidence_table"]

_LONGEST_NAME = 60
_LEFT_END = -3.0


def evidence_table(findings: Findings) -> Table:
    """Return the numbers of the chart, a row for each division."""
    columns = [Column("Division"), *(Column(title, "0.0") for title in ("Excess (SDs)", "One population", "Two SDs"))]
    rows: list[list[Value]] = [
        [_name(f"{each.number}: {each.title}"), each.excess / each.expected_sd, 0.0, 2.0] for each in findings.divisions
    ]
    return Table("Divisions tested: excess of the evidence over one continuous population", columns, rows)


def evidence_chart(findings: Findings, table: int) -> Chart:
    """Return the chart of the table with this index."""
    told = "; ".join(map(evidence_in_words, findings.divisions))
    return Chart(
        table,
        "expected",
        "Divisions tested: more than a continuum?",
        "Point: evidence for the division; line: one continuous population (mean ± 2 SD), in SDs from its mean",
        f"The evidence for each division beside that of one continuous population: {told}.",
        value=1,
        below=3,
        above=3,
        expected=2,
        least=float(floor(min(_LEFT_END, *(each.excess / each.expected_sd for each in findings.divisions)))),
    )


def _name(title: str) -> str:
    return title if len(title) <= _LONGEST_NAME else f"{title[: _LONGEST_NAME - 1].rstrip()}…"
