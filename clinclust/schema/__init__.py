"""Feature schemas: what each column of a cohort table means."""

from __future__ import annotations

from clinclust.schema.array_schema import schema_for_array
from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema
from clinclust.schema.informative import kept_out

__all__ = ["Feature", "FeatureSchema", "kept_out", "schema_for_array"]
