"""Draw a heat map with the number in each cell and a labelled colour bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.reporting.figures.canvas import GREY, PLAIN
from clinclust.reporting.layout import WITHHELD

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_heat_map", "heat_map_size"]

_STEPS = 21  # colours of the bar: odd, so that one is in the middle, and few enough to be distinguished


def heat_map_size(n_rows: int, columns: Sequence[str]) -> tuple[float, float]:
    """Return the width and height, in inches, of a heat map with `n_rows` rows and these headings of columns."""
    longest = max(len(line) for heading in columns for line in heading.split("\n"))
    return (4.7 + max(0.56, 0.085 * longest) * len(columns), 1.5 + 0.25 * max(n_rows, 4))


def draw_heat_map(
    ax: Axes,
    numbers: NDArray[np.float64],
    withheld: NDArray[np.bool_],
    *,
    colours: str | Sequence[str],
    limits: tuple[float, float],
    rows: Sequence[str],
    columns: Sequence[str],
    bar: str,
    number_format: str,
) -> None:
    """Draw a heat map on Axes, the first row at the top. Cells without a number are hatched.

    Parameters
    ----------
    ax : matplotlib Axes
    numbers : float64 (R, C)
        NaN in a cell without a number.
    withheld : bool (R, C)
        Whether the number of a cell is withheld.
    colours : str or sequence of str
        Name of a matplotlib colour map, or the colours from its lowest to its highest number.
    limits : tuple of two float
        Numbers at the two ends of the colour map. A number beyond a limit gets the colour of this limit.
    rows, columns : sequence of str
        Titles of the rows, on the left, and of the columns, at the top.
    bar : str
        Label of the colour bar.
    number_format : str
        Format specification of the numbers in the cells.
    """
    import matplotlib as mpl
    from matplotlib.colors import Colormap, LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    colour_map: Colormap
    ticks = np.linspace(*limits, 5 if limits[0] == 0 else 7)
    if isinstance(colours, str):
        colour_map = mpl.colormaps[colours].resampled(_STEPS)
    else:
        colour_map = LinearSegmentedColormap.from_list("clinclust", list(colours), _STEPS)
    mesh: Any = ax.pcolormesh(
        np.ma.masked_invalid(numbers),
        cmap=colour_map,
        vmin=limits[0],
        vmax=limits[1],
        edgecolors="face",
        linewidth=0.2,
    )
    small, ink = 8.0 if len(columns) <= 12 else 7.0, mpl.rcParams["text.color"]
    for (row, column), number in np.ndenumerate(numbers):
        centre = (column + 0.5, row + 0.5)
        if np.isnan(number):
            hatched: Any = {"facecolor": "none", "edgecolor": GREY, "linewidth": 0.0, "hatch": "////", "alpha": 0.3}
            ax.add_patch(Rectangle((column, row), 1, 1, **hatched))
            text, colour = WITHHELD if withheld[row, column] else "–", ink
        else:
            text, colour = _written(number, number_format), _ink_on(mesh.to_rgba(number))
        # The text lies inside the axes. in_layout=False saves the time to measure hundreds of texts for the layout.
        ax.text(*centre, text, ha="center", va="center", fontsize=small, color=colour, in_layout=False)
    ax.set_ylim(len(rows), 0)
    ax.set_xlim(0, len(columns))
    ax.set_yticks(np.arange(len(rows)) + 0.5, labels=rows, fontsize=9, **PLAIN)
    ax.set_xticks(np.arange(len(columns)) + 0.5, labels=columns, fontsize=9, **PLAIN)
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    figure: Any = ax.figure
    # The height of the bar in inches is nearly the same for few rows and for many, so that its label is never cut.
    tall = float(np.clip(11.0 / max(len(rows), 1), 0.25, 1.0))
    legend = figure.colorbar(mesh, ax=ax, shrink=tall, aspect=20 * tall, pad=0.03, ticks=ticks)
    legend.set_label(bar, fontsize=8)
    legend.ax.tick_params(labelsize=8)
    legend.outline.set_visible(False)


def _written(number: float, number_format: str) -> str:
    text = format(number, number_format)
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else format(0.0, number_format).lstrip("+")


def _ink_on(rgba: tuple[float, ...]) -> str:
    """Return black or white, whichever has the higher contrast to a colour (relative luminance of WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "white"
