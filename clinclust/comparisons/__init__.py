"""Comparisons of the subtypes, feature by feature: summaries, tests and effect sizes."""

from __future__ import annotations

from clinclust.comparisons.compare import compare_subtypes

__all__ = ["compare_subtypes"]
