"""Figures of a search: its restarts, the relevance of the features, and the resolution path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.arguments import AXES, MODEL, RESOLUTION_PATH, WHOLE, accepting
from clinclust.estimators.resolution_path import ResolutionPath
from clinclust.estimators.subtype_model import SubtypeModel, require_search
from clinclust.reporting.figures.canvas import BLUE, GREY, VERMILION, axes_for, draw_bars, remark, serially

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINEAR_BELOW = 10.0  # nats; beyond this the scale is logarithmic, because there ratios matter more than differences
_ROOM = (0.12, 0.045)  # space for a number, as shares of the width and height of the axes


@accepting(model=MODEL, ax=AXES)
@serially
def plot_restarts(model: SubtypeModel, *, ax: Axes | None = None) -> Axes:
    """Draw each partition at which a search ended: its log joint below the best, and its agreement with the best.

    The number at a point, or at several close points, is the number of searches that ended there. Points at the top
    left are different partitions that are nearly as good: the subtypes are then less certain than one fit suggests.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Raises
    ------
    ValueError
        If the model is not fitted, or its subtypes were not found by a MAP-DP search.
    """
    fit = require_search(model, "plot_restarts")
    searches = fit.restarts_
    joint = searches["log_joint"].round(6)
    partitions = searches.groupby(-joint)  # sorted by -joint, so the best comes first
    below = partitions["log_joint"].first().rsub(searches["log_joint"].max()).to_numpy()
    agreement = partitions["ari_to_best"].first().to_numpy()
    ended = partitions.size().to_numpy()
    ax = axes_for(ax, (7.5, 4.2))
    ax.scatter(agreement[:1], below[:1], s=110, marker="D", color=VERMILION, zorder=3)
    ax.scatter(agreement[1:], below[1:], s=40, facecolors="none", edgecolors=BLUE, linewidths=1.4, zorder=4)
    ax.set_yscale("symlog", linthresh=_LINEAR_BELOW, linscale=1.0)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    deepest = max(float(below.max()), 1.0)
    ax.set_ylim(deepest * 1.5, -1.0 if deepest > _LINEAR_BELOW else -0.1 * deepest)
    left = min(float(agreement.min()), 0.9)
    ax.set_xlim(left - 0.2 * (1 - left), 1 + 0.15 * (1 - left))
    written: dict[str, Any] = {"va": "center", "textcoords": "offset points", "fontsize": 8}
    ax.annotate(f"best: {ended[0]}", (agreement[0], below[0]), xytext=(9, 0), ha="left", **written)
    for places in _side_by_side(ax, agreement[1:], below[1:]):
        text = f"{ended[1:][places].sum()}" + (f" in {len(places)} partitions" if len(places) > 1 else "")
        first = min(places, key=lambda place: agreement[1:][place])
        ax.annotate(text, (agreement[1:][first], below[1:][first]), xytext=(-8, 0), ha="right", **written)
    ax.set_xlabel("Agreement with the best partition (adjusted Rand index)")
    which = "Log joint" if fit.completed_log_joint_ is None else "Log joint with filled values"
    ax.set_ylabel(f"{which} below the best (nats)")
    ax.spines[["top", "right"]].set_visible(False)
    total = int(ended.sum())
    title = f"{total:,} {'search' if total == 1 else 'searches'}; the number at a point is how many ended there"
    ax.set_title(title, loc="left", fontsize=9)
    return ax


def _side_by_side(ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> list[list[int]]:
    """Group the points whose numbers would overlap; return the indices of the points of each group."""
    spots = (ax.transData + ax.transAxes.inverted()).transform(np.column_stack([x, y]))
    groups: list[list[int]] = []
    for place, spot in enumerate(spots):
        for group in groups:
            if (np.abs(spots[group[0]] - spot) < _ROOM).all():
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


@accepting(model=MODEL, at_most=WHOLE, ax=AXES)
@serially
def plot_relevance(model: SubtypeModel, *, at_most: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the relevance of the features as bars, the largest first.

    Relevance says, in nats, how much better one distribution for each subtype describes a feature than one for all
    subjects; at 0 and below (grey bars) not at all. It is descriptive: a feature in which no true groups differ can
    have a large relevance, above all if its likelihood fits badly. `validated_associations` tests features.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    at_most : int
        Maximum number of features.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Raises
    ------
    ValueError
        If the model is not fitted, or its subtypes were not found by a MAP-DP search.
    """
    fit = require_search(model, "plot_relevance")
    nats = fit.feature_relevance_.sort_values(ascending=False, kind="stable")
    drawn = nats.iloc[:at_most]
    values = drawn.tolist()
    ax = axes_for(ax, (8.0, 1.1 + 0.22 * len(drawn)))
    written = [f"{value:,.0f}" if abs(value) >= 10 else f"{value:.1f}" for value in values]
    draw_bars(ax, values, [model.schema_[name].title for name in drawn.index], written, below_0=GREY, margin=0.08)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    title = "Relevance: how far the subtypes lie apart in each feature (nats; descriptive)"
    ax.set_title(title, loc="left", fontsize=9)
    rest = nats.iloc[len(drawn) :]
    more = int((rest > 0).sum())
    remark(ax, [f"{len(rest)} features are not drawn, {more} of them with a relevance above 0"] if len(rest) else [])
    return ax


@accepting(path=RESOLUTION_PATH, ax=AXES)
@serially
def plot_resolution_path(path: ResolutionPath, *, ax: Axes | None = None) -> Axes:
    """Draw the number of subtypes at each coarsening, and the agreement of the partitions.

    The agreement is the adjusted Rand index with the partition of the step before, and with the one of most clusters.
    A black line marks the coarsening that a fit chose.

    Parameters
    ----------
    path : ResolutionPath
        From `resolution_path`, or the attribute `MAPDP.resolution_path_`.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure. The agreement has a second axis on the right.
    """
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

    ax = axes_for(ax, (7.0, 3.8))
    steps = path.steps
    coarsening, n_clusters = steps["coarsening"].to_numpy(), steps["n_clusters"].to_numpy()
    right = ax.twinx()
    styles: list[dict[str, Any]] = [{"color": colour, "linewidth": 1.8} for colour in (BLUE, VERMILION, GREY)]
    blue, red, grey = styles
    previous, finest = "agreement with the step before", "agreement with the most clusters"
    lines = [
        *ax.plot(coarsening, n_clusters, "o-", markersize=5, drawstyle="steps-post", label="subtypes", **blue),
        *right.plot(coarsening, steps["ari_to_previous"], "s--", markersize=5, label=previous, **red),
        *right.plot(coarsening, steps["ari_to_finest"], ":", label=finest, **grey),
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
