"""A figure that waits until no other thread draws; only `axes_for` imports this module, because matplotlib is heavy."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from clinclust.reporting.figures.serial import DRAWING

__all__ = ["SerialFigure"]


class SerialFigure(Figure):
    """A figure whose bytes do not depend on what other threads draw with clinclust."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure to a file, as `Figure.savefig` does."""
        with DRAWING:
            super().savefig(fname, **options)
