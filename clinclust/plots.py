"""Figures of a fit: each function draws on a matplotlib Axes and returns it; options are given by name."""

from __future__ import annotations

from clinclust.reporting.figures.effects import plot_effects
from clinclust.reporting.figures.subjects import plot_divisions, plot_map, plot_profile, plot_survival, plot_tree

__all__ = ["plot_divisions", "plot_effects", "plot_map", "plot_profile", "plot_survival", "plot_tree"]
