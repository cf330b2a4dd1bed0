"""How the subtypes differ, feature by feature."""

from __future__ import annotations

from clinclust.comparisons.compare import compare_subtypes

__all__ = ["compare_subtypes"]
