"""The sheet Withheld of a shared report: what was withheld, by which rule, and what was tried to find it."""

from __future__ import annotations

from clinclust.comparisons.frame import ALL_SUBJECTS, is_missing
from clinclust.disclosure.counts import Rule
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value
from clinclust.schema import Feature

_COUNTS, _MEANS = ("n", "missing", "count"), ("mean", "sd", "median")


def withheld(findings: Findings) -> Sheet:
    """Return the sheet: the rule in words, and one row for each feature of which a number is withheld."""
    features = [feature for feature in findings.features if findings.is_withheld(feature)]
    groups = (Column(title, widest=40) for title in ("Counts withheld in", "Means or SDs withheld in"))
    columns = [Column("Feature", widest=60), *groups, Column("Tests and effect sizes")]
    rows: list[list[Value]] = [
        [each.title, *(_groups(findings, each, names) for names in (_COUNTS, _MEANS)), _tests(findings, each)]
        for each in features
    ]
    return Sheet("Withheld", _rule(findings), [Table("Features of which numbers are withheld", columns, rows)])


def _rule(findings: Findings) -> list[str]:
    if findings.rule is None:
        return []
    sizes = [findings.name(subtype) for subtype in findings.sizes if findings.shown_sizes[subtype] is None]
    notes = _of_rounding(findings.rule) if findings.is_rounded else _of_withholding(findings, findings.rule)
    if sizes:
        notes.insert(1, f"The sizes of {', '.join(sizes)} and all that belongs to these subtypes are withheld.")
    notes.append(
        f"A level of which every number is withheld or 0 is called {WITHHELD}, and the ends of a scale are withheld "
        f"unless more than {findings.rule.threshold} subjects are at each: a schema that was drafted has both from the "
        "data. Left out are other words of the table, the fingerprints, priors and settings made of the data, how sure "
        "the subtypes of subjects are, and how far the searches agree."
    )
    notes.append("That one column nearly is the subtypes is said only of levels of which all counts are shown.")
    if findings.rule.missing_is_harmless:
        notes.append(
            "Numbers of missing values are declared harmless: they are withheld only where a small count would follow "
            "from them."
        )
    return notes


def _of_withholding(findings: Findings, rule: Rule) -> list[str]:
    n_all = len(findings.features)
    n_withheld = sum(map(findings.is_withheld, findings.features))
    return [
        f"Of {n_withheld} of {n_all} features a number is withheld, shown as {WITHHELD}. Withheld are counts of 1 to "
        f"{rule.threshold - 1}, totals of so few events or steps of a score, means of fewer than {rule.fewest_values} "
        "values, further numbers from which these would follow, and tests and effect sizes made from any of them.",
        "Which of the numbers withheld are small, and which only go with them, is not said. Nothing is reported of "
        "single subjects.",
        "Medians and quartiles are rounded to at most a quarter of the distance between the quartiles. Each q is "
        "adjusted over the tests shown, and in the order by relevance, features with withheld numbers come last.",
        "Subtypes of few subjects, or with weak evidence, are not marked here as in other reports: a mark would "
        "disclose sizes and counts that are withheld.",
        f"The rule was applied until a reader of all counts, shares, means and sizes shown finds no interval shorter "
        f"than {rule.threshold} for any small count. Other knowledge is not covered: another report of nearly the same "
        "people, or of a person in the cohort.",
    ]


def _of_rounding(rule: Rule) -> list[str]:
    return [
        f"Every count is rounded to the nearest multiple of {rule.rounding}: subjects, sizes of subtypes, observed and "
        "missing values, levels and totals of events. Percentages, and means of counts of events, are computed from "
        "the rounded counts. Rounded counts need not add up.",
        f"Withheld, shown as {WITHHELD}, are sizes that may be below {rule.threshold}, means of values that may be "
        f"fewer than {rule.fewest_values}, totals that may be below {rule.threshold}, and rounded counts where their "
        f"sums would narrow a count that may be below {rule.threshold} to an interval shorter than {rule.width}. Which "
        "numbers are withheld follows from the rounded ones.",
        "Left out, because exact counts could be found from them by trial: tests, effect sizes, validated "
        "associations, the relevance of features, the log joint and other evidence, settings that the search chose "
        "itself, the continuum score, and numbers of rows that were left out.",
        "Reported are results that are no counts: the subtypes, their number, which divisions were found distinct or "
        "may be of degree, and that subjects have several rows. “Clustered on” says what the schema asks "
        "for. Nothing is reported of single subjects.",
        "Means and SDs of measurements in subtypes are those of the exact values, with no more digits than every n "
        "allows that is rounded to the same; those of all subjects are pooled from them with the rounded n. Medians "
        "and quartiles are rounded to at most a quarter of the distance between the quartiles, and those of whole "
        "numbers to whole numbers. Other knowledge is not covered: another report of nearly the same people, or of a "
        "person in the cohort.",
    ]


def _groups(findings: Findings, feature: Feature, names: tuple[str, ...]) -> str | None:
    found = {
        subtype
        for level, rows in findings.read.summaries[feature.name].items()
        for subtype, row in rows.items()
        for name in names
        if row["suppressed"] and is_missing(row[name]) and name != ("median" if level is not None else "count")
    }
    titles = ["All subjects" if subtype == ALL_SUBJECTS else findings.name(subtype) for subtype in sorted(found)]
    return ", ".join(titles) or None


def _tests(findings: Findings, feature: Feature) -> str:
    """Return whether results of a feature are withheld: all of them, some, or none."""
    if findings.is_rounded:
        return "withheld"
    rows = [row for kind in ("test", "contrast", "effect") for row in findings.read.rows(kind)]
    lost = [bool(row["suppressed"]) for row in rows if row["feature"] == feature.name]
    return "withheld" if lost and all(lost) else "some withheld" if any(lost) else "shown" if lost else "none made"
