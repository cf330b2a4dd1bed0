"""Figure of the tree of the subtypes, with each join at its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from clinclust.arguments import AXES, MODEL, NAMES, accepting
from clinclust.control_characters import shortened
from clinclust.estimators.fit import Fit
from clinclust.estimators.subtype_model import SubtypeModel, require_search
from clinclust.reporting.figures.canvas import BLUE, GREY, NAME_TEXT, PLAIN, axes_for, named, serially
from clinclust.reporting.figures.tested_tree import draw_tested_tree, placed_across

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The scale is logarithmic if the largest height of a join is more than this factor times the smallest.
_SPAN = 20.0


@accepting(model=MODEL, names=NAMES, ax=AXES)
@serially
def plot_tree(model: SubtypeModel, *, names: Mapping[int, str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the subtypes of a fit as a tree with each join at its evidence.

    Subtypes that join far to the left are hardly distinct. The number at a join is its evidence, in nats; a join with
    less evidence than one below it is drawn at the position of that. "few" marks subtypes of fewer than 5 subjects,
    "weak" those with less than 3 nats between them and their nearest other. If subtypes are unions of the clusters that
    the search found (`MAPDP.cut`), these clusters are drawn, each with its subtype.

    A tree that was tested (``n_clusters="distinct"``, or ``model.cut(distinct_subtypes(model, frame))``) shows which
    divisions are distinct (thick lines), no more than one continuum (thin), or untested (dotted). The number at a join
    is that of its row on the right: the evidence for the division (a diamond, filled if it is distinct) and what one
    continuous population gives (mean, and a bar of 2 standard deviations to the left and right). The scale counts these
    standard deviations, linearly near the mean and logarithmically beyond.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    names : dict of int to str, optional
        Names of subtypes by number from 1.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Raises
    ------
    ValueError
        If the model is not fitted, its subtypes were not found by a MAP-DP search, or names are given for subtypes that
        do not exist.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0).fit(frame)
    >>> ax = cc.plots.plot_tree(model)
    >>> ax.figure.savefig("tree.png")

    The same tree, tested:

    >>> distinct = cc.distinct_subtypes(model, frame)
    >>> ax = cc.plots.plot_tree(model.cut(distinct), names={1: "Robust", 2: "Frail"})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['Robust (n = 130)', 'Frail (n = 70)']
    """
    fit = require_search(model, "plot_tree")
    called = named(range(1, fit.n_clusters_ + 1), {**model.names_, **(names or {})})
    if fit.tree_test_ is not None:
        return draw_tested_tree(fit, called, ax)
    tree = fit.tree_
    n_subtypes = tree.n_subtypes
    ax = axes_for(ax, (7.0, 1.4 + 0.42 * n_subtypes))
    heights = tree.linkage()[:, 2]
    logarithmic = heights.size > 0 and heights.max() > _SPAN * max(heights.min(), 1e-12)
    # The tips are at 0, or on a logarithmic scale to the left of the first join.
    tip = max(heights.min(), 1.0) / 3.0 if logarithmic else 0.0
    along = np.concatenate([np.full(n_subtypes, tip), np.maximum(heights, tip)])
    order, across = placed_across(tree)
    for step, (first, second) in enumerate(tree.joins.tolist()):
        node = n_subtypes + step
        ax.plot(
            [along[first], along[node], along[node], along[second]],
            [across[first], across[first], across[second], across[second]],
            color=BLUE,
            linewidth=1.8,
            solid_joinstyle="miter",
        )
        ax.annotate(
            f"{tree.evidence[step]:,.0f}" if abs(tree.evidence[step]) >= 10 else f"{tree.evidence[step]:.1f}",
            (along[node], across[node]),
            xytext=(4, 2),
            textcoords="offset points",
            va="bottom",
            fontsize=8,
            color=GREY,
        )
    sizes = np.bincount(tree.labels, minlength=n_subtypes)
    marks = fit.remarks_ if fit.subtype_of_.size == fit.n_clusters_ else [()] * n_subtypes
    about = [", ".join([f"n = {size:,}", *of_one]) for size, of_one in zip(sizes, marks, strict=True)]
    ax.set_yticks(range(n_subtypes), [f"{_called(fit, tip, called)} ({about[tip]})" for tip in order], **PLAIN)
    ax.set_ylim(n_subtypes - 0.5, -0.5)
    if logarithmic:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        ax.set_xlim(tip, along.max() * 1.6)
    else:
        ax.set_xlim(0.0, max(along.max(), 1.0) * 1.15)
    coarsened = "" if fit.coarsening_ == 1.0 else f", coarsening {fit.coarsening_:.2g}"
    ax.set_xlabel(f"Evidence against the join (nats{coarsened})")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _called(fit: Fit, tip: int, called: Mapping[int, str]) -> str:
    """Return the name of a tip: a subtype, or a group that the search found and the subtype that holds it."""
    subtype = int(fit.subtype_of_[tip]) + 1
    name = called[subtype] if called[subtype] != f"Subtype {subtype}" else f"subtype {subtype}"
    name = shortened(name, NAME_TEXT)
    return name if fit.subtype_of_.size == fit.n_clusters_ else f"group {tip + 1} in {name}"
