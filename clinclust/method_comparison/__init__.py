"""Other methods of clustering beside MAP-DP on one cohort: what each finds, and what there is to say for it."""

from __future__ import annotations

from clinclust.method_comparison.compare import MethodComparison, compare_methods

__all__ = ["MethodComparison", "compare_methods"]
