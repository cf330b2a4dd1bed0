"""The subtype table of a report, and the sheets Pairwise tests and Missing data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clinclust.comparisons.frame import ALL_SUBJECTS, decimals_in
from clinclust.likelihoods import traits_of
from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import WITHHELD, Column, Kind, Sheet, Table, Value, percent
from clinclust.reporting.sheets.groups import not_tested, remark
from clinclust.reporting.subtype_table.building import table_of
from clinclust.reporting.subtype_table.plan import Choices
from clinclust.reporting.subtype_table.table import SubtypeTable

_DESCRIPTIVE = (
    "p-values on features that formed the subtypes are descriptive, not inference: subtypes found and tested "
    "in the same subjects differ in these features by construction. Features with “no” under “Clustered on” "
    "took no part in finding the subtypes."
)
_DESCRIPTIVE_OF_GIVEN = (
    "The subtypes were given. Features with “perhaps” under “Clustered on” may be those that they were made from: "
    "their p-values are descriptive, not inference, because subtypes differ by construction in the features that they "
    "were made from. Features with “no” are declared to have had no part in the subtypes."
)


def descriptive(findings: Findings) -> str:
    """Return the note which p-values of a report are descriptive and which are inference."""
    if findings.is_rounded:
        return "Nothing is tested: every p is a function of exact counts, and counts are rounded here."
    return _DESCRIPTIVE_OF_GIVEN if findings.fit is None else _DESCRIPTIVE


def _group(findings: Findings, subtype: int) -> tuple[str, str]:
    size, total = findings.shown_sizes[subtype], findings.n_subjects
    if subtype == ALL_SUBJECTS:
        return ("All subjects", f"n = {total}")
    if size is None:
        return (findings.name(subtype), f"n = {WITHHELD}")
    marked = ", ".join([f"n = {size} ({percent(size, total):.1f}%)", *filter(None, [remark(findings, subtype)])])
    return (findings.name(subtype), marked)


def _level(findings: Findings) -> str:
    return f"p ≤ {findings.significance_level:g}".replace(" ", "\N{NO-BREAK SPACE}")


def _decimals(summaries: dict[int, Row]) -> int:
    traits = traits_of(summaries[ALL_SUBJECTS]["likelihood"])
    return decimals_in(summaries, is_scored=traits.is_share or traits.is_scale)


_OF_WHICH = "descriptive where clustered on"
_MOST_PAIRS = 20_000  # rows of the sheet; a workbook could hold a million, too many to read


def pairwise_tests(findings: Findings) -> Sheet:
    """Return the sheet Pairwise tests: one row for each feature or level and pair of subtypes."""
    first, second = ("First subtype", ""), ("Second subtype", "")
    welch, student = ("Welch's t-test", _OF_WHICH), ("Student's t-test", _OF_WHICH)
    columns = [
        *(Column(title) for title in ("Section", "Feature", "Level", "Clustered on")),
        *(Column(*title, group=first) for title in (("Subtype", "0"), ("n", "0"), ("Mean", "measure"))),
        *(Column(*title, group=second) for title in (("Subtype", "0"), ("n", "0"), ("Mean", "measure"))),
        Column("Standardised difference", "0.00"),
    ]
    of_a_test: tuple[tuple[str, Kind], ...] = (("t", "0.00"), ("df", "0.0"), ("p", "p"), ("q", "p"))
    for group in (welch, student):
        columns += [Column(*title, group) for title in (*of_a_test, (_level(findings), "text"))]
    columns += [Column("Remark")]

    rows, decimals = [], []
    shown, note = _shown_pairs(findings)
    for feature in findings.features:
        for answer, summaries in findings.read.summaries[feature.name].items():
            for pair, tests in findings.read.tests.get((feature.name, answer), {}).items():
                if not shown(tests["welch"]):
                    continue
                title = str(summaries[ALL_SUBJECTS]["label"])
                row: list[Value] = [feature.section, title, answer, findings.clustered_on_text(feature)]
                for subtype in pair:
                    row += [subtype, number_of(summaries[subtype], "n"), number_of(summaries[subtype], "mean")]
                row.append(number_of(tests["welch"], "standardised_difference"))
                for test in (tests["welch"], tests["student"]):
                    row += [number_of(test, number) for number in ("statistic", "df", "p", "q")]
                    p = number_of(test, "p")
                    row.append(p if isinstance(p, str | None) else "yes" if findings.is_significant(test) else "no")
                rows.append([*row, _remark(tests["welch"], *(summaries[subtype] for subtype in pair))])
                decimals.append(_decimals(summaries))
    table = Table("Every pair of subtypes, feature by feature", columns, rows, decimals=decimals, stub=3)
    return Sheet("Pairwise tests", [descriptive(findings), *not_tested(findings), *note], [table])


def _shown_pairs(findings: Findings) -> tuple[Callable[[Row], bool], list[str]]:
    """Return which tests the sheet shows, and the note that the others are left out, if there are too many."""
    if findings.n_pairwise <= _MOST_PAIRS:
        return lambda test: True, []
    p = np.array([row["p"] for row in findings.read.rows("test") if row["test"] == "welch"], dtype=np.float64)
    bound = float(np.partition(np.where(np.isnan(p), np.inf, p), _MOST_PAIRS)[_MOST_PAIRS])
    note = (
        f"Of {findings.n_pairwise:,} comparisons, those whose p by Welch's t-test is below {bound:.2g} are shown. In "
        "Python, clinclust.compare_subtypes returns all."
    )
    return lambda test: bool(test["p"] < bound), [note]


def _remark(test: Row, a: Row, b: Row) -> str | None:
    """Return why a test is empty or infinite; None if it is neither."""
    if test["suppressed"]:
        return "withheld"
    if np.isfinite(test["statistic"]):
        return None
    if min(a["n"], b["n"]) < 2:
        return "fewer than 2 values"
    if np.isinf(test["statistic"]):
        return "infinite t"
    if a["sd"] == b["sd"] == 0:
        return "the same throughout"
    return "out of range"


def missing_data(findings: Findings) -> Sheet:
    """Return the sheet Missing data: missing values of each feature in all subjects and in each subtype."""
    groups = {subtype: _group(findings, subtype) for subtype in (ALL_SUBJECTS, *findings.sizes)}
    columns = [Column("Section"), Column("Feature"), Column("Clustered on")]
    for group in groups.values():
        columns += [Column("n", "0", group), Column("%", "0.0", group)]
    rows = []
    for feature in findings.features:
        summaries = next(iter(findings.read.summaries[feature.name].values()))
        row: list[Value] = [feature.section, feature.title, findings.clustered_on_text(feature)]
        for subtype in groups:
            missing, n = (number_of(summaries[subtype], name) for name in ("missing", "n"))
            row += [missing, _percent_missing(missing, n)]
        rows.append(row)
    note = "Subjects without a value for the feature, as a number and as a percentage of the group."
    return Sheet("Missing data", [note], [Table("Missing values of every feature", columns, rows, stub=2)])


def _percent_missing(missing: Value, n: Value) -> Value:
    if not (isinstance(missing, int) and isinstance(n, int)):  # withheld
        return n
    return 100 * missing / (missing + n) if missing + n else None


def table_of_report(findings: Findings) -> SubtypeTable:
    """Return the subtype table of a report, in the order of the schema."""
    asked = Choices(
        associations=findings.associations if len(findings.sizes) > 1 else None,
        names=findings.names,
        marks={} if findings.is_shared else dict(enumerate(findings.marks, start=1)),
        totals=not findings.is_shared,
        title="Every feature in all subjects" + (" and in each subtype" if len(findings.sizes) > 1 else ""),
    )
    return table_of(findings.read, asked)
