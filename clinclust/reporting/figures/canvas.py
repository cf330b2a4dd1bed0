"""Shared parts of the figures: the Axes, the colours, the names of subtypes, and the rules for text from the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from clinclust.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BLUE", "GREY", "PLAIN", "VERMILION", "axes_for", "named", "remark"]

# Blue and vermilion of Okabe and Ito (2008), which readers with any kind of colour vision can distinguish.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#6E6E6E"

# Settings for every text from a schema or a table: "$" is a dollar sign, and no TeX is run.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given Axes, or the Axes of a new figure; `size` is its width and height in inches."""
    if ax is not None:
        return ax
    from clinclust.reporting.figures.serial_figure import SerialFigure

    figure = SerialFigure(figsize=size, layout="constrained")
    new: Any = figure.add_subplot()
    return new  # type: ignore[no-any-return]


def named(subtypes: Iterable[int], names: Mapping[int, str] | None) -> dict[int, str]:
    """Return the title of each subtype by number: its name, or "Subtype" and its number.

    Raises
    ------
    ValueError
        If names are given for subtypes that do not exist.
    """
    known = list(subtypes)
    unknown = sorted(set(names or {}) - set(known))
    if unknown:
        raise InputError(
            f"names has {', '.join(map(repr, unknown))}, but the subtypes are {', '.join(map(str, known))}"
        )
    return {subtype: (names or {}).get(subtype) or f"Subtype {subtype}" for subtype in known}


def remark(ax: Axes, lines: Iterable[str], below: float = 6.0) -> None:
    """Write remarks in small print, `below` points below the horizontal axis; empty lines are left out."""
    text = "\n".join(line for line in lines if line)
    if text:
        ax.set_xlabel(text, loc="left", fontsize=8, color=GREY, labelpad=below, **PLAIN)
