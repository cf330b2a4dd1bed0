"""Figures of a fit: each function draws on a matplotlib Axes and returns it; options are given by name."""

from __future__ import annotations

from clinclust.reporting.figures.effects import plot_effects
from clinclust.reporting.figures.subjects import (
    plot_certainty,
    plot_divisions,
    plot_explanation,
    plot_map,
    plot_missing,
    plot_profile,
    plot_survival,
)
from clinclust.reporting.figures.tree import plot_relevance, plot_resolution_path, plot_restarts, plot_tree

__all__ = [
    "plot_certainty",
    "plot_divisions",
    "plot_effects",
    "plot_explanation",
    "plot_map",
    "plot_missing",
    "plot_profile",
    "plot_relevance",
    "plot_resolution_path",
    "plot_restarts",
    "plot_survival",
    "plot_tree",
]
