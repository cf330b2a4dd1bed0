"""The width of the innermost loops, which process eight columns at a time."""

from __future__ import annotations

__all__ = ["LANES", "padded"]

LANES = 8
"""Clusters or features that the innermost loops process at a time (`clinclust.engine.kernels.inner_loops`)."""


def padded(length: int) -> int:
    """Return the length rounded up to a multiple of eight."""
    return -(-length // LANES) * LANES
