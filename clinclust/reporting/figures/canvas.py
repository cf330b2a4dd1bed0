"""Shared parts of the figures: the Axes, the colours, the names of subtypes, and the rules for text from the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from clinclust.control_characters import shortened
from clinclust.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

DRAWING = RLock()
"""Held while a figure is made or drawn: the settings of matplotlib belong to the whole process."""

# Blue and vermilion of Okabe and Ito (2008), which readers with any kind of colour vision can distinguish.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#6E6E6E"

# Settings for every text from a schema or a table: "$" is a dollar sign, and no TeX is run.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

ROW_TEXT, NAME_TEXT = 44, 40
"""Characters of the title of a row, and of the name of a subtype."""


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given Axes, or the Axes of a new figure; `size` is its width and height in inches."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=size, layout="constrained")
    figure.savefig = partial(_saved_alone, figure)
    return figure.add_subplot()  # type: ignore[no-any-return]


def _saved_alone(figure: Any, fname: Any, **options: Any) -> None:
    with DRAWING:
        type(figure).savefig(figure, fname, **options)


def named(subtypes: Iterable[int], names: Mapping[int, str] | None) -> dict[int, str]:
    """Return the title of each subtype by number: its name, or "Subtype" and its number; refuse unknown ones."""
    known = list(subtypes)
    names = names or {}
    if unknown := sorted(set(names) - set(known)):
        raise InputError(
            f"names has {', '.join(map(repr, unknown))}, but the subtypes are {', '.join(map(str, known))}"
        )
    return {subtype: names.get(subtype) or f"Subtype {subtype}" for subtype in known}


def draw_bars(
    ax: Axes, values: Sequence[float], titles: Sequence[str], texts: Sequence[str], *, below_0: str, margin: float
) -> None:
    """Draw a bar for each value, the first at the top, with its title on the left and its text at its end."""
    bars = ax.barh(range(len(values)), values, height=0.7, color=[BLUE if value > 0 else below_0 for value in values])
    ax.bar_label(bars, list(texts), padding=3, fontsize=8)
    labels = [shortened(title, ROW_TEXT) for title in titles]
    ax.set_yticks(range(len(values)), labels=labels, fontsize=9, **PLAIN)
    ax.set_ylim(len(values) - 0.4, -0.6)
    ax.margins(x=margin)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def remark(ax: Axes, lines: Iterable[str], below: float = 6.0) -> None:
    """Write remarks in small print, `below` points below the horizontal axis; empty lines are left out."""
    text = "\n".join(line for line in lines if line)
    if text:
        ax.set_xlabel(text, loc="left", fontsize=8, color=GREY, labelpad=below, **PLAIN)


def serially(draw: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function that draws wait until no other thread draws a figure of clinclust."""

    @wraps(draw)
    def draw_alone(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with DRAWING:
            return draw(*args, **kwargs)

    return draw_alone
