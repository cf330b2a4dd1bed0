"""A second look at a table and its schema: features that fit, but are probably declared as the wrong kind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from clinclust.drafting.column import column_of
from clinclust.drafting.proposal import Look
from clinclust.drafting.propose import proposed
from clinclust.files.column_notes import ColumnNotes
from clinclust.likelihoods import traits_of
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["looks_of"]

_SURE = 0.95


def looks_of(table: pd.DataFrame, schema: FeatureSchema) -> list[Look]:
    """Return the clustered features of a table, as it was read, that their values show to be of another kind.

    Each column is drafted by its values alone. What the draft is sure of, and the schema contradicts, deserves a look:
    counts declared as measurements, a number that means a missing value, a share of equal numbers.
    """
    found: list[Look] = []
    with np.errstate(all="ignore"):
        for feature in schema.clustered:
            if feature.name in table:
                found += _about(feature, table[feature.name], schema.missing_codes_of(feature))
    return found


def _about(feature: Feature, cells: pd.Series, codes: tuple[str, ...]) -> Iterator[Look]:
    column = column_of(feature.name, cells, ColumnNotes())
    draft = proposed(column.without(set(codes)))
    if "likelihood" not in draft.fields:
        return
    drafted, declared = traits_of(draft.fields["likelihood"]), feature.traits
    suspected = [code for code in draft.fields.get("missing_codes", ()) if code not in (feature.levels or ())]
    if suspected and feature.levels is None:
        shown = ", ".join(suspected)
        yield Look((feature.name,), f"{shown} may mean missing values", f"missing_codes: [{shown}]")
    kinds = (declared.is_continuous, declared.is_count), (drafted.is_continuous, drafted.is_count)
    if feature.levels is None and not declared.is_scale and kinds[0] != kinds[1] and draft.probability >= _SURE:
        repair = ", ".join(f"{name}: {value}" for name, value in draft.fields.items() if name != "missing_codes")
        yield Look((feature.name,), f"by its values it is {draft.reason}", repair)
    elif "spike" in draft.fields and declared.is_continuous and not getattr(feature, "spike", None):
        yield Look((feature.name,), draft.reason, f"spike: {draft.fields['spike']:g}")
