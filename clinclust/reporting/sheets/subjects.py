"""The subjects one by one, and the codebook of the features."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clinclust.comparisons.frame import ALL_SUBJECTS
from clinclust.estimators.explanation import MOST_LISTED
from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import (
    WITHHELD,
    WORDS,
    Column,
    Sheet,
    Table,
    Value,
    as_value,
    capitalised,
    tabulate,
    translate,
)
from clinclust.reporting.sheets.subtypes import descriptive, explained_marks, not_tested, remarks_on
from clinclust.roles import REASONS
from clinclust.schema import Feature

# Single subjects: the sheets Assignments and Unusual subjects, and the continuum score.

_TEXTS = WORDS["subjects"]
ASSIGNMENTS = "Assignments"
"""Name of the sheet with one row per subject."""
_MOST_SUBJECTS = 1_000_000  # a sheet holds 1,048,576 rows; `assignments.csv` has all


def certainty(probability: float) -> str:
    """Return the word for a membership probability, by its key: clear (from 0.95), likely (from 0.8) or uncertain."""
    return "clear" if probability >= 0.95 else "likely" if probability >= 0.8 else "uncertain"


def assignments_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet with subtype and membership of every subject; none of a sample, or without single subjects."""
    if findings.subjects is None or findings.of_all is not None or len(findings.cohort.table) > _MOST_SUBJECTS:
        return []
    model, frame, remarks = findings.subjects.model, findings.subjects.table, remarks_on(findings)
    ids, labels, membership = model.schema_.ids, np.asarray(model.labels_).tolist(), model.membership_
    rows = [row if isinstance(row, int) else str(row) for row in frame.index.tolist()]
    probabilities = [] if membership is None else np.asarray(membership).tolist()
    certainties = [float(of_subject[label]) for of_subject, label in zip(probabilities, labels, strict=False)]
    continuum, of_subtypes = findings.continuum, zip(findings.sizes, zip(*probabilities, strict=True), strict=False)
    table = tabulate(
        "assignments",
        range(len(labels)),
        ids={column.title: frame[column.name].tolist().__getitem__ for column in ids},
        row=None if ids else rows.__getitem__,
        subtype=lambda place: model.codes_[labels[place]],
        membership=certainties.__getitem__ if certainties else None,
        certainty=(lambda place: WORDS["certainty"][certainty(certainties[place])]) if certainties else None,
        subtypes={findings.name(subtype): of_subtype.__getitem__ for subtype, of_subtype in of_subtypes},
        remark=remarks and (lambda place: remarks(labels[place] + 1)),
        continuum_score=None if continuum is None else continuum.score.tolist().__getitem__,
    )
    notes = [_TEXTS["certainty"]] * (membership is not None) + explained_marks(findings) * (remarks is not None)
    notes += [_TEXTS["score"]] * (continuum is not None)
    return [Sheet(ASSIGNMENTS, notes, [replace(table, stub=max(1, len(ids)))])]


_FEW, _MANY = 5, 0.02  # subjects, and share of them, above which the model is likely to be at fault


def on_unusual_subjects(findings: Findings) -> list[str]:
    """Return the sentence of the first page; empty if no subject is unusual."""
    n = len(findings.unusual)
    if not n:
        return []
    texts = findings.texts["unusual"]
    who = texts["one" if n == 1 else "some" if n < MOST_LISTED else "many"].format(n=n)
    is_fault = n > max(_FEW, _MANY * len(findings.cohort.table))
    return [texts["are_there"].format(who=who, meaning=texts["fault" if is_fault else "slips"])]


def unusual_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no subject is unusual."""
    unusual, ids = findings.unusual, findings.cohort.schema.ids
    if unusual.empty:
        return []
    identified = findings.cohort.table.iloc[unusual.index]
    values = {feature.title: identified[feature.name].tolist() for feature in ids}
    named: Any = {title: lambda row, held=held: held[row["place"]] for title, held in values.items()}
    with_others = bool((unusual["subtype"] != unusual["compared_with"]).any())
    absent = {name: None for name, is_absent in (("subject", ids), ("compared_with", not with_others)) if is_absent}
    table = tabulate("unusual", unusual.assign(place=range(len(unusual))), ids=named, **absent)
    is_outlying = findings.fit is not None and findings.fit.outlying_share_ > 0.0
    names = ["p", *["with_others"] * with_others, *["outlying"] * is_outlying]
    notes = [findings.texts["unusual"][name].format(most=MOST_LISTED) for name in names]
    return [Sheet("Unusual subjects", notes, [replace(table, stub=max(1, len(ids)))])]


_STRONGEST = 5


def on_continuum_score(findings: Findings) -> list[str]:
    """Return what the continuum score is and where to find it; empty without a score."""
    continuum, texts = findings.continuum, findings.texts["continuum_score"]
    if continuum is None:
        return []
    fields = {"share": continuum.share, "by_chance": ""}
    if continuum.is_by_chance:
        fields["by_chance"] = texts["by_chance"].format(share=continuum.share_by_chance)
    return [texts["score"].format(**fields)]


def continuum_table(findings: Findings) -> list[Table]:
    """Return the features that correlate most with the score; no table if the cohort is not one continuum."""
    if findings.continuum is None:
        return []
    schema, correlations = findings.cohort.schema, findings.continuum.correlations
    strongest = [(schema[str(name)], value) for name, value in correlations.head(_STRONGEST).items()]

    def direction(feature: Feature, correlation: float) -> str:
        kind = "levels" if feature.traits.is_nominal else "share" if feature.traits.is_share else "number"
        return str(WORDS["continuum_score"][kind][correlation > 0.0])

    table = tabulate(
        "continuum",
        strongest,
        title=lambda each: each[0].title,
        direction=lambda each: direction(*each),
        correlation=lambda each: each[1],
    )
    return [table]


# The sheets Codebook and Data: what every column means, and every number of the report for other programs.

DATA = "Data"
"""Name of the sheet of all numbers."""
_NUMBERS_SHOWN = 24
_KINDS = WORDS["kinds"]


def codebook(findings: Findings) -> Sheet:
    """Return the sheet: one row for each column of the schema, of any role."""
    missing_codes_of = findings.cohort.schema.missing_codes_of
    table = tabulate(
        "codebook",
        findings.cohort.schema,
        levels=lambda feature: _joined(feature.levels or ()),
        trials=lambda feature: feature.n_trials if feature.traits.is_scale else feature.trials,
        minimum=lambda feature: _whole(feature.minimum),
        maximum=lambda feature: _whole(feature.maximum),
        missing_codes=lambda feature: _joined([code or _TEXTS["empty"] for code in missing_codes_of(feature)]),
        complete=lambda feature: WORDS["words"]["yes" if feature.complete else "no"],
        observed=lambda feature: findings.observed(feature)[0],
        missing=lambda feature: findings.observed(feature)[1],
        clustered_on=findings.clustered_on_text,
        reason=lambda feature: _find_reason(findings, feature),
    )
    return Sheet("Codebook", [findings.texts["subjects"]["codebook"]], [table])


def _find_reason(findings: Findings, feature: Feature) -> str | None:
    """Return why a feature was not clustered on, which could disclose withheld numbers."""
    if findings.clustered_on(feature) or findings.is_withheld(feature):
        return WITHHELD if findings.is_withheld(feature) else None
    reasons = {**_TEXTS["reasons"], **REASONS}
    return str(translate(reasons.get(feature.role) or findings.cohort.model.uninformative_[feature.name]))


def _joined(texts: Sequence[str]) -> str | None:
    return "; ".join(texts) or None


def _whole(number: float | None) -> Value:
    return int(number) if number is not None and number == int(number) else number


# Columns of numbers, by their names in the comparisons and the associations.
_NUMBERS = (
    *("n", "missing", "count", "percent", "mean", "sd", "median", "q1", "q3"),
    *("statistic", "df", "df2", "p", "q", "estimate", "lower", "upper"),
)
_OF_KIND = {
    "summary": {"n", "missing", "count", "percent", "mean", "sd", "median", "q1", "q3"},
    "contrast": {"n", "missing", "statistic", "df", "df2", "p", "q"},
    "test": {"n", "missing", "statistic", "df", "p", "q"},
    "effect": {"n", "estimate", "lower", "upper"},
}
_OF_AN_ASSOCIATION = {"n", "statistic", "df", "df2", "p", "q"}


def tidy_data(findings: Findings) -> Sheet:
    """Return the sheet: one row for each summary, test or effect size."""
    table = tabulate("data", [])
    columns = [*table.columns, *(Column(name, "any", key=f"data.{name}") for name in _NUMBERS)]
    measures = {row["measure"] for row in findings.read.rows("effect")}
    notes = [
        _TEXTS["data"],
        *[_TEXTS["on_divisions"]] * bool(findings.evidence),
        *[descriptive(findings)] * bool(measures),
        *not_tested(findings),
        *[capitalised(f"{name}: {meaning}.") for key, (name, meaning) in WORDS["measures"].items() if key in measures],
    ]
    return Sheet(DATA, notes, [replace(table, columns=columns, rows=list(_data_rows(findings)), plain=True)])


def _data_rows(findings: Findings) -> Iterator[list[Value]]:
    for kind, of_kind in _OF_KIND.items():
        for row in findings.read.rows(kind):
            method = number_of(row, "measure" if kind == "effect" else "test")
            names = of_kind - (set() if row["level"] is not None else {"count", "percent"})
            yield _data_row(findings, kind, row, method if isinstance(method, str) else None, names)
    # The test of a division against one continuum, and then that against any shape.
    for division in findings.evidence:
        identity = [_KINDS["division"], None, None, None, division.result_in_words, None, *division.branches]
        numbers = {"n": division.n_subjects, "statistic": division.gain, "mean": division.expected}
        numbers |= {"sd": division.expected_sd, "p": division.p}
        of_any = {"n": division.n_subjects, "p": as_value(division.p_any_shape)}
        for against, of_test in ((WORDS["trust"]["one_continuum"], numbers), (WORDS["trust"]["any_shape"], of_any)):
            yield [*identity, against, *(of_test.get(name) for name in _NUMBERS)]
    for row in findings.association_rows():
        if isinstance(row["method"], str):
            method = f"{translate(row['method'])}: {translate(row['test'])}"
            yield _data_row(findings, "association", {**row, "level": None}, method, _OF_AN_ASSOCIATION)


def _data_row(findings: Findings, kind: str, row: Row, method: str | None, names: Collection[str]) -> list[Value]:
    feature = findings.cohort.schema[row["feature"]]
    identity = (feature.section, str(row["label"]), feature.name, row["level"], findings.clustered_on_text(feature))
    numbers = (number_of(row, name) if name in names else None for name in _NUMBERS)
    return [_KINDS[kind], *identity, *_compared(findings, row), translate(method), *numbers]


def _compared(findings: Findings, row: Row) -> tuple[str | None, str | None]:
    """Return the titles of the group of a row and of the group that it is compared with; None without one."""
    subtype, versus = (row.get(name) for name in ("subtype", "versus"))
    if not isinstance(subtype, int):
        return (str(WORDS["formed"]["all_subtypes"]), None)
    against = (findings.name(versus) if versus else str(WORDS["formed"]["others"])) if isinstance(versus, int) else None
    return (WORDS["formed"]["all_subjects"] if subtype == ALL_SUBJECTS else findings.name(subtype), against)
