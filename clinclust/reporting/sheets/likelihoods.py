"""The sheet Likelihoods: features that another likelihood describes clearly better than the one of the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clinclust.estimators.likelihood_check import probably_too
from clinclust.reporting.findings import as_value
from clinclust.reporting.layout import Column, Sheet, Table, Value

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.reporting.findings import Findings

__all__ = ["likelihoods_sheets", "on_likelihoods"]


def on_likelihoods(findings: Findings) -> list[str]:
    """Return the sentence of the first page; empty if no other likelihood is clearly better."""
    n = len(_misfits(findings))
    if not n:
        return []
    which = "1 feature is" if n == 1 else f"{n} features are"
    mend = (
        "see Likelihoods"
        if findings.is_shared
        else f"change the schema line{'' if n == 1 else 's'} in Likelihoods and fit again"
    )
    return [
        f"{which} described clearly better by another likelihood than the schema declares; this can invent subtypes: "
        f"{mend}."
    ]


def likelihoods_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no other likelihood is clearly better."""
    misfits = _misfits(findings)
    if misfits.empty:
        return []
    columns = [Column("Feature"), Column("Declared"), Column("Better")]
    if not findings.is_shared:
        columns += [
            Column("Evidence (nats)", "0"),
            Column("Groups as declared", "0"),
            Column("Groups if better", "0"),
            Column("Line for the schema", overflow=True),
        ]
    rows = [_row(findings, row) for row in misfits.to_dict("records")]
    return [Sheet("Likelihoods", _notes(findings), [Table("Features to declare otherwise", columns, rows)])]


def _misfits(findings: Findings) -> pd.DataFrame:
    """Return the misfits, of which a shared report leaves out features with withheld numbers.

    What describes a feature better is a function of all its counts.
    """
    compared = findings.likelihoods
    is_shown = [not findings.is_withheld(findings.model.schema_[name]) for name in compared["feature"]]
    return compared[compared["is_misfit"] & np.array(is_shown, dtype=np.bool_)]


def _row(findings: Findings, row: dict[object, object]) -> list[Value]:
    names: list[Value] = [
        findings.model.schema_[str(row["feature"])].title,
        str(row["declared"]),
        str(row["better"]),
    ]
    if findings.is_shared:
        return names
    numbers = [as_value(row[name]) for name in ("evidence", "declared_groups", "better_groups")]
    return [*names, *numbers, str(row["schema_line"])]


def _notes(findings: Findings) -> list[str]:
    notes = [
        "A likelihood says how the values of a feature scatter inside a subtype. Where it is wrong, the search buys "
        "subtypes to describe this scatter; they are clear and come again in every search, and are none. The features "
        "below are described clearly better by another likelihood, mostly in fewer groups."
    ]
    if findings.is_shared:
        return [*notes, "Features with withheld numbers are not listed, whatever describes them better."]
    return [
        *notes,
        "Put the lines in the place of those of these features in the schema, and fit again; `clinclust check TABLE "
        "--model DIR --out SCHEMA` writes a copy of the schema with them. Do so only if a line says what the column "
        "is: two kinds of patients in one subtype scatter more, too.",
        "Evidence: by how many nats (log marginal likelihood) the better one describes the values better, each in as "
        "many groups of the tree as suit it best, after its part of what dividing the subjects into these groups costs "
        "in the log joint.",
        *filter(None, [probably_too(findings.likelihoods)]),
    ]
