"""Figures of a fit. Each function draws on a matplotlib Axes and returns it."""

from __future__ import annotations

from clinclust.reporting.figures.certainty import plot_certainty
from clinclust.reporting.figures.effects import plot_effects
from clinclust.reporting.figures.explanation import plot_explanation
from clinclust.reporting.figures.missing import plot_missing
from clinclust.reporting.figures.profile import plot_profile
from clinclust.reporting.figures.relevance import plot_relevance
from clinclust.reporting.figures.resolution_path import plot_resolution_path
from clinclust.reporting.figures.restarts import plot_restarts
from clinclust.reporting.figures.tree import plot_tree

__all__ = [
    "plot_certainty",
    "plot_effects",
    "plot_explanation",
    "plot_missing",
    "plot_profile",
    "plot_relevance",
    "plot_resolution_path",
    "plot_restarts",
    "plot_tree",
]
