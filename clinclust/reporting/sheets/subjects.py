"""Single subjects: the sheets Assignments and Unusual subjects, and the continuum score."""

from __future__ import annotations

import numpy as np

from clinclust.estimators.unusual import MOST_LISTED
from clinclust.reporting.continuum_score import Continuum
from clinclust.reporting.findings import Findings
from clinclust.reporting.layout import Column, Sheet, Table, Value, as_value
from clinclust.reporting.sheets.groups import explained_marks, remark_cell, remark_column
from clinclust.schema import Feature

ASSIGNMENTS = "Assignments"
"""Name of the sheet with one row per subject."""


def certainty(probability: float) -> str:
    """Return the word for a membership probability: clear (0.95 or more), likely (0.8 or more) or uncertain."""
    return "clear" if probability >= 0.95 else "likely" if probability >= 0.8 else "uncertain"


def assignments(findings: Findings) -> Sheet:
    """Return the sheet Assignments: subtype and membership probabilities of every subject."""
    model, frame = findings.cohort.model, findings.cohort.table
    ids = model.schema_.ids
    identifiers = [[as_value(value) for value in frame[feature.name].tolist()] for feature in ids]
    columns = [Column(feature.title) for feature in ids]
    if not ids:
        columns = [Column("Row", "0")]
        identifiers = [[as_value(row) if isinstance(row, int) else str(row) for row in frame.index.tolist()]]
    columns.append(Column("Subtype", "0"))
    labels = np.asarray(model.labels_).tolist()
    identities = zip(*identifiers, strict=True)
    rows: list[list[Value]] = [[*identity, label + 1] for identity, label in zip(identities, labels, strict=True)]
    notes = []
    if model.membership_ is not None:
        columns += [Column("Membership probability", "0.000"), Column("Certainty")]
        of_each = ("Probability of each subtype", "")
        columns += [Column(findings.name(subtype), "0.000", of_each) for subtype in findings.sizes]
        for row, label, probabilities in zip(rows, labels, np.asarray(model.membership_).tolist(), strict=True):
            row += [probabilities[label], certainty(probabilities[label]), *probabilities]
        notes.append("Certainty: clear = probability 0.95 or more, likely = 0.80 to 0.95, uncertain = below 0.80.")
    if remark_column(findings):
        columns += remark_column(findings)
        cells = {subtype: remark_cell(findings, subtype) for subtype in findings.sizes}
        for row, label in zip(rows, labels, strict=True):
            row += cells[label + 1]
        notes += explained_marks(findings)
    if findings.continuum is not None:
        columns.append(Column("Continuum score", "0.00"))
        for row, score in zip(rows, findings.continuum.score.tolist(), strict=True):
            row.append(as_value(score))
        notes.append("Continuum score: place of the subject in the continuum, in SDs from the mean of the cohort.")
    table = Table("The subtype of every subject", columns, rows, stub=len(identifiers))
    return Sheet(ASSIGNMENTS, notes, [table])


_FEW, _MANY = 5, 0.02  # subjects, and share of them, above which the model is likely to be at fault


def on_unusual_subjects(findings: Findings) -> list[str]:
    """Return the sentence of the first page; empty if no subject is unusual."""
    n = len(findings.unusual)
    if not n:
        return []
    who = "1 subject has" if n == 1 else f"{n} subjects have" if n < MOST_LISTED else f"{n} or more subjects have"
    meaning = "look for slips of recording, or a rare condition"
    if n > max(_FEW, _MANY * len(findings.cohort.table)):
        meaning = (
            "so many say that features depend on each other inside subtypes, or have heavier tails than their "
            "likelihoods; look at the first of them"
        )
    return [f"{who} values too improbable in their subtype to be expected by chance (Unusual subjects): {meaning}."]


def unusual_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no subject is unusual."""
    unusual = findings.unusual
    if unusual.empty:
        return []
    ids = findings.cohort.schema.ids
    columns = [*([Column(feature.title) for feature in ids] or [Column("Row")]), Column("Subtype", "0")]
    with_others = bool((unusual["subtype"] != unusual["compared_with"]).any())
    columns += [Column("Compared with subtype", "0")] if with_others else []
    columns += [Column("p", "p"), *(Column(title, "0.0") for title in ("Log density (nats)", "Expected (nats)"))]
    columns.append(Column("Least probable values", widest=60))
    rows: list[list[Value]] = []
    identified = findings.cohort.table[[feature.name for feature in ids]]
    for position, row in zip(unusual.index.tolist(), unusual.to_dict("records"), strict=True):
        identity = [as_value(value) for value in identified.iloc[position].tolist()] or [as_value(row["subject"])]
        compared = [as_value(row["compared_with"])] if with_others else []
        numbers = [as_value(row[name]) for name in ("p", "log_density", "expected")]
        rows.append([*identity, as_value(row["subtype"]), *compared, *numbers, str(row["features"])])
    table = Table("Subjects who are improbable in their subtype", columns, rows, stub=max(len(ids), 1))
    return [Sheet("Unusual subjects", _notes(findings, with_others=with_others), [table])]


def _notes(findings: Findings, *, with_others: bool) -> list[str]:
    notes = [
        "p: the share of subjects drawn from the same subtype, with the same values missing, who are less probable. "
        f"Listed are those with p times the number of subjects at most 0.05, at most {MOST_LISTED}: fewer than one in "
        "twenty cohorts would have one by chance, if features were independent inside the subtypes and followed their "
        "likelihoods. Log density: how probable the values are; expected: the mean of the drawn subjects."
    ]
    if with_others:
        notes.append(
            "Subjects in groups of fewer than 5, which may be there because they are unusual, are compared with the "
            "larger group that is the most probable for them."
        )
    if findings.fit is not None and findings.fit.outlying_share_ > 0.0:
        notes.append("Single values that the search set aside as outlying are left out.")
    return notes


_STRONGEST = 5
_HOW_TO_READ = "A higher score goes with higher values of most features; see below which end is the worse."


def on_continuum_score(findings: Findings) -> list[str]:
    """Return what the continuum score is and where to find it; empty without a score, or if counts are rounded."""
    continuum = findings.continuum
    if continuum is None or findings.is_rounded:
        return []
    share, where = _share(continuum), "Every subject's score is in the column “Continuum score” of Assignments"
    if findings.is_shared:
        share, where = "", "This report is made to be shared and lists no subject's score"
    return [
        "Continuum score: one number for the place of a subject in the continuum, in standard deviations from the mean "
        "of the cohort. It is the first principal component of the features clustered on, each as the normal score of "
        f"its ranks.{share} {where}. {_HOW_TO_READ}"
    ]


def _share(continuum: Continuum) -> str:
    by_chance = (
        f", and features that are independent of each other give about {100 * continuum.share_by_chance:.0f}%: these "
        "features hardly depend on each other, and the score orders subjects by chance"
    )
    what_for = by_chance if continuum.is_by_chance else ""
    return f" It carries {100 * continuum.share:.0f}% of the variance of these scores{what_for}."


def continuum_table(findings: Findings) -> list[Table]:
    """Return the features that correlate most with the score; no table if the cohort is not one continuum."""
    continuum = findings.continuum
    if continuum is None or findings.is_rounded:
        return []
    columns = [Column("Feature"), Column("With a higher score"), Column("Correlation", "0.00")]
    return [Table("Features that the continuum score orders", columns, _rows(findings, continuum))]


def _rows(findings: Findings, continuum: Continuum) -> list[list[Value]]:
    # The place and sign of a feature of which a number is withheld would
    # disclose it.
    found = [(findings.cohort.schema[str(name)], float(value)) for name, value in continuum.correlations.items()]
    shown = [each for each in found if not findings.is_withheld(each[0])][:_STRONGEST]
    return [[feature.title, _direction(feature, value), value] for feature, value in shown]


def _direction(feature: Feature, correlation: float) -> str:
    if feature.traits.is_nominal:
        return "the levels change"
    if feature.traits.is_share:
        return "more often" if correlation > 0.0 else "less often"
    return "higher" if correlation > 0.0 else "lower"
