"""The subjects one by one, and the codebook of the features."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from clinclust.comparisons.frame import ALL_SUBJECTS
from clinclust.data import data
from clinclust.estimators.explanation import MOST_LISTED
from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import WITHHELD, Column, Filled, Sheet, Table, Value, as_value, tabulated
from clinclust.reporting.sheets.divisions import left_out
from clinclust.reporting.sheets.subtypes import explained_marks, not_tested, remark, remark_column
from clinclust.roles import REASONS
from clinclust.schema import Feature
from clinclust.schema.feature import mass_text

# Single subjects: the sheets Assignments and Unusual subjects, and the continuum score.

ASSIGNMENTS = "Assignments"
"""Name of the sheet with one row per subject."""


def certainty(probability: float) -> str:
    """Return the word for a membership probability: clear (0.95 or more), likely (0.8 or more) or uncertain."""
    return "clear" if probability >= 0.95 else "likely" if probability >= 0.8 else "uncertain"


def assignments_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet with subtype and membership of every subject; none of a sample, or without single subjects."""
    if findings.subjects is None or findings.of_all is not None:
        return []
    model, frame = findings.subjects.model, findings.subjects.table
    ids, labels, membership = model.schema_.ids, np.asarray(model.labels_).tolist(), model.membership_
    columns: list[Filled] = [(Column(each.title), frame[each.name].tolist().__getitem__) for each in ids]
    if not ids:
        names = [row if isinstance(row, int) else str(row) for row in frame.index.tolist()]
        columns = [(Column("Row", "0"), names.__getitem__)]
    n_identifying, notes = len(columns), []
    columns.append((Column("Subtype", "0"), lambda place: model.codes_[labels[place]]))
    if membership is not None:
        probabilities = np.asarray(membership).tolist()

        def own(place: int) -> float:
            return float(probabilities[place][labels[place]])

        columns.append((Column("Membership probability", "0.000"), own))
        columns.append((Column("Certainty"), lambda place: certainty(own(place))))
        for subtype, of_subtype in zip(findings.sizes, zip(*probabilities, strict=True), strict=True):
            column = Column(findings.name(subtype), "0.000", ("Probability of each subtype", ""))
            columns.append((column, of_subtype.__getitem__))
        notes.append("Certainty: clear = probability 0.95 or more, likely = 0.80 to 0.95, uncertain = below 0.80.")
    for column, _ in remark_column(findings):
        columns.append((column, lambda place: remark(findings, labels[place] + 1)))
        notes += explained_marks(findings)
    if findings.continuum is not None:
        columns.append((Column("Continuum score", "0.00"), findings.continuum.score.tolist().__getitem__))
        notes.append("Continuum score: place of the subject in the continuum, in SDs from the mean of the cohort.")
    table = tabulated("The subtype of every subject", range(len(labels)), columns, stub=n_identifying)
    return [Sheet(ASSIGNMENTS, notes, [table])]


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
    named = [(Column(feature.title), identified[feature.name].tolist()) for feature in ids]
    named = named or [(Column("Row"), unusual["subject"].tolist())]
    with_others = bool((unusual["subtype"] != unusual["compared_with"]).any())
    columns: list[Filled] = [
        *((column, lambda row, held=held: held[row["place"]]) for column, held in named),
        (Column("Subtype", "0"), "subtype"),
        *([(Column("Compared with subtype", "0"), "compared_with")] if with_others else []),
        (Column("p", "p"), "p"),
        (Column("Log density (nats)", "0.0"), "log_density"),
        (Column("Expected (nats)", "0.0"), "expected"),
        (Column("Least probable values", widest=60), "features"),
    ]
    caption, placed = "Subjects who are improbable in their subtype", unusual.assign(place=range(len(unusual)))
    table = tabulated(caption, placed, columns, stub=len(named))
    is_outlying = findings.fit is not None and findings.fit.outlying_share_ > 0.0
    names = ["p", *["with_others"] * with_others, *["outlying"] * is_outlying]
    notes = [findings.texts["unusual"][name].format(most=MOST_LISTED) for name in names]
    return [Sheet("Unusual subjects", notes, [table])]


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
    continuum, schema = findings.continuum, findings.cohort.schema
    if continuum is None:
        return []
    strongest = [(schema[str(name)], value) for name, value in continuum.correlations.head(_STRONGEST).items()]
    columns: list[Filled] = [
        (Column("Feature"), lambda each: each[0].title),
        (Column("With a higher score"), lambda each: _direction(*each)),
        (Column("Correlation", "0.00"), lambda each: each[1]),
    ]
    return [tabulated("Features that the continuum score orders", strongest, columns)]


def _direction(feature: Feature, correlation: float) -> str:
    if feature.traits.is_nominal:
        return "the levels change"
    if feature.traits.is_share:
        return "more often" if correlation > 0.0 else "less often"
    return "higher" if correlation > 0.0 else "lower"


# The sheets Codebook and Data: what every column means, and every number of the report for other programs.

DATA = "Data"
"""Name of the sheet of all numbers."""
_TEXTS = data("report")["subjects"]
_REASONS: dict[str, str] = {**_TEXTS["reasons"], **REASONS}
_EMPTY_CELL = "(empty)"
_NUMBERS_SHOWN = 24


def codebook(findings: Findings) -> Sheet:
    """Return the sheet: one row for each column of the schema, of any role."""
    missing_codes_of = findings.cohort.schema.missing_codes_of

    def is_scale(feature: Feature) -> bool:
        return feature.trials is None and feature.traits.is_scale

    columns: list[Filled] = [
        (Column("Column", widest=24), lambda feature: feature.name),
        (Column("Label", widest=24), lambda feature: feature.label),
        (Column("Role", widest=24), lambda feature: feature.role),
        (Column("Likelihood", widest=24), lambda feature: feature.likelihood),
        (Column("Section", widest=20), lambda feature: feature.section),
        (Column("Description", widest=20), lambda feature: feature.description),
        (Column("Levels", widest=20), lambda feature: _joined(feature.levels or ())),
        (Column("Trials", "any"), lambda feature: feature.n_trials if is_scale(feature) else feature.trials),
        (Column("Minimum", "any"), lambda feature: _whole(feature.minimum)),
        (Column("Maximum", "any"), lambda feature: _whole(feature.maximum)),
        (Column("Unit"), lambda feature: feature.unit),
        (Column("Transform"), lambda feature: feature.transform),
        (Column("Block"), lambda feature: feature.block),
        (Column("Missing codes"), lambda feature: _joined([code or _EMPTY_CELL for code in missing_codes_of(feature)])),
        (Column("Must be complete"), lambda feature: "yes" if feature.complete else "no"),
        (Column("Other texts read", widest=24), _other_texts),
        (Column("Asked if", widest=24), lambda feature: feature.asked_if),
        (Column("Observed", "0"), lambda feature: findings.observed(feature)[0]),
        (Column("Missing", "0"), lambda feature: findings.observed(feature)[1]),
        (Column("Clustered on"), findings.clustered_on_text),
        (Column("Prior, or why not clustered on", widest=28), lambda feature: _prior_or_reason(findings, feature)),
    ]
    note = findings.texts["subjects"]["codebook"]
    return Sheet("Codebook", [note], [tabulated("What every column means", findings.cohort.schema, columns, stub=2)])


def _other_texts(feature: Feature) -> str | None:
    texts = [f"{given} = {meant}" for given, meant in (feature.synonyms or {}).items()]
    texts += ["decimal comma"] if feature.decimal == "," else []
    texts += [f"thousands separated by {feature.thousands!r}"] if feature.thousands else []
    texts += [f"next to numbers, of no meaning: {' '.join(feature.marks)}"] if feature.marks else []
    standing = {"limit": "the limit", "half": "half of the limit", "missing": "a missing value"}
    texts += [f"for values beyond a limit, {standing[feature.censored]}"] if feature.censored else []
    texts += [f"with a probability of its own: {mass_text(mass)}" for mass in feature.point_masses]
    return _joined(texts)


def _prior_or_reason(findings: Findings, feature: Feature) -> str | None:
    if findings.is_withheld(feature):
        return WITHHELD  # why it was not clustered on could disclose withheld numbers
    if findings.clustered_on(feature):
        return None if findings.fit is None else _prior(findings, feature)
    return _REASONS.get(feature.role) or findings.cohort.model.uninformative_[feature.name]


def _prior(findings: Findings, feature: Feature) -> str | None:
    """Return the hyperparameters of a feature, and of each of its parts; a sign in the place of those withheld."""

    def written(value: float | Sequence[float]) -> str:
        numbers = [f"{number:.4g}" for number in np.atleast_1d(value)]
        more = [f"... ({len(numbers)} in all)"] if len(numbers) > _NUMBERS_SHOWN else []
        return ", ".join([*numbers[:_NUMBERS_SHOWN], *more])

    texts = []
    for part in feature.parts:
        hyperparameters = findings.hyperparameters(part).items()
        stated = [f"{name} = {written(value)}" for name, value in hyperparameters if value != WITHHELD]
        text = _joined([*stated, *[WITHHELD] * (len(stated) < len(hyperparameters))])
        texts += [f"{part.name}: {text}" if part.is_part else text] if text else []
    return _joined(texts)


def _joined(texts: Sequence[str]) -> str | None:
    return "; ".join(texts) or None


def _whole(number: float | None) -> Value:
    return int(number) if number is not None and number == int(number) else number


# Title of each kind of row in the comparisons.
_KINDS = {"summary": "Summary", "contrast": "Descriptive contrast", "test": "Pairwise test", "effect": "Effect size"}
_IDENTITY = ("Kind", "Section", "Feature", "Column", "Level", "Clustered on", "Subtype", "Versus", "Method")
# Columns of numbers, by their names in the comparisons and the associations.
_NUMBERS = (
    *("n", "missing", "count", "percent", "mean", "sd", "median", "q1", "q3"),
    *("statistic", "df", "df2", "p", "q", "estimate", "lower", "upper"),
)
_OF_KIND = {
    "Summary": {"n", "missing", "count", "percent", "mean", "sd", "median", "q1", "q3"},
    "Descriptive contrast": {"n", "missing", "statistic", "df", "df2", "p", "q"},
    "Pairwise test": {"n", "missing", "statistic", "df", "p", "q"},
    "Effect size": {"n", "estimate", "lower", "upper"},
    "Validated association": {"n", "statistic", "df", "df2", "p", "q"},
}


def tidy_data(findings: Findings) -> Sheet:
    """Return the sheet: one row for each summary, test or effect size."""
    columns = [*(Column(title) for title in _IDENTITY), *(Column(name, "any") for name in _NUMBERS)]
    notes = [
        _TEXTS["data"],
        *[_TEXTS["on_divisions"]] * bool(findings.evidence),
        *not_tested(findings),
        *left_out(findings),
    ]
    table = Table("Every number of the report", columns, list(_data_rows(findings)), stub=4, plain=True)
    return Sheet(DATA, notes, [table])


def _data_rows(findings: Findings) -> Iterator[list[Value]]:
    for kind, title in _KINDS.items():
        for row in findings.read.rows(kind):
            if findings.has_many_pairs and row["subtype"] and row["versus"]:
                continue
            method = number_of(row, "measure" if kind == "effect" else "test")
            names = _OF_KIND[title] - (set() if row["level"] is not None else {"count", "percent"})
            yield _data_row(findings, title, row, method if isinstance(method, str) else None, names)
    # The test of a division against one continuum, and then that against any shape.
    for division in findings.evidence:
        identity = [None, None, None, division.result, None, *division.branches]
        numbers = {"n": division.n_subjects, "statistic": division.gain, "mean": division.expected}
        numbers |= {"sd": division.expected_sd, "p": division.p}
        of_any = {"n": division.n_subjects, "p": as_value(division.p_any_shape)}
        for against, of_test in (("one continuum", numbers), ("one continuum of any shape", of_any)):
            yield ["Tested division", *identity, against, *(of_test.get(name) for name in _NUMBERS)]
    title = "Validated association"
    for row in findings.association_rows():
        if isinstance(row["method"], str):
            method = f"{row['method']}: {row['test']}"
            yield _data_row(findings, title, {**row, "level": None}, method, _OF_KIND[title])


def _data_row(findings: Findings, title: str, row: Row, method: str | None, names: Collection[str]) -> list[Value]:
    feature = findings.cohort.schema[row["feature"]]
    identity = (feature.section, str(row["label"]), feature.name, row["level"], findings.clustered_on_text(feature))
    numbers = (number_of(row, name) if name in names else None for name in _NUMBERS)
    return [title, *identity, *_compared(findings, row), method, *numbers]


def _compared(findings: Findings, row: Row) -> tuple[str | None, str | None]:
    """Return the titles of the group of a row and of the group that it is compared with; None if there is none."""
    subtype, versus = (row.get(name) for name in ("subtype", "versus"))
    if not isinstance(subtype, int):
        return ("All subtypes", None)
    against = findings.versus(versus) if isinstance(versus, int) else None
    return ("All subjects" if subtype == ALL_SUBJECTS else findings.name(subtype), against)
