"""Figure of the restarts: every partition at which a search ended, compared with the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.arguments import AXES, MODEL, accepting
from clinclust.estimators.subtype_model import require_search
from clinclust.reporting.figures.canvas import BLUE, VERMILION, axes_for
from clinclust.reporting.figures.serial import serially

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = ["plot_restarts"]

_LINEAR_BELOW = 10.0  # nats; beyond this the scale is logarithmic, because there ratios matter more than differences
_ROOM = (0.12, 0.045)  # space for a number, as shares of the width and height of the axes


@accepting(model=MODEL, ax=AXES)
@serially
def plot_restarts(model: SubtypeModel, ax: Axes | None = None) -> Axes:
    """Draw each partition at which a search ended: its log joint below the best, and its agreement with the best.

    The number at a point, or at several close points, is the number of searches that ended there. Points at the top
    left are different partitions that are nearly as good as the best one. If there are such points, the subtypes are
    less certain than a single fit suggests.

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

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> model = cc.MAPDP(schema, random_state=0).fit(frame)
    >>> ax = cc.plot_restarts(model)
    >>> ax.figure.savefig("restarts.png")
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
    searches_of = "search" if total == 1 else "searches"
    ax.set_title(f"{total:,} {searches_of}; the number at a point is how many ended there", loc="left", fontsize=9)
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
