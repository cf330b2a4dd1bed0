"""Figures of the search and of the tree of subtypes, with the test of its divisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.arguments import RESOLUTION_PATH, accepting
from clinclust.errors import shortened
from clinclust.estimators.fit import Fit, ResolutionPath
from clinclust.estimators.subtype_model import SubtypeModel, require_search
from clinclust.estimators.subtype_tree import SubtypeTree
from clinclust.reporting.divisions import DISTINCT, GRADED, ONE_CONTINUUM, Division, divisions_of, from_the_root
from clinclust.reporting.figures.effects import (
    BLUE,
    DRAWN,
    GREY,
    NAME_TEXT,
    PLAIN,
    VERMILION,
    axes_for,
    draw_bars,
    named_in,
    remark,
    serially,
)
from clinclust.reporting.layout import WORDS, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LINEAR_BELOW_NATS = 10.0
"""Beyond this the scale is logarithmic, because there ratios matter more than differences."""
# Figures of a search: its restarts, the relevance of the features, and the resolution path.

_ROOM = (0.12, 0.045)  # space for a number, as shares of the width and height of the axes


@accepting()
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
    ax.set_yscale("symlog", linthresh=_LINEAR_BELOW_NATS, linscale=1.0)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    deepest = max(float(below.max()), 1.0)
    ax.set_ylim(deepest * 1.5, -1.0 if deepest > _LINEAR_BELOW_NATS else -0.1 * deepest)
    lowest = min(float(agreement.min()), 0.9)
    ax.set_xlim(lowest - 0.2 * (1 - lowest), 1 + 0.15 * (1 - lowest))
    written: dict[str, Any] = {"va": "center", "textcoords": "offset points", "fontsize": 8}
    ax.annotate(DRAWN["best"].format(n=ended[0]), (agreement[0], below[0]), xytext=(9, 0), ha="left", **written)
    for places in _side_by_side(ax, agreement[1:], below[1:]):
        text = DRAWN["partitions" if len(places) > 1 else "partition"].format(n=ended[1:][places].sum(), of=len(places))
        first = min(places, key=lambda place: agreement[1:][place])
        ax.annotate(text, (agreement[1:][first], below[1:][first]), xytext=(-8, 0), ha="right", **written)
    ax.set_xlabel(DRAWN["agreement"])
    ax.set_ylabel(DRAWN["joint" if fit.completed_log_joint_ is None else "filled_joint"])
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(DRAWN["searches"].format(searches=counted(int(ended.sum()), "search")), loc="left", fontsize=9)
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


@accepting()
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
    ax.set_title(DRAWN["relevance"], loc="left", fontsize=9)
    rest = nats.iloc[len(drawn) :]
    more = int((rest > 0).sum())
    remark(ax, [DRAWN["not_drawn"].format(n=len(rest), relevant=more)] if len(rest) else [])
    return ax


@accepting(path=RESOLUTION_PATH)
@serially
def plot_resolution_path(path: ResolutionPath, *, ax: Axes | None = None) -> Axes:
    """Draw the number of subtypes at each coarsening, and the agreement of the partitions.

    The agreement is the adjusted Rand index with the partition of the step before, and with the one of most clusters.
    A black line marks the coarsening that the fit chose.

    Parameters
    ----------
    path : ResolutionPath
        The attribute `MAPDP.resolution_path_`.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure. The agreement has a second axis on the right.
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes_for(ax, (7.0, 3.8))
    steps = path.steps
    coarsening, n_clusters = steps["coarsening"].to_numpy(), steps["n_clusters"].to_numpy()
    right = ax.twinx()
    styles: list[dict[str, Any]] = [{"color": colour, "linewidth": 1.8} for colour in (BLUE, VERMILION, GREY)]
    blue, red, grey = styles
    subtypes, previous, finest = DRAWN["path"]
    lines = [
        *ax.plot(coarsening, n_clusters, "o-", markersize=5, drawstyle="steps-post", label=subtypes, **blue),
        *right.plot(coarsening, steps["ari_to_previous"], "s--", markersize=5, label=previous, **red),
        *right.plot(coarsening, steps["ari_to_finest"], ":", label=finest, **grey),
    ]
    label = DRAWN["chosen"].format(coarsening=path.chosen)
    lines.append(ax.axvline(path.chosen, color="black", linewidth=1.2, label=label))
    ax.set_xscale("log")
    low, high = float(coarsening.min()), float(coarsening.max())
    ax.set_xlim(high * 1.06, low / 1.06)  # decreasing, so from fine to coarse
    ticks = [tick for tick in (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.07, 0.05) if low * 0.99 <= tick <= high * 1.01]
    ax.set_xticks(ticks or [low, high])
    ax.minorticks_off()
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(0.0, n_clusters.max() + 1.0)
    right.set_ylim(-0.05 if steps["ari_to_finest"].min() > -0.05 else -0.5, 1.05)
    along, up, up_right = DRAWN["axes_of_path"]
    ax.set_xlabel(along)
    ax.set_ylabel(up, color=BLUE)
    right.set_ylabel(up_right, color=VERMILION)
    ax.spines["top"].set_visible(False)
    right.spines["top"].set_visible(False)
    ax.legend(handles=lines, loc="upper center", bbox_to_anchor=(0.5, 1.2), ncol=2, frameon=False, fontsize=8)
    return ax


# Figure of the tree of the subtypes, with each join at its evidence.

# The scale is logarithmic if the largest height of a join is more than this factor times the smallest.
_SPAN = 20.0
_SMALL = 8
_AT_A_JOIN: dict[str, Any] = {"xytext": (4, 2), "textcoords": "offset points", "va": "bottom", "fontsize": _SMALL}


@accepting()
@serially
def plot_tree(model: SubtypeModel, *, names: Mapping[Any, str] | None = None, ax: Axes | None = None) -> Axes:
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
    called = named_in(model, range(1, fit.n_clusters_ + 1), names)
    if fit.tree_test_ is not None:
        return _draw_tested_tree(fit, called, ax)
    tree = fit.tree_
    n_subtypes = tree.n_subtypes
    ax = axes_for(ax, (7.0, 1.4 + 0.42 * n_subtypes))
    along = np.concatenate([np.zeros(n_subtypes), np.maximum(tree.linkage()[:, 2], 0.0)])
    order, across = _place_across(tree)
    for step, (first, second) in enumerate(tree.joins.tolist()):
        node = n_subtypes + step
        _draw_join(ax, along[[first, node, second]], across[[first, node, second]], color=BLUE, linewidth=1.8)
        nats = f"{tree.evidence[step]:,.0f}" if abs(tree.evidence[step]) >= 10 else f"{tree.evidence[step]:.1f}"
        ax.annotate(nats, (along[node], across[node]), color=GREY, **_AT_A_JOIN)
    sizes = np.bincount(tree.labels, minlength=n_subtypes)
    marks = fit.remarks_ if fit.subtype_of_.size == fit.n_clusters_ else [()] * n_subtypes
    about = [", ".join([f"n = {size:,}", *of_one]) for size, of_one in zip(sizes, marks, strict=True)]
    ax.set_yticks(range(n_subtypes), [f"{_called(fit, tip, called)} ({about[tip]})" for tip in order], **PLAIN)
    ax.set_ylim(n_subtypes - 0.5, -0.5)
    largest = max(along.max(), 1.0)
    if largest > _SPAN * min(along[n_subtypes:], default=0.0):
        ax.set_xscale("symlog", linthresh=_LINEAR_BELOW_NATS)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.set_xlim(0.0, largest * 1.3)
    text = DRAWN["evidence_of_joins" if fit.coarsening_ == 1.0 else "coarsened_evidence"]
    ax.set_xlabel(text.format(coarsening=fit.coarsening_))
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def _draw_join(ax: Axes, along: NDArray[np.float64], across: NDArray[np.float64], **style: Any) -> None:
    """Draw the lines from one branch over a join to the other, each (3,), whose numbers are along and across."""
    (first, node, second), (above, _, below) = along, across
    ax.plot([first, node, node, second], [above, above, below, below], solid_joinstyle="miter", **style)


def _called(fit: Fit, tip: int, called: Mapping[int, str]) -> str:
    """Return the name of a tip: a subtype, or a group that the search found and the subtype that holds it."""
    subtype = int(fit.subtype_of_[tip]) + 1
    code = fit.codes_[subtype - 1]
    is_named = called[subtype] != WORDS["formed"]["subtype"].format(code=code)
    name = shortened(called[subtype] if is_named else DRAWN["tip"].format(code=code), NAME_TEXT)
    is_subtype = fit.subtype_of_.size == fit.n_clusters_
    return name if is_subtype else str(DRAWN["group"].format(number=tip + 1, name=name))


# The tree of a fit that was tested: which groups make up which subtype, and how sure each division is.

# Horizontal positions: the tree from its tips at 0 to its root at 1, then the rows of the divisions, 1 wide.
_SIZES, _BRACKETS = -0.03, -0.17
_LEFT, _NUMBERS, _ROWS, _RESULTS, _RIGHT = -0.2, 1.17, 1.24, 2.30, 3.6
_LINEAR_BELOW_SDS = 2.0
_TICKS = (-100.0, -10.0, -2.0, 0.0, 2.0, *(10.0**power for power in range(1, 16)))
_LEAST = 3.0
"""Standard deviations to the left and right that every scale of the evidence shows."""
_UNTESTED = "not tested"
_LINES: dict[str, dict[str, Any]] = {
    DISTINCT: {"color": BLUE, "linewidth": 3.0, "linestyle": "-"},
    GRADED: {"color": BLUE, "linewidth": 1.5, "linestyle": "--"},
    ONE_CONTINUUM: {"color": GREY, "linewidth": 1.0, "linestyle": "-"},
    _UNTESTED: {"color": GREY, "linewidth": 1.0, "linestyle": ":"},
}
_LEGEND = ("evidence", "population")
_ONE_POPULATION: dict[str, Any] = {"color": VERMILION, "linewidth": 5.0, "alpha": 0.45, "solid_capstyle": "butt"}
_DIAMOND: dict[str, Any] = {"color": BLUE, "markersize": 6, "markeredgewidth": 1.4}
_ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncol": 3, "frameon": False, "fontsize": 8}


def _draw_tested_tree(fit: Fit, called: Mapping[int, str], ax: Axes | None) -> Axes:
    """Draw the tree of a fit next to the evidence for each division that was tested; `called` names the subtypes."""
    tree, divisions = fit.tree_, divisions_of(fit, called)
    ax = axes_for(ax, (10.5, 1.7 + 0.34 * max(tree.n_subtypes, 3)))
    order, across = _place_across(tree)
    _draw_joins(ax, tree, across, {division.node: division for division in divisions})
    _draw_tips(ax, fit, order, called)
    ax.set_ylim(max(tree.n_subtypes, 3) - 0.5, -0.7)
    ax.set_xlim(_LEFT, _RIGHT if divisions else 1.1)
    if divisions:
        _draw_evidence(ax, divisions)
    ax.spines[:].set_visible(False)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    handles = {line.get_label(): line for panel in (ax, *ax.child_axes) for line in panel.lines}  # one of each kind
    shown = [label for label in (*_LINES, *_LEGEND) if label in handles]
    ax.legend([handles[label] for label in shown], [DRAWN.get(label, label) for label in shown], **_ABOVE)
    return ax


def _place_across(tree: SubtypeTree) -> tuple[list[int], NDArray[np.float64]]:
    """Return the tips in an order in which no lines of the tree cross, and the place of every node across it."""
    order = [node for node in from_the_root(tree) if node < tree.n_subtypes]
    across = np.zeros(tree.n_subtypes + len(tree.joins))
    across[order] = np.arange(tree.n_subtypes)
    for step, branches in enumerate(tree.joins.tolist()):
        across[tree.n_subtypes + step] = across[branches].mean()
    return order, across


def _draw_joins(ax: Axes, tree: SubtypeTree, across: NDArray[np.float64], divisions: Mapping[int, Division]) -> None:
    """Draw the joins, the distinct ones last and so above the others."""
    n_tips = tree.n_subtypes
    level = np.zeros(n_tips + len(tree.joins))
    for step, (first, second) in enumerate(tree.joins.tolist()):
        level[n_tips + step] = max(level[first], level[second]) + 1.0
    along = level / max(level[-1], 1.0)
    for step, (first, second) in enumerate(tree.joins.tolist()):
        node = n_tips + step
        division = divisions.get(node)
        kind = _UNTESTED if division is None else division.result
        style = {"zorder": 2.0 + 0.1 * list(_LINES)[::-1].index(kind), "label": kind, **_LINES[kind]}
        _draw_join(ax, along[[first, node, second]], across[[first, node, second]], **style)
        if division is not None:
            ax.annotate(str(division.number), (along[node], across[node]), fontweight="bold", **_AT_A_JOIN)


def _draw_tips(ax: Axes, fit: Fit, order: Sequence[int], called: Mapping[int, str]) -> None:
    """Name each run of tips of one subtype once, with a bracket around its groups and the size of each group."""
    sizes = np.bincount(fit.tree_.labels, minlength=fit.tree_.n_subtypes)
    places, titles, marks = [], [], fit.remarks_
    for subtype, run in groupby(range(len(order)), key=lambda place: int(fit.subtype_of_[order[place]])):
        rows = list(run)
        total = sum(int(sizes[order[row]]) for row in rows)
        places.append((rows[0] + rows[-1]) / 2.0)
        titles.append(f"{shortened(called[subtype + 1], NAME_TEXT)} ({', '.join([f'n = {total:,}', *marks[subtype]])})")
        if len(rows) > 1:
            ax.plot([_BRACKETS] * 2, [rows[0] - 0.3, rows[-1] + 0.3], color=GREY, linewidth=1.0)
            for row in rows:
                size = f"{sizes[order[row]]:,}"
                ax.text(_SIZES, row, size, ha="right", va="center", fontsize=_SMALL - 1, color=GREY)
    ax.set_yticks(places, labels=titles, fontsize=9, **PLAIN)


def _draw_evidence(ax: Axes, divisions: Sequence[Division]) -> None:
    """Draw a row for each division: its evidence as seen from one continuous population, in SDs from the mean there.

    The scale is linear near the mean, and logarithmic beyond.
    """
    rows = ax.inset_axes(((_ROWS - _LEFT) / (_RIGHT - _LEFT), 0.0, 1.0 / (_RIGHT - _LEFT), 1.0))
    rows.set_xscale("asinh", linear_width=_LINEAR_BELOW_SDS)
    places = [division.excess / division.expected_sd for division in divisions]
    for row, (place, division) in enumerate(zip(places, divisions, strict=True)):
        ax.text(_NUMBERS, row, str(division.number), ha="center", va="center", fontsize=_SMALL, fontweight="bold")
        rows.plot([-2.0, 2.0], [row, row], label=_LEGEND[1], **_ONE_POPULATION)
        rows.plot([0.0], [row], "|", color=VERMILION, markersize=11, markeredgewidth=1.8)
        filled = BLUE if division.is_accepted else "none"
        rows.plot([place], [row], "D", markerfacecolor=filled, label=_LEGEND[0], **_DIAMOND)
        text = DRAWN["tested"].format(division=division).replace("-", "−")
        ax.text(_RESULTS, row, text, va="center", fontsize=_SMALL)
    low, high = 1.2 * min(-_LEAST, *places), 1.2 * max(_LEAST, *places)
    rows.set(xlim=(low, high), ylim=ax.get_ylim(), yticks=[])
    rows.set_xticks([tick for tick in _TICKS if low < tick < high])
    rows.set_xticks([], minor=True)
    rows.xaxis.set_major_formatter(lambda value, _: f"{value:,g}".replace("-", "−"))
    rows.tick_params(axis="x", labelsize=_SMALL)
    rows.spines[["top", "right", "left"]].set_visible(False)
    rows.set_xlabel(DRAWN["evidence_in_sds"], fontsize=9)
