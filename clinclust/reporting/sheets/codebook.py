"""The sheets Codebook and Data: what every column means, and every number of the report for other programs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from clinclust.comparisons.frame import ALL_SUBJECTS
from clinclust.estimators.fit import Fit
from clinclust.estimators.subtype_model import parameters_of
from clinclust.reporting.divisions import Division
from clinclust.reporting.findings import Findings, Row, number_of
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value
from clinclust.reporting.sheets.charts import left_out
from clinclust.reporting.sheets.groups import not_tested
from clinclust.roles import REASONS
from clinclust.schema import Feature
from clinclust.schema.feature import mass_text

DATA = "Data"
"""Name of the sheet of all numbers."""
_EMPTY_CELL = "(empty)"
_NUMBERS_SHOWN = 24


def codebook(findings: Findings) -> Sheet:
    """Return the sheet: one row for each column of the schema, of any role."""
    columns = [
        *(Column(title, widest=24) for title in ("Column", "Label", "Role", "Likelihood")),
        *(Column(title, widest=20) for title in ("Section", "Description", "Levels")),
        *(Column(title, "any") for title in ("Trials", "Minimum", "Maximum")),
        *(Column(title) for title in ("Unit", "Transform", "Block", "Missing codes", "Must be complete")),
        *(Column(title, widest=24) for title in ("Other texts read", "Asked if")),
        *(Column(title, "0") for title in ("Observed", "Missing")),
        Column("Clustered on"),
        Column("Prior, or why not clustered on", widest=28),
    ]
    rows = [_row(findings, feature) for feature in findings.cohort.schema]
    notes = [
        "Every column of the cohort as the schema declares it. Levels of a scale are from lowest to highest; if they "
        "are words, the lowest is scored 0, the next 1, and so on. Of a yes/no feature no, then yes. The "
        "hyperparameters of a prior are on the scale of the column after its transform."
    ]
    if findings.is_shared:
        notes = [
            "Every column of the cohort, without levels and their meaning, ends and other words of the table. Of "
            "priors, what was stated in advance, on the scale of the column after its transform; those that were set "
            f"from the data are withheld {WITHHELD}."
        ]
    return Sheet("Codebook", notes, [Table("What every column means", columns, rows, stub=2)])


def _row(findings: Findings, feature: Feature) -> list[Value]:
    codes = findings.cohort.schema.missing_codes_of(feature)
    is_scale = feature.trials is None and feature.traits.is_scale
    return [
        *(feature.name, feature.label, feature.role, feature.likelihood, feature.section, feature.description),
        _joined(feature.levels or ()),
        feature.n_trials if is_scale else feature.trials,
        *(_whole(number) for number in (feature.minimum, feature.maximum)),
        *(feature.unit, feature.transform, feature.block, _joined([code or _EMPTY_CELL for code in codes])),
        *("yes" if feature.complete else "no", _other_texts(feature), feature.asked_if),
        *_observed(findings, feature),
        findings.clustered_on_text(feature),
        _prior_or_reason(findings, feature),
    ]


def _other_texts(feature: Feature) -> str | None:
    texts = [f"{given} = {meant}" for given, meant in (feature.synonyms or {}).items()]
    texts += ["decimal comma"] if feature.decimal == "," else []
    texts += [f"thousands separated by {feature.thousands!r}"] if feature.thousands else []
    texts += [f"next to numbers, of no meaning: {' '.join(feature.marks)}"] if feature.marks else []
    standing = {"limit": "the limit", "half": "half of the limit", "missing": "a missing value"}
    texts += [f"for values beyond a limit, {standing[feature.censored]}"] if feature.censored else []
    texts += [f"with a probability of its own: {mass_text(mass)}" for mass in feature.point_masses]
    return _joined(texts)


def _observed(findings: Findings, feature: Feature) -> tuple[Value, Value]:
    if feature.is_clustered or feature.is_described:
        overall = next(iter(findings.read.summaries[feature.name].values()))[ALL_SUBJECTS]
        return (number_of(overall, "n"), number_of(overall, "missing"))
    if feature.name not in findings.cohort.table or findings.sizes_of_all is not None:  # not counted among all subjects
        return (None, None)
    if findings.is_shared:
        return (WITHHELD, WITHHELD)
    missing = int(findings.cohort.table[feature.name].isna().sum())
    return (len(findings.cohort.table) - missing, missing)


def _prior_or_reason(findings: Findings, feature: Feature) -> str | None:
    if findings.is_withheld(feature):
        return WITHHELD  # why it was not clustered on could disclose withheld numbers
    if findings.clustered_on(feature):
        return None if findings.fit is None else _prior(findings, findings.fit, feature)
    reasons = {"describe": "only described", "id": "identifies the subject", "ignore": "ignored", **REASONS}
    return reasons.get(feature.role) or findings.cohort.model.uninformative_[feature.name]


def _prior(findings: Findings, fit: Fit, feature: Feature) -> str | None:
    """Return the hyperparameters; in a shared report those that were stated, for others give the data back."""
    texts = []
    for part in feature.parts:
        own = _prior_of_part(findings, fit, part)
        texts += [f"{part.name}: {own}" if part.is_part else own] if own else []
    return _joined(texts)


def _prior_of_part(findings: Findings, fit: Fit, part: Feature) -> str | None:
    named = fit.hyperparameters_.get(part.name, {})
    if not findings.is_shared:
        return _prior_text(named)
    asked = parameters_of(findings.cohort.model)["hyperparameters"]
    stated = {**(part.prior or {}), **(asked.get(part.name, {}) if isinstance(asked, Mapping) else {})}
    texts = [_prior_text(stated), WITHHELD if named.keys() - stated.keys() else None]
    return _joined([text for text in texts if text])


def _prior_text(hyperparameters: Mapping[str, Any]) -> str | None:
    def written(value: float | Sequence[float]) -> str:
        numbers = [f"{number:.4g}" for number in np.atleast_1d(value)]
        more = [f"... ({len(numbers)} in all)"] if len(numbers) > _NUMBERS_SHOWN else []
        return ", ".join([*numbers[:_NUMBERS_SHOWN], *more])

    return "; ".join(f"{name} = {written(value)}" for name, value in hyperparameters.items()) or None


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
        "One summary, test or effect size a row, for filters, pivot tables and other programs: the same numbers as in "
        "the other sheets. lower and upper are the ends of the 95% confidence interval of estimate.",
        *([_ON_DIVISIONS] if findings.divisions and not findings.is_shared else []),
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
    for division in () if findings.is_shared else findings.divisions:
        yield from _division_rows(division)
    title = "Validated association"
    for row in findings.association_rows():
        if isinstance(row["method"], str):
            method = f"{row['method']}: {row['test']}"
            # The other numbers of the test tell how many subjects are in other subtypes without the feature.
            names = {"p", "q"} if findings.is_shared else _OF_KIND[title]
            yield _data_row(findings, title, {**row, "level": None}, method, names)


_ON_DIVISIONS = (
    "Of a tested division, which decides on the number of subtypes: its two branches, its result as the level, its "
    "evidence in nats as the statistic, the mean and the SD of that in one continuum, and p; without p, it was not "
    "tested against one continuum of any shape."
)


def _division_rows(division: Division) -> Iterator[list[Value]]:
    """Yield a row for the test of a division against one continuum, and one for that against any shape."""
    identity = [None, None, None, division.result, None, *division.branches]
    numbers = {"n": sum(division.sizes), "statistic": division.gain, "mean": division.expected}
    numbers |= {"sd": division.expected_sd, "p": division.p}
    yield ["Tested division", *identity, "one continuum", *(numbers.get(name) for name in _NUMBERS)]
    p = None if isnan(division.p_any_shape) else division.p_any_shape
    of_any = {"n": sum(division.sizes), "p": p}
    yield ["Tested division", *identity, "one continuum of any shape", *(of_any.get(name) for name in _NUMBERS)]


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
