"""The sheet Charts: the sizes of the subtypes, and the largest effects of each against all other subjects."""

from __future__ import annotations

from clinclust.likelihoods import traits_of
from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import Chart, Column, Sheet, Table, Value
from clinclust.reporting.sheets.evidence_chart import evidence_chart, evidence_table
from clinclust.reporting.sheets.few_subjects import not_tested

__all__ = ["charts"]

_MOST_FEATURES = 15
_MEASURE = "standardised_difference"
_LONGEST_NAME = 60


def charts(findings: Findings) -> Sheet:
    """Return the sheet: tables of numbers with their charts. Rows with withheld numbers are left out."""
    sizes = _sizes(findings)
    tables = [sizes]
    drawn = [
        Chart(
            0,
            "bars",
            "Size of the subtypes",
            "Subjects",
            f"Bars, one for each subtype: {'; '.join(f'{row[0]}, {row[1]} subjects' for row in sizes.rows)}.",
            value=1,
        )
    ]
    if findings.divisions and not findings.is_shared:
        drawn.append(evidence_chart(findings, len(tables)))
        tables.append(evidence_table(findings))
    for subtype in findings.sizes:
        table = _intervals(findings, subtype)
        if table.rows:
            drawn.append(
                Chart(
                    len(tables),
                    "forest",
                    table.caption,
                    "Standardised difference (95% confidence interval)",
                    f"Forest plot of the {len(table.rows)} largest standardised differences between "
                    f"{findings.name(subtype)} and all other subjects, each with its 95% confidence interval: "
                    f"{'; '.join(f'{row[0]} {row[1]:.2f}' for row in table.rows)}.",
                    value=1,
                    below=4,
                    above=5,
                )
            )
            tables.append(table)
    notes = [
        "The charts draw the numbers beside them. Intervals that include 0 are compatible with no difference; those "
        f"of features {findings.formed} are descriptive, because the subtypes were made to differ in them.",
        *not_tested(findings),
    ]
    return Sheet("Charts", notes, tables, drawn)


def _sizes(findings: Findings) -> Table:
    columns = [Column("Subtype"), Column("Subjects", "0"), Column("%", "0.0")]
    total = findings.n_subjects
    sizes = {subtype: findings.shown_sizes[subtype] for subtype in findings.sizes}
    rows: list[list[Value]] = [
        [findings.name(subtype), size, 100 * size / total] for subtype, size in sizes.items() if size is not None
    ]
    return Table("Size of the subtypes", columns, rows)


def _intervals(findings: Findings, subtype: int) -> Table:
    """Return the largest effects of a subtype against all other subjects, by decreasing estimate."""
    columns = [Column("Feature")]
    columns += [Column(title, "0.00") for title in ("Estimate", "Lower", "Upper", "Length below", "Length above")]
    effects = [row for feature in findings.by_relevance for row in findings.effects(feature)]
    effects = [row for row in effects if (row["subtype"], row["versus"], row["measure"]) == (subtype, 0, _MEASURE)]
    shown = sorted((row for row in effects if _is_whole(row)), key=lambda row: -abs(row["estimate"]))[:_MOST_FEATURES]
    rows: list[list[Value]] = []
    for row in sorted(shown, key=lambda row: -row["estimate"]):
        estimate, lower, upper = row["estimate"], row["lower"], row["upper"]
        rows.append([_name(row), estimate, lower, upper, estimate - lower, upper - estimate])
    return Table(f"{findings.name(subtype)} against all others", columns, rows)


def _is_whole(row: Row) -> bool:
    return all(isinstance(number_of(row, name), float) for name in ("estimate", "lower", "upper"))


def _name(row: Row) -> str:
    title = str(row["label"])
    if len(title) > _LONGEST_NAME:
        title = f"{title[: _LONGEST_NAME - 1].rstrip()}…"
    is_nominal = traits_of(row["likelihood"]).is_nominal or row.get("part") == "spike"
    return f"{title}: {row['level']}" if is_nominal else title
