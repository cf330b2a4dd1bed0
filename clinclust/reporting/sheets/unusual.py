"""The sheet Unusual subjects: subjects whose values are improbable in their own subtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.estimators.unusual import MOST_LISTED
from clinclust.reporting.findings import as_value
from clinclust.reporting.layout import Column, Sheet, Table, Value

if TYPE_CHECKING:
    from clinclust.reporting.findings import Findings

__all__ = ["on_unusual_subjects", "unusual_sheets"]

_MANY = 0.02
"""Share of the subjects above which the model, and not the subjects, is likely to be at fault."""
_FEW = 5


def on_unusual_subjects(findings: Findings) -> list[str]:
    """Return the sentence of the first page; empty if no subject is unusual."""
    n = len(findings.unusual)
    if not n:
        return []
    who = "1 subject has" if n == 1 else f"{n} subjects have" if n < MOST_LISTED else f"{n} or more subjects have"
    if n > max(_FEW, _MANY * findings.n_subjects):
        meaning = (
            "so many say that features depend on each other inside subtypes, or have heavier tails than their "
            "likelihoods; look at the first of them"
        )
    else:
        meaning = "look for slips of recording, or a rare condition"
    return [f"{who} values too improbable in their subtype to be expected by chance (Unusual subjects): {meaning}."]


def unusual_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no subject is unusual."""
    unusual = findings.unusual
    if unusual.empty:
        return []
    ids = findings.model.schema_.ids
    columns = [*([Column(feature.title) for feature in ids] or [Column("Row")]), Column("Subtype", "0")]
    with_others = bool((unusual["subtype"] != unusual["compared_with"]).any())
    columns += [Column("Compared with subtype", "0")] if with_others else []
    columns += [
        Column("p", "p"),
        Column("Log density (nats)", "0.0"),
        Column("Expected (nats)", "0.0"),
        Column("Least probable values", widest=60),
    ]
    rows: list[list[Value]] = []
    identified = findings.frame[[feature.name for feature in ids]]
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
