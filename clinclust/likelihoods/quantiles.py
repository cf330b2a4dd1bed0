"""Quantiles of counts, by bisection."""

from __future__ import annotations

from collections.abc import Callable

from clinclust.likelihoods.likelihood import LARGEST_COUNT

__all__ = ["first_count"]


def first_count(reached: Callable[[float], bool]) -> float:
    """Return the smallest count, of 0 .. LARGEST_COUNT, that has reached a quantile; the largest if none has.

    Once a count has reached it, so have all larger ones.
    """
    low, high = 0, LARGEST_COUNT
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(float(middle)) else (middle + 1, high)
    return float(low)
