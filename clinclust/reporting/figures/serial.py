"""One figure at a time: matplotlib's settings belong to the whole process, not to a thread.

A page is drawn under settings of its own. If two threads did so at the same time, each would draw under the settings of
the other, and the last to end would leave them behind.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import ParamSpec, TypeVar

__all__ = ["DRAWING", "serially"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

DRAWING = RLock()
"""Held while a figure is made or drawn."""


def serially(draw: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function that draws wait until no other thread draws a figure of clinclust."""

    @wraps(draw)
    def draw_alone(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with DRAWING:
            return draw(*args, **kwargs)

    return draw_alone
