"""The sheet Associations, and what the Methods section says of it."""

from __future__ import annotations

import math
from collections import Counter

from clinclust.associations.associate import finds_one_population, grade_of, may_be_undone
from clinclust.associations.feature_test import BY_PERSON, BY_VALUE, without_permutation
from clinclust.comparisons.frame import is_suppressed
from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import Column, Sheet, Table, Value, as_value
from clinclust.reporting.sheets.groups import not_tested
from clinclust.reporting.words import METHODS, References, counted, listed, tests_in_words

_NOTES = (
    "Two different questions. The descriptive contrast says how far the subtypes lie apart in the subjects they were "
    "found in: of a feature that was clustered on, it is no inference, and its p is small even in pure noise. The "
    "validated association tests the feature against subtypes that it had no part in finding; this p is inference.",
    "q: p after the Benjamini–Hochberg correction over the tests made. Features are in the order of decreasing "
    "relevance.",
    "Agreement: of the subtypes found without the feature with those reported (adjusted Rand index: 1 = the same, 0 = "
    "as by chance). p is about the subtypes found without the feature; below 0.5 these are other subtypes, and the "
    "feature is not tested against those reported.",
    "Effect (SD): the difference between the two subtypes that lie farthest apart in the feature, in standard "
    "deviations of all subjects; reported: in these subtypes; found again: in those found without it, below 0 if the "
    "other one is higher.",
)
_GRADES = (
    "Grade: differs: q is at most the level, between subtypes that the feature had no part in. Differs beyond "
    "dependence: it differs by more than its relation to the other features explains (p given others is at most the "
    "level), and could not be undone by what is missing (p at most: the largest p over all values that the missing "
    "ones can have)."
)
_NO_INFERENCE = (
    "The test of the tree found one continuum, and these subtypes are slices of it: a feature that varies along the "
    "continuum differs between them, and nothing differs beyond dependence."
)
_NOTE_OF_GIVEN = (
    "The subtypes were given. A feature declared to have had no part in them is tested as it is, and this p is "
    "inference. A feature that they may have been made from is not tested: this would need "
    "subtypes found again without it, and a given partition cannot be found again. q: p after the Benjamini–Hochberg "
    "correction over the tests made. The features are in the order of how far apart their means lie."
)


def association_table(findings: Findings) -> Sheet:
    """Return the sheet: one row for each feature, with separate columns for contrast and validated association."""
    descriptive = ("Descriptive contrast", "not valid inference")
    validated = ("Validated association", "inference")
    found = {row["feature"]: row for row in findings.association_rows()}
    effect = ("Effect (SD)", "descriptive")
    columns = [
        Column("Feature", widest=36),
        Column("Section", widest=24),
        Column("Clustered on"),
        *findings.relevance_column,
        Column("Contrast", group=descriptive, widest=18),
        Column("p of contrast", "p", descriptive),
        *(Column(title, group=validated, widest=18) for title in ("Method", "Test")),
        Column("Subtypes", "0", validated),
        Column("Statistic", "0.00", validated),
        *(Column(title, "any", validated) for title in ("df", "df2")),
        Column("n", "0", validated),
        *(Column(title, "p", validated) for title in ("p", "q", "p given others", "p at most")),
        Column("Agreement", "0.00", validated),
        *(Column(title, "0.00", effect) for title in ("Reported", "Found again")),
        Column("Left out", group=validated, widest=24),
        Column("Grade", group=validated),
        Column("Remark", group=validated, widest=30),
    ]
    rows: list[list[Value]] = []
    for feature in findings.by_relevance:
        contrast, association = findings.read.contrasts.get(feature.name), found.get(feature.name)
        row: list[Value] = [feature.title, feature.section, findings.clustered_on_text(feature)]
        row += findings.relevance_cell(feature)
        row += [None, None] if contrast is None else [number_of(contrast, "test"), number_of(contrast, "p")]
        row += [] if association is None else _validated(association, findings.significance_level)
        rows.append(row + [None] * (len(columns) - len(row)))
    used = sorted({str(row["method"]) for row in found.values()} & set(METHODS), key=list(METHODS).index)
    notes = [*([_NOTE_OF_GIVEN] if findings.fit is None else _NOTES), _GRADES]
    if finds_one_population(findings.cohort.model):
        notes.insert(0, _NO_INFERENCE)
    if findings.is_shared:
        notes = [note.replace("over the tests made", "over the tests shown") for note in notes]
    notes += not_tested(findings)
    notes += [f"{method[0].upper()}{method[1:]}: {METHODS[method]}." for method in used]
    return Sheet("Associations", notes, [Table("Features and subtypes", columns, rows)])


def _validated(row: Row, level: float) -> list[Value]:
    grade: Value = number_of(row, "grade") if is_suppressed(row) else grade_of(row, level)
    return [
        as_value(row["method"]),
        *(number_of(row, name) for name in ("test", "n_subtypes")),
        number_of(row, "statistic"),
        *(_short(number_of(row, name)) for name in ("df", "df2")),
        *(number_of(row, name) for name in ("n", "p", "q", "p_given_others", "p_whatever_is_missing")),
        *(number_of(row, name) for name in ("agreement", "effect_reported", "effect")),
        as_value(row["left_out"]) or None,
        grade,
        number_of(row, "remark") or None,
    ]


def _short(value: Value) -> Value:
    # The degrees of freedom of Welch's tests are rounded to a tenth; those of other tests are whole numbers.
    return round(value, 1) if isinstance(value, float) and math.isfinite(value) else value


_BY = {"refit": "by refitting", "direct": "directly"}


def methods_of_associations(findings: Findings, references: References) -> list[str]:
    """Return sentences on the tests, their null hypothesis and what they assume; empty if none was made."""
    rows = [row for row in findings.association_rows() if isinstance(row["method"], str)]
    if not rows:
        return []
    used = Counter(row["method"] for row in rows)
    ways = [
        f"{counted(number, 'feature')} {_BY.get(method, method)} ({METHODS.get(method, method)})"
        for method, number in used.items()
    ]
    seeds = sorted({str(row["seed"]) for row in rows})
    seed = f" (random seed {listed(seeds)})" if findings.fit is not None else ""
    sentences = [f"Associations of features with the subtypes were validated{seed}: {listed(ways, '; ')}."]
    if "refit" in used:
        sentences.append(
            f"Each search was brought to {counted(len(findings.sizes), 'subtype')}: more groups were merged along "
            f"their tree, and fewer were divided, even where the log joint fell.{_agreement(findings, rows)}"
        )
    adjusted = (
        f"Their p-values were adjusted by the Benjamini–Hochberg procedure ({references.cite('adjusted')}) over the "
        f"tests {'that are shown' if findings.is_shared else 'made'}."
    )
    return [*sentences, *_tests(rows, references), adjusted, *_assumed(rows), *_graded(findings)]


def _agreement(findings: Findings, rows: list[Row]) -> str:
    agreements = (as_value(row["agreement"]) for row in rows)
    found = sorted(value for value in agreements if isinstance(value, float))
    if not found or findings.is_shared:
        return ""
    return (
        f" They agreed with the subtypes reported to {found[0]:.2f} to {found[-1]:.2f} (adjusted Rand index, median "
        f"{found[len(found) // 2]:.2f})."
    ).replace("-", "−")


def _tests(rows: list[Row], references: References) -> list[str]:
    tests = [row["test"] for row in rows if isinstance(row["test"], str)]
    if not tests:
        return []
    sentences = [f"The tests were {tests_in_words(sorted(set(map(without_permutation, tests))), references)}."]
    if any(BY_VALUE in test for test in tests):
        sentences.append(
            "Where a subtype has too few values for the usual p of a test, given how skewed they are, p is the share "
            "of permutations of the values (up to 9,999) that differ as much between the subtypes."
        )
    return sentences


def _assumed(rows: list[Row]) -> list[str]:
    """Return the null hypothesis, and what p assumes of rows and of missing values."""
    by_person = any(isinstance(row["test"], str) and row["test"].endswith(BY_PERSON) for row in rows)
    on_rows = (
        "whole persons were permuted (up to 9,999 times) between persons with as many rows, because rows of one person "
        "depend on each other"
        if by_person
        else "rows are assumed to be independent of each other"
    )
    return [
        "The null hypothesis of each test is that the feature is independent of the features that the subtypes were "
        f"found from for this test; {on_rows}. Missing values of the tested feature were left out, which assumes that "
        "they are not missing because of their size."
    ]


def _graded(findings: Findings) -> list[str]:
    level = findings.significance_level
    rows = [row for row in findings.association_rows() if not is_suppressed(row)]
    grades = Counter(grade_of(row, level) for row in rows)
    undone = sum(grade_of(row, level) == "differs" and may_be_undone(row, level) for row in rows)
    n, beyond = grades["differs"] + grades["differs beyond dependence"], grades["differs beyond dependence"]
    said = [
        f"At a q of at most {level:g}, {counted(n, 'feature')} {'differs' if n == 1 else 'differ'}, {beyond:,} of them "
        "beyond dependence: in an analysis of covariance of ranks, adjusted for the features that the subtypes were "
        "found from and their squares, the subtypes differ the same way (p at most the same), and they would, whatever "
        "the missing values are (worst-case bounds)."
    ]
    return [*said, f"Of {undone:,}, the difference could be undone by what is missing."] if undone else said
