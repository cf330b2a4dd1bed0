"""What all figures share: the Axes to draw on, the colours, and words from data as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from clinclust.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BLUE", "GREY", "PLAIN", "VERMILION", "axes_for", "named", "remark"]

# Blue and vermilion of Okabe and Ito (2008), which every kind of colour vision tells apart.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#6E6E6E"

# For every text that holds words of a schema or a table: "$" is a dollar, and no TeX is run on it.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the Axes given, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    new: Any = figure.add_subplot()
    return new  # type: ignore[no-any-return]


def named(subtypes: Iterable[int], names: Mapping[int, str] | None) -> dict[int, str]:
    """Return what each subtype is called: its name, else its number.

    Raises
    ------
    ValueError
        If there are names of subtypes that do not exist.
    """
    known = list(subtypes)
    unknown = sorted(set(names or {}) - set(known))
    if unknown:
        raise InputError(
            f"names has {', '.join(map(repr, unknown))}, but the subtypes are {', '.join(map(str, known))}"
        )
    return {subtype: (names or {}).get(subtype) or f"Subtype {subtype}" for subtype in known}


def remark(ax: Axes, lines: Iterable[str], below: float = 6.0) -> None:
    """Write remarks, small, so many points below the axis."""
    text = "\n".join(line for line in lines if line)
    if text:
        ax.set_xlabel(text, loc="left", fontsize=8, color=GREY, labelpad=below, **PLAIN)
