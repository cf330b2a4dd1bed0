"""The sheet Data: every number of a report in a row of its own, for filters, pivot tables and other programs."""

from __future__ import annotations

from collections.abc import Iterator

from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import Column, Sheet, Table, Value

__all__ = ["tidy_data"]

_ALL_SUBJECTS = 0
_OF_SUMMARY = ("n", "missing", "mean", "sd", "median", "q1", "q3")
_OF_TEST = ("statistic", "df", "p", "q", "standardised_difference")
_OF_CONTRAST = ("statistic", "df", "df2", "p", "q")

# What a kind of row is called for a reader, and what its numbers are, beside the effect sizes.
_KINDS = {
    "summary": ("Summary", _OF_SUMMARY),
    "contrast": ("Descriptive contrast", _OF_CONTRAST),
    "test": ("Pairwise test", _OF_TEST),
}


def tidy_data(findings: Findings) -> Sheet:
    """One number a row: whose it is, what it is, and the ends of its interval where it has one."""
    columns = [
        *(Column(title) for title in ("Kind", "Section", "Feature", "Column", "Level", "Clustered on")),
        *(Column(title) for title in ("Subtype", "Versus", "Method", "Number")),
        *(Column(title, "any") for title in ("Value", "Lower", "Upper")),
    ]
    notes = [
        "One number a row, for filters, pivot tables and other programs: the same numbers as in the other sheets. "
        "Lower and Upper are the ends of a 95% confidence interval."
    ]
    table = Table("Every number of the report", columns, list(_rows(findings)), stub=4, plain=True)
    return Sheet("Data", notes, [table], workbook_only=True)


def _rows(findings: Findings) -> Iterator[list[Value]]:
    for kind, (title, names) in _KINDS.items():
        for row in findings.rows(kind):
            level = row["level"] if isinstance(row["level"], str) else None
            shares = ("count", "percent") if kind == "summary" and level is not None else ()
            method = row["test"] if isinstance(row["test"], str) else None
            for name in (*names, *shares):
                value = number_of(row, name)
                if value is not None:
                    yield [title, *_identity(findings, row, level), method, name, value, None, None]
    for row in findings.rows("effect"):
        numbers = [number_of(row, name) for name in ("estimate", "lower", "upper")]
        if numbers[0] is not None:
            yield ["Effect size", *_identity(findings, row, row["level"]), None, str(row["measure"]), *numbers]
    for row in findings.association_rows():
        method = f"{row['method']}: {row['test']}"
        for name in _OF_CONTRAST:
            value = number_of(row, name)
            if value is not None:
                yield ["Validated association", *_identity(findings, row, None), method, name, value, None, None]


def _identity(findings: Findings, row: Row, level: str | None) -> list[Value]:
    feature = findings.model.schema_[row["feature"]]
    clustered_on = "yes" if findings.clustered_on(feature) else "no"
    return [feature.section, feature.title, feature.name, level, clustered_on, *_compared(findings, row)]


def _compared(findings: Findings, row: Row) -> tuple[str | None, str | None]:
    """Return the subtype of a row, and what it is compared with."""
    subtype, versus = (row.get(name) for name in ("subtype", "versus"))
    if not isinstance(subtype, int):
        return ("All subtypes", None)
    against = findings.versus(versus) if isinstance(versus, int) else None
    return ("All subjects" if subtype == _ALL_SUBJECTS else findings.name(subtype), against)
