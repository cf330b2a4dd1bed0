"""The sheet Data: all numbers of a report in one tidy table, for filters, pivot tables and other programs."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import Column, Sheet, Table, Value
from clinclust.reporting.sheets.effect_sizes import left_out
from clinclust.reporting.sheets.few_subjects import not_tested

__all__ = ["tidy_data"]

_ALL_SUBJECTS = 0
# Title of each kind of row in the comparisons.
_KINDS = {
    "summary": "Summary",
    "contrast": "Descriptive contrast",
    "test": "Pairwise test",
    "effect": "Effect size",
}
_IDENTITY = ("Kind", "Section", "Feature", "Column", "Level", "Clustered on", "Subtype", "Versus", "Method")
# Columns of numbers, by their names in the comparisons and the associations.
_NUMBERS = (
    *("n", "missing", "count", "percent", "mean", "sd", "median", "q1", "q3"),
    *("statistic", "df", "df2", "p", "q", "estimate", "lower", "upper"),
)
_OF_KIND = {
    "Summary": {"n", "missing", "count", "percent", "mean", "sd", "median", "q1", "q3"},
    "Descriptive contrast": {"n", "missing", "statistic", "df", "df2", "p", "q"},
    "Pairwise test": {"n", "missing", "statistic", "df", "p", "q"},
    "Effect size": {"n", "estimate", "lower", "upper"},
    "Validated association": {"n", "statistic", "df", "df2", "p", "q"},
}


def tidy_data(findings: Findings) -> Sheet:
    """Return the sheet: one row for each summary, test or effect size.

    Each cell holds one value; it is empty if rows of this kind do not have the number.
    """
    columns = [*(Column(title) for title in _IDENTITY), *(Column(name, "any") for name in _NUMBERS)]
    notes = [
        "One summary, test or effect size a row, for filters, pivot tables and other programs: the same numbers as in "
        "the other sheets. lower and upper are the ends of the 95% confidence interval of estimate.",
        *not_tested(findings),
        *left_out(findings),
    ]
    table = Table("Every number of the report", columns, list(_rows(findings)), stub=4, plain=True)
    return Sheet("Data", notes, [table])


def _rows(findings: Findings) -> Iterator[list[Value]]:
    for kind, title in _KINDS.items():
        for row in findings.rows(kind):
            if findings.has_many_pairs and row["subtype"] and row["versus"]:
                continue
            method = number_of(row, "measure" if kind == "effect" else "test")
            names = _OF_KIND[title] - (set() if row["level"] is not None else {"count", "percent"})
            yield _row(findings, title, row, row["level"], method if isinstance(method, str) else None, names)
    for row in findings.association_rows():
        if isinstance(row["method"], str):
            method = f"{row['method']}: {row['test']}"
            title = "Validated association"
            yield _row(findings, title, row, None, method, _OF_KIND[title])


def _row(
    findings: Findings, title: str, row: Row, level: str | None, method: str | None, names: Collection[str]
) -> list[Value]:
    numbers = {name: number_of(row, name) for name in names}
    return [title, *_identity(findings, row, level), method, *(numbers.get(name) for name in _NUMBERS)]


def _identity(findings: Findings, row: Row, level: str | None) -> list[Value]:
    feature = findings.model.schema_[row["feature"]]
    clustered_on = findings.clustered_on_text(feature)
    return [feature.section, str(row["label"]), feature.name, level, clustered_on, *_compared(findings, row)]


def _compared(findings: Findings, row: Row) -> tuple[str | None, str | None]:
    """Return the titles of the group of a row and of the group that it is compared with; None if there is none."""
    subtype, versus = (row.get(name) for name in ("subtype", "versus"))
    if not isinstance(subtype, int):
        return ("All subtypes", None)
    against = findings.versus(versus) if isinstance(versus, int) else None
    return ("All subjects" if subtype == _ALL_SUBJECTS else findings.name(subtype), against)
