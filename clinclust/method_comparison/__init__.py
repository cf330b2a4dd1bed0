"""MAP-DP compared with other methods of clustering on one cohort."""

from __future__ import annotations

from clinclust.method_comparison.compare import MethodComparison, compare_methods

__all__ = ["MethodComparison", "compare_methods"]
