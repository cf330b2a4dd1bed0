"""Figure of the relevance of the features: a bar for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clinclust.arguments import AXES, MODEL, WHOLE, accepting
from clinclust.control_characters import shortened
from clinclust.estimators.subtype_model import require_search
from clinclust.reporting.figures.canvas import BLUE, GREY, PLAIN, axes_for, remark
from clinclust.reporting.figures.serial import serially

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = ["plot_relevance"]

_ROW_TEXT = 44


@accepting(model=MODEL, at_most=WHOLE, ax=AXES)
@serially
def plot_relevance(model: SubtypeModel, *, at_most: int = 30, ax: Axes | None = None) -> Axes:
    """Draw the relevance of the features as bars, the largest first.

    Relevance says, in nats, how far the subtypes lie apart in a feature: how much better one distribution for each
    subtype describes its values than one for all subjects, at 0 and below (grey bars) not at all. It is descriptive:
    the subtypes were found from the same features in the same subjects. So a feature in which no true groups differ can
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
    >>> ax = cc.plot_relevance(model)
    >>> ax.figure.savefig("relevance.png")
    """
    fit = require_search(model, "plot_relevance")
    nats = fit.feature_relevance_.sort_values(ascending=False, kind="stable")
    drawn = nats.iloc[:at_most]
    values = drawn.to_numpy(dtype=np.float64)
    ax = axes_for(ax, (8.0, 1.1 + 0.22 * len(drawn)))
    bars = ax.barh(range(len(drawn)), values, height=0.7, color=[BLUE if value > 0 else GREY for value in values])
    written = [f"{value:,.0f}" if abs(value) >= 10 else f"{value:.1f}" for value in values]
    ax.bar_label(bars, written, padding=3, fontsize=8)
    titles = [shortened(model.schema_[name].title, _ROW_TEXT) for name in drawn.index]
    ax.set_yticks(range(len(drawn)), labels=titles, fontsize=9, **PLAIN)
    ax.set_ylim(len(drawn) - 0.4, -0.6)
    ax.margins(x=0.08)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.set_title(
        "Relevance: how far the subtypes lie apart in each feature (nats; descriptive)", loc="left", fontsize=9
    )
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    rest = nats.iloc[len(drawn) :]
    more = int((rest > 0).sum())
    remark(ax, [f"{len(rest)} features are not drawn, {more} of them with a relevance above 0"] if len(rest) else [])
    return ax
