"""What the columns of a cohort are: features, the schema they make, and drafting one from a table."""

from __future__ import annotations

from clinclust.schema.feature import Feature
from clinclust.schema.feature_schema import FeatureSchema

__all__ = ["Feature", "FeatureSchema"]
