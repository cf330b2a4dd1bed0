"""The colours of numbers below and above a middle, the same in the workbook, the figures and on the page."""

from __future__ import annotations

__all__ = ["BELOW", "HIGH", "LOW", "MIDDLE"]

# Readers with any kind of colour vision can distinguish blue and orange, and dark text is legible on both.
LOW, MIDDLE, HIGH = "F5A742", "FFFFFF", "6BAED6"
BELOW = "orange"
"""What readers call the colour of numbers below the middle; those above are blue."""
