"""A figure of survival by subtype, with the numbers at risk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clinclust.arguments import AXES, NAMES, TEXT, Rule, accepting
from clinclust.control_characters import shortened
from clinclust.reporting.figures.canvas import NAME_TEXT, PLAIN, axes_for, named, serially

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Of Okabe and Ito (2008)."""
_STYLES = ("-", "--", ":", "-.")
_TICKS = 6
_CURVES = Rule(
    "a DataFrame that outcomes.survival_curves returned",
    lambda value: isinstance(value, pd.DataFrame) and {"subtype", "time"} <= set(value.columns),
)


@accepting(curves=_CURVES, unit=TEXT, names=NAMES, ax=AXES)
@serially
def plot_survival(
    curves: pd.DataFrame, *, unit: str = "", names: Mapping[int, str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the survival or cumulative incidence of each subtype as assigned, with the numbers at risk below.

    Parameters
    ----------
    curves : DataFrame
        What `outcomes.survival_curves` returned.
    unit : str
        Unit of the times.
    names : dict of int to str, optional
        Names of subtypes by number.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Raises
    ------
    ValueError
        If names are given for subtypes that do not exist.
    """
    what, first = ("incidence", 0.0) if "incidence" in curves else ("survival", 1.0)
    subtypes = sorted(set(curves["subtype"].tolist()))
    called = named(subtypes, names)
    ax = axes_for(ax, (7.0, 4.2 + 0.2 * len(subtypes)))
    for place, subtype in enumerate(subtypes):
        curve = curves[curves["subtype"] == subtype]
        time, share = np.append(0.0, curve["time"]), np.append(first, curve[what])
        colour, title = _COLOURS[place % len(_COLOURS)], shortened(called[subtype], NAME_TEXT)
        style = _STYLES[place // len(_COLOURS) % len(_STYLES)]
        ax.step(time, share, where="post", color=colour, linestyle=style, linewidth=1.8, label=title)
        lower, upper = (curve[name].ffill().fillna(first) for name in ("lower", "upper"))
        ax.fill_between(curve["time"], lower, upper, step="post", color=colour, alpha=0.12, linewidth=0)
    ticks = np.array([tick for tick in ax.get_xticks() if 0.0 <= tick <= curves["time"].max()])
    ticks = ticks[:: max(1, -(-ticks.size // _TICKS))]
    lines = [f"{tick:g}" for tick in ticks]
    for subtype in subtypes:
        curve = curves[curves["subtype"] == subtype]
        at = np.searchsorted(curve["time"].to_numpy(), ticks)
        counts = np.append(curve["at_risk"].to_numpy(), 0)[at]
        lines = [f"{line}\n{count}" for line, count in zip(lines, counts.tolist(), strict=True)]
    ax.set_xticks(ticks, labels=lines, fontsize=8)
    ax.set_xlim(0.0, float(curves["time"].max()))
    ax.set_ylim(0.0, 1.02)
    title = "Survival" if what == "survival" else "Cumulative incidence"
    ax.set_ylabel(f"{title}, as assigned", fontsize=9)
    order = ", ".join(shortened(called[subtype], NAME_TEXT) for subtype in subtypes)
    about = f"Time ({unit})" if unit else "Time"
    ax.set_xlabel(f"{about}; below, the numbers at risk: {order}", fontsize=8, **PLAIN)
    legend = ax.legend(fontsize=8, frameon=False)
    for text in legend.get_texts():
        text.set(**PLAIN)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
