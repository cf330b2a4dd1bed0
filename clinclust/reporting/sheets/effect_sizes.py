"""The sheet Effect sizes: each subtype against all other subjects, and against each other subtype."""

from __future__ import annotations

from clinclust.reporting.findings import Findings, number_of
from clinclust.reporting.layout import Column, Sheet, Table, Value
from clinclust.reporting.sheets.few_subjects import not_tested

__all__ = ["MEASURES", "effect_sizes", "left_out"]

# Names and meanings of the effect sizes. A measure that is not listed is shown by its name in the comparisons.
MEASURES = {
    "standardised_difference": (
        "standardised difference",
        "difference of the means (or shares) over the root of the mean of both variances",
    ),
    "difference": ("difference", "of the means or shares, in the unit of the feature"),
    "ratio": ("ratio", "of the odds, of yes/no features and levels; of the means, of counts and durations"),
    "superiority": (
        "superiority",
        "probability that a subject of the subtype has the higher value, ties counting half",
    ),
}


def left_out(findings: Findings) -> list[str]:
    """Return the note that pairs of subtypes are left out, if they are."""
    if not findings.has_many_pairs:
        return []
    return [
        f"Pairs of subtypes are left out here, because there are {findings.n_pairwise:,} comparisons of them; the "
        "sheet Pairwise tests holds them, with their standardised differences."
    ]


def effect_sizes(findings: Findings) -> Sheet:
    """Return the sheet: one row for each feature or level, comparison and measure, by decreasing relevance."""
    columns = [
        *(Column(title) for title in ("Section", "Feature", "Level", "Clustered on", "Subtype", "Versus", "Measure")),
        *(Column(title, "measure") for title in ("Estimate", "Lower", "Upper")),
        Column("n", "0"),
    ]
    rows: list[list[Value]] = []
    used = []
    for feature in findings.by_relevance:
        clustered_on = findings.clustered_on_text(feature)
        # The comparisons with all other subjects come first: they characterise a subtype.
        for row in sorted(findings.effects(feature), key=lambda row: row["versus"] != 0):
            if row["versus"] and findings.has_many_pairs:
                break
            measure = str(row["measure"])
            used.append(measure)
            name = MEASURES.get(measure, (measure.replace("_", " "),))[0]
            compared = (findings.name(row["subtype"]), findings.versus(row["versus"]))
            identity = (feature.section, str(row["label"]), row["level"], clustered_on, *compared, name)
            rows.append([*identity, *(number_of(row, number) for number in ("estimate", "lower", "upper", "n"))])
    notes = [
        "How far apart the subtypes lie, with 95% confidence intervals; above 0 (a ratio: above 1, superiority: above "
        f"0.5) the subtype has the higher values. Of features {findings.formed}, the intervals are descriptive, "
        "as the p-values are: the subtypes were made to differ in them.",
        *not_tested(findings),
        *left_out(findings),
        *(f"{name[0].upper()}{name[1:]}: {meaning}." for key, (name, meaning) in MEASURES.items() if key in used),
    ]
    table = Table("How far apart the subtypes lie", columns, rows, stub=3)
    return Sheet("Effect sizes", notes, [table])
