"""Feature schemas: what each column of a cohort table means."""

from __future__ import annotations

from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema, schema_for_array
from clinclust.schema.validation import kept_out

__all__ = ["Feature", "FeatureSchema", "kept_out", "schema_for_array"]
