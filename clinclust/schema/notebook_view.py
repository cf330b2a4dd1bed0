"""The HTML view of a schema in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.files.notebook_html import block, paragraph, table

if TYPE_CHECKING:
    from clinclust.schema.feature import Feature
    from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["schema_html"]

_MOST_FEATURES = 60


def schema_html(schema: FeatureSchema) -> str:
    """Return the features of a schema as an HTML table."""
    rows = [
        (
            feature.name,
            feature.label or "",
            feature.role,
            feature.likelihood or "",
            _values(feature),
            feature.unit or "",
            feature.section or "",
        )
        for feature in schema.features[:_MOST_FEATURES]
    ]
    title = f"{schema.title or 'Untitled schema'}: {len(schema)} {'feature' if len(schema) == 1 else 'features'}"
    left_out = len(schema) - len(rows)
    columns = ("Name", "Label", "Role", "Likelihood", "Values", "Unit", "Section")
    # Leave out a column that is empty for every feature.
    told = [place for place in range(len(columns)) if place < 1 or any(row[place] for row in rows)]
    return block(
        title,
        table([columns[place] for place in told], [[row[place] for place in told] for row in rows]),
        paragraph(f"and {left_out} more") if left_out else "",
    )


def _values(feature: Feature) -> str:
    """Return a short description of the values that a column may hold; empty if any value is allowed."""
    if feature.levels is not None:
        return ", ".join(feature.levels)
    if feature.traits.is_scale and feature.n_trials is not None:
        return f"{feature.lowest:g} to {feature.lowest + feature.n_trials:g}"
    if feature.minimum is None and feature.maximum is None:
        return ""
    if feature.maximum is None:
        return f"{feature.minimum:g} or more"
    return f"up to {feature.maximum:g}" if feature.minimum is None else f"{feature.minimum:g} to {feature.maximum:g}"
