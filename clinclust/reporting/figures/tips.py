"""The order in which a figure shows the tips of a tree."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["tips_in_order"]


def tips_in_order(joins: Sequence[Sequence[int]], n_tips: int) -> list[int]:
    """Return the tips in an order in which no lines of the tree cross; the first side of a join comes first."""
    found, ahead = list[int](), [n_tips + len(joins) - 1]
    while ahead:
        node = ahead.pop()
        if node < n_tips:
            found.append(node)
        else:
            ahead += reversed(joins[node - n_tips])
    return found
