"""Comparisons of the subtypes, feature by feature, and of partitions with each other."""

from __future__ import annotations

from clinclust.comparisons.compare import compare_subtypes
from clinclust.comparisons.dominance import dominant_columns
from clinclust.comparisons.frame import compare_partitions

__all__ = ["compare_partitions", "compare_subtypes", "dominant_columns"]
