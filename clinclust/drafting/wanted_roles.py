"""Give columns the roles that somebody wants; what needs a likelihood and has none is drafted by its values alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from clinclust.drafting.column import column_of
from clinclust.drafting.propose import proposed
from clinclust.errors import SchemaError
from clinclust.files.column_notes import ColumnNotes, notes_of
from clinclust.roles import NEEDS_LIKELIHOOD
from clinclust.schema.changed_roles import WRITE_LIKELIHOOD, needs_likelihood, role_problems
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["with_wanted_roles"]


def with_wanted_roles(schema: FeatureSchema, frame: pd.DataFrame, roles: Mapping[str, str]) -> FeatureSchema:
    """Return the schema with these roles by name.

    A feature without a likelihood that is to be clustered on or described is drafted by the values of its column,
    whatever its name or its file says that it is for. Its comment says so.

    Raises
    ------
    SchemaError
        If a name or a role is unknown, or if the values of a column give no likelihood. The message lists all problems.
    """
    problems = role_problems(roles, schema.names)
    notes = notes_of(frame)
    features, comments = [], dict(schema.comments)
    for feature in schema:
        name = feature.name
        role = roles.get(name, feature.role)
        if role in NEEDS_LIKELIHOOD and feature.likelihood is None and name in frame:
            column = column_of(name, frame[name], notes.get(name, ColumnNotes()))
            with np.errstate(all="ignore"):
                drafted = proposed(column.without(set(schema.missing_codes_of(feature))), is_wanted=True)
            if "likelihood" in drafted.fields:
                kept = {key: value for key, value in feature.content().items() if key not in ("name", "role")}
                feature = Feature(**{**kept, **drafted.fields, "name": name, "role": role})
                comments[name] = f"drafted by its values; {drafted.comment()}"
            else:
                need = needs_likelihood(name, role)
                problems.append(f"{need}, and its values give none ({drafted.reason}): {WRITE_LIKELIHOOD}")
        features.append(feature)
    if problems:
        raise SchemaError(problems)
    changed = schema.with_changed(features)
    changed.comments.update({name: comment for name, comment in comments.items() if comment})
    return changed.with_roles(roles)
