"""The sheets Charts and Effect sizes: how far apart the subtypes lie."""

from __future__ import annotations

from math import floor

from clinclust.likelihoods import traits_of
from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import Chart, Column, Sheet, Table, Value, as_value
from clinclust.reporting.sheets.divisions import evidence_in_words
from clinclust.reporting.sheets.groups import not_tested

_LONGEST_NAME = 60
_LEFT_END = -3.0


def _evidence_table(findings: Findings) -> Table:
    columns = [Column("Division"), *(Column(title, "0.0") for title in ("Excess (SDs)", "One population", "Two SDs"))]
    rows: list[list[Value]] = [
        [_called(f"{each.number}: {each.title}"), each.excess / each.expected_sd, 0.0, 2.0]
        for each in findings.divisions
    ]
    return Table("Divisions tested: excess of the evidence over one continuous population", columns, rows)


def _evidence_chart(findings: Findings, table: int) -> Chart:
    said = "; ".join(map(evidence_in_words, findings.divisions))
    return Chart(
        table,
        "expected",
        "Divisions tested: more than a continuum?",
        "Point: evidence for the division; line: one continuous population (mean ± 2 SD), in SDs from its mean",
        f"The evidence for each division and that of one continuous population: {said}.",
        value=1,
        below=3,
        above=3,
        expected=2,
        least=float(floor(min(_LEFT_END, *(each.excess / each.expected_sd for each in findings.divisions)))),
    )


def _called(title: str) -> str:
    return title if len(title) <= _LONGEST_NAME else f"{title[: _LONGEST_NAME - 1].rstrip()}…"


_MOST_FEATURES = 15
_MEASURE = "standardised_difference"


def charts(findings: Findings) -> Sheet:
    """Return the sheet: tables of numbers with their charts. Rows with withheld numbers are left out."""
    sizes = _sizes(findings)
    tables = [sizes]
    said = f"Bars, one for each subtype: {'; '.join(f'{row[0]}, {row[1]} subjects' for row in sizes.rows)}."
    drawn = [Chart(0, "bars", sizes.caption, "Subjects", said, value=1)]
    if findings.divisions and not findings.is_shared:
        drawn.append(_evidence_chart(findings, len(tables)))
        tables.append(_evidence_table(findings))
    for subtype in findings.sizes:
        table = _intervals(findings, subtype)
        if table.rows:
            said = (
                f"Forest plot of the {len(table.rows)} largest standardised differences between "
                f"{findings.name(subtype)} and all other subjects, each with its 95% confidence interval: "
                f"{'; '.join(f'{row[0]} {row[1]:.2f}' for row in table.rows)}."
            )
            axis = "Standardised difference (95% confidence interval)"
            drawn.append(Chart(len(tables), "forest", table.caption, axis, said, value=1, below=4, above=5))
            tables.append(table)
    notes = [
        "The charts draw the numbers of the tables. Intervals that include 0 are compatible with no difference; those "
        f"of features {findings.formed} are descriptive, because the subtypes were made to differ in them.",
        *not_tested(findings),
    ]
    return Sheet("Charts", notes, tables, drawn)


def _sizes(findings: Findings) -> Table:
    columns = [Column("Subtype"), Column("Subjects", "0"), Column("%", "0.0")]
    shown = [subtype for subtype in findings.sizes if findings.shown_sizes[subtype] is not None]
    rows: list[list[Value]] = [[findings.name(subtype), *findings.size_cells(subtype)] for subtype in shown]
    return Table("Size of the subtypes", columns, rows)


def _intervals(findings: Findings, subtype: int) -> Table:
    """Return the largest effects of a subtype against all other subjects, by decreasing estimate."""
    columns = [Column("Feature")]
    columns += [Column(title, "0.00") for title in ("Estimate", "Lower", "Upper", "Length below", "Length above")]
    effects = [row for feature in findings.by_relevance for row in findings.read.effects.get(feature.name, [])]
    effects = [row for row in effects if (row["subtype"], row["versus"], row["measure"]) == (subtype, 0, _MEASURE)]
    ends = ("estimate", "lower", "upper")
    whole = [row for row in effects if all(isinstance(as_value(row[name]), float) for name in ends)]
    shown = sorted(whole, key=lambda row: -abs(row["estimate"]))[:_MOST_FEATURES]
    rows: list[list[Value]] = []
    for row in sorted(shown, key=lambda row: -row["estimate"]):
        estimate, lower, upper = row["estimate"], row["lower"], row["upper"]
        rows.append([_name(row), estimate, lower, upper, estimate - lower, upper - estimate])
    return Table(f"{findings.name(subtype)} against all others", columns, rows)


def _name(row: Row) -> str:
    is_nominal = traits_of(row["likelihood"]).is_nominal or row.get("part") == "spike"
    return _called(str(row["label"])) + (f": {row['level']}" if is_nominal else "")


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
    said = (
        f"Pairs of subtypes are left out here, because there are {findings.n_pairwise:,} comparisons of them; the "
        "sheet Pairwise tests holds them, with their standardised differences."
    )
    return [said] if findings.has_many_pairs else []


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
        for row in sorted(findings.read.effects.get(feature.name, []), key=lambda row: row["versus"] != 0):
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
