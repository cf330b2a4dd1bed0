"""The width of the innermost loops: eight columns at a time."""

from __future__ import annotations

__all__ = ["LANES", "padded"]

LANES = 8
"""Clusters, or features, that the innermost loops (`clinclust.engine.kernels.inner_loops`) take at a time."""


def padded(length: int) -> int:
    """Return the least multiple of eight that is not less."""
    return -(-length // LANES) * LANES
