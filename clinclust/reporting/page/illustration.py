"""Illustration: a figure of a page with its texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Illustration"]


@dataclass(frozen=True)
class Illustration:
    """A figure with its title, caption and alternative text.

    Attributes
    ----------
    name : str
        Identifier of letters and hyphens.
    title, caption : str
        Texts above and below the figure.
    alternative : str
        Alternative text, which describes what the figure shows.
    draw : callable
        Function without arguments that draws on a new figure and returns the Axes.
    """

    name: str
    title: str
    caption: str
    alternative: str
    draw: Callable[[], Axes]
