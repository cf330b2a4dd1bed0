"""The sheet Codebook: the meaning of every column of the cohort, and its numbers of observed and missing values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.reporting.findings import Findings, number_of
from clinclust.reporting.layout import WITHHELD, Column, Sheet, Table, Value

if TYPE_CHECKING:
    from clinclust.schema import Feature

__all__ = ["codebook"]

_ALL_SUBJECTS = 0
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
    rows = [_row(findings, feature) for feature in findings.model.schema_]
    notes = [
        "Every column of the cohort as the schema declares it. Levels of a scale stand from lowest to highest; if they "
        "are words, the lowest is scored 0, the next 1, and so on. Of a yes/no feature no, then yes. The "
        "hyperparameters of a prior are on the scale of the column after its transform."
    ]
    return Sheet("Codebook", notes, [Table("What every column means", columns, rows, stub=2)])


def _row(findings: Findings, feature: Feature) -> list[Value]:
    codes = findings.model.schema_.missing_codes_of(feature)
    identity: list[Value] = [feature.name, feature.label, feature.role, feature.likelihood, feature.section]
    texts = (feature.unit, feature.transform, feature.block, _joined([code or _EMPTY_CELL for code in codes]))
    return [
        *identity,
        feature.description,
        _joined(feature.levels or ()),
        feature.trials if feature.trials is not None or not feature.traits.is_scale else feature.n_trials,
        *(_whole(number) for number in (feature.minimum, feature.maximum)),
        *texts,
        "yes" if feature.complete else "no",
        _other_texts(feature),
        feature.asked_if,
        *_observed(findings, feature),
        findings.clustered_on_text(feature),
        _prior_or_reason(findings, feature),
    ]


def _other_texts(feature: Feature) -> str | None:
    """Return what the schema says of texts that are neither levels nor plain numbers."""
    texts = [f"{given} = {meant}" for given, meant in (feature.synonyms or {}).items()]
    texts += ["decimal comma"] if feature.decimal == "," else []
    texts += [f"thousands separated by {feature.thousands!r}"] if feature.thousands else []
    texts += [f"beside numbers, of no meaning: {' '.join(feature.marks)}"] if feature.marks else []
    standing = {"limit": "the limit", "half": "half of the limit", "missing": "a missing value"}
    texts += [f"for values beyond a limit, {standing[feature.censored]}"] if feature.censored else []
    return _joined(texts)


def _observed(findings: Findings, feature: Feature) -> tuple[Value, Value]:
    if feature.role in ("cluster", "describe"):
        overall = next(iter(findings.levels(feature).values()))[_ALL_SUBJECTS]
        return (number_of(overall, "n"), number_of(overall, "missing"))
    if feature.name not in findings.frame:
        return (None, None)
    if findings.is_shared:
        return (WITHHELD, WITHHELD)
    missing = int(findings.frame[feature.name].isna().sum())
    return (len(findings.frame) - missing, missing)


def _prior_or_reason(findings: Findings, feature: Feature) -> str | None:
    if findings.is_withheld(feature):
        return WITHHELD  # the prior is set from the data and could disclose withheld numbers
    if findings.clustered_on(feature):
        fit = findings.fit
        return None if fit is None else _prior_text(fit.hyperparameters_.get(feature.name, {}))
    reasons = {"describe": "described only", "id": "identifies the subject", "ignore": "ignored"}
    return reasons.get(feature.role) or findings.model.kept_out_[feature.name]


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
