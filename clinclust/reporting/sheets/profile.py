"""The sheet Profile: a heat map of the standardised means of the most relevant features."""

from __future__ import annotations

from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value

__all__ = ["profile"]

_ALL_SUBJECTS = 0
_MOST_FEATURES = 40


def profile(findings: Findings) -> Sheet:
    """Return the sheet: (mean of each subtype - mean of all subjects) / SD of all subjects, by feature or level."""
    subtypes = list(findings.sizes)
    group = ("Mean, in SD from that of all subjects", "")
    columns = [Column("Feature"), Column("Level"), Column("Section"), *findings.relevance_column]
    columns += [Column(findings.name(subtype), "0.00", group) for subtype in subtypes]
    rows: list[list[Value]] = []
    # Given subtypes may differ in any feature, so all features are shown.
    marking = [feature for feature in findings.by_relevance if findings.fit is None or findings.clustered_on(feature)]
    shown = marking[:_MOST_FEATURES]
    for feature in shown:
        for level, summaries in findings.levels(feature).items():
            overall = summaries[_ALL_SUBJECTS]
            means = [_standardised(summaries[subtype], overall) for subtype in subtypes]
            rows.append([feature.title, level, feature.section, *findings.relevance_cell(feature), *means])
    order = "whose means lie farthest apart" if findings.fit is None else "that matter most for the subtypes"
    first_of_all = "the farthest apart first" if findings.fit is None else "the most relevant first"
    notes = [
        "Blue: above the mean of all subjects, orange: below, white: about equal; the colours are full at one "
        f"standard deviation. The {len(shown)} features {order}, {first_of_all}.",
    ]
    first = len(columns) - len(subtypes)
    table = Table("Profile of the subtypes", columns, rows, stub=2, diverging=(first, len(columns) - 1))
    return Sheet("Profile", notes, [table])


def _standardised(summary: Row, overall: Row) -> Value:
    numbers = [number_of(summary, "mean"), number_of(overall, "mean"), number_of(overall, "sd")]
    if WITHHELD in numbers:
        return WITHHELD
    mean, centre, spread = numbers
    if not isinstance(mean, float) or not isinstance(centre, float) or not isinstance(spread, float) or spread <= 0:
        return None
    return (mean - centre) / spread
