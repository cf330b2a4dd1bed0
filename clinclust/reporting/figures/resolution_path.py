"""Figure of a resolution path: the number of subtypes at each coarsening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clinclust.arguments import AXES, RESOLUTION_PATH, accepting
from clinclust.reporting.figures.canvas import BLUE, GREY, VERMILION, axes_for
from clinclust.reporting.figures.serial import serially

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clinclust.estimators.resolution_path import ResolutionPath

__all__ = ["plot_resolution_path"]


@accepting(path=RESOLUTION_PATH, ax=AXES)
@serially
def plot_resolution_path(path: ResolutionPath, ax: Axes | None = None) -> Axes:
    """Draw the number of subtypes at each coarsening, and the agreement of the partitions.

    The agreement is the adjusted Rand index to the partition of the step before, and to the finest partition. A black
    line marks the coarsening that a fit chose.

    Parameters
    ----------
    path : ResolutionPath
        From `resolution_path`, or the attribute `MAPDP.resolution_path_`.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure. The agreement has a second axis on the right.

    Returns
    -------
    matplotlib Axes
        The Axes of the number of subtypes.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> path = cc.resolution_path(frame, schema, random_state=0)
    >>> ax = cc.plot_resolution_path(path)
    >>> ax.figure.savefig("resolution_path.png")
    """
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

    ax = axes_for(ax, (7.0, 3.8))
    steps = path.steps
    coarsening, n_clusters = steps["coarsening"].to_numpy(), steps["n_clusters"].to_numpy()
    right = ax.twinx()
    marked: dict[str, Any] = {"linewidth": 1.8, "markersize": 5}
    lines = [
        *ax.plot(coarsening, n_clusters, "o-", color=BLUE, drawstyle="steps-post", label="subtypes", **marked),
        *right.plot(
            coarsening,
            steps["ari_to_previous"],
            "s--",
            color=VERMILION,
            label="agreement with the step before",
            **marked,
        ),
        *right.plot(
            coarsening, steps["ari_to_finest"], ":", color=GREY, label="agreement with the finest", linewidth=1.8
        ),
    ]
    if path.chosen is not None:
        lines.append(ax.axvline(path.chosen, color="black", linewidth=1.2, label=f"chosen: {path.chosen:.2g}"))
    ax.set_xscale("log")
    low, high = float(coarsening.min()), float(coarsening.max())
    ax.set_xlim(high * 1.06, low / 1.06)  # decreasing, so from fine to coarse
    ticks = [tick for tick in (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.07, 0.05) if low * 0.99 <= tick <= high * 1.01]
    ax.xaxis.set_major_locator(FixedLocator(ticks or [low, high]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(0.0, n_clusters.max() + 1.0)
    right.set_ylim(-0.05 if steps["ari_to_finest"].min() > -0.05 else -0.5, 1.05)
    ax.set_xlabel("Coarsening (power of the likelihood), from fine to coarse")
    ax.set_ylabel("Subtypes", color=BLUE)
    right.set_ylabel("Adjusted Rand index", color=VERMILION)
    ax.spines["top"].set_visible(False)
    right.spines["top"].set_visible(False)
    ax.legend(handles=lines, loc="upper center", bbox_to_anchor=(0.5, 1.2), ncol=2, frameon=False, fontsize=8)
    return ax
