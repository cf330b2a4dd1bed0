"""The tree of a fit that was tested: which groups make up which subtype, and how sure each division is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import asinh
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.control_characters import shortened
from clinclust.estimators.fit import Fit
from clinclust.estimators.subtype_tree import SubtypeTree
from clinclust.reporting.divisions import (
    DISTINCT,
    GRADED,
    ONE_CONTINUUM,
    Division,
    divisions_of,
    from_the_root,
)
from clinclust.reporting.figures.canvas import BLUE, GREY, NAME_TEXT, PLAIN, VERMILION, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINEAR_BELOW = 2.0
_LEAST = 3.0
"""Standard deviations to the left and right that every scale shows."""
_TICKS = (-100.0, -10.0, -2.0, 0.0, 2.0, 5.0, 10.0, 30.0, *(10.0**power for power in range(2, 16)))
_APART = 0.1
"""Least distance of two ticks, as a share of the scale."""


@dataclass(frozen=True)
class ScaleOfExcess:
    """A scale from `low` to `high`, in standard deviations from the expectation: linear near 0, then logarithmic."""

    low: float
    high: float

    @classmethod
    def over(cls, numbers: Iterable[float]) -> ScaleOfExcess:
        """Return the scale that shows all these numbers."""
        found = [-_LEAST, _LEAST, *numbers]
        return cls(min(found), max(found))

    def share(self, number: float) -> float:
        """Return the place of a number on the scale, from 0 at its low end to 1 at its high end."""
        low, at, high = (asinh(each / _LINEAR_BELOW) for each in (self.low, number, self.high))
        return (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """Return a few round numbers, -2, 0 and 2 among them."""
        found = [-2.0, 0.0, 2.0]
        for tick in _TICKS:
            is_near = any(abs(self.share(tick) - self.share(other)) < _APART for other in found)
            if self.low <= tick <= self.high and not is_near:
                found.append(tick)
        return sorted(found)


# Horizontal positions: the tree from its tips at 0 to its root at 1, then the rows of the divisions.
_SIZES, _BRACKETS = -0.03, -0.17
_NUMBERS, _ROWS, _ROWS_END = 1.17, 1.24, 2.24
_RESULTS, _RIGHT = 2.30, 3.6
_SMALL = 8
_LINES: dict[str | None, dict[str, Any]] = {
    DISTINCT: {"color": BLUE, "linewidth": 3.0, "linestyle": "-"},
    GRADED: {"color": BLUE, "linewidth": 1.5, "linestyle": "--"},
    ONE_CONTINUUM: {"color": GREY, "linewidth": 1.0, "linestyle": "-"},
    None: {"color": GREY, "linewidth": 1.0, "linestyle": ":"},
}
_ONE_POPULATION: dict[str, Any] = {"color": VERMILION, "linewidth": 5.0, "alpha": 0.45}


def draw_tested_tree(fit: Fit, called: Mapping[int, str], ax: Axes | None) -> Axes:
    """Draw the tree of a fit next to the evidence for each division that was tested; `called` names the subtypes."""
    tree, divisions = fit.tree_, divisions_of(fit, called)
    ax = axes_for(ax, (10.5, 1.7 + 0.34 * max(tree.n_subtypes, 3)))
    order, across = placed_across(tree)
    kinds = _draw_joins(ax, tree, across, {division.node: division for division in divisions})
    _draw_tips(ax, fit, order, called)
    if divisions:
        _draw_evidence(ax, divisions)
    ax.set_ylim(max(tree.n_subtypes, 3) - 0.5, -0.7)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    _add_legend(ax, kinds, with_evidence=bool(divisions))
    return ax


def placed_across(tree: SubtypeTree) -> tuple[list[int], NDArray[np.float64]]:
    """Return the tips in an order in which no lines of the tree cross, and the place of every node across it."""
    order = [node for node in from_the_root(tree) if node < tree.n_subtypes]
    across = np.zeros(tree.n_subtypes + len(tree.joins))
    across[order] = np.arange(tree.n_subtypes)
    for step, branches in enumerate(tree.joins.tolist()):
        across[tree.n_subtypes + step] = across[branches].mean()
    return order, across


def _draw_joins(
    ax: Axes, tree: SubtypeTree, across: NDArray[np.float64], divisions: Mapping[int, Division]
) -> list[str | None]:
    """Draw the joins, the distinct ones last and so above the others; return the kinds of lines that occur."""
    n_tips = tree.n_subtypes
    level = np.zeros(n_tips + len(tree.joins))
    for step, (first, second) in enumerate(tree.joins.tolist()):
        level[n_tips + step] = max(level[first], level[second]) + 1.0
    along = level / max(level[-1], 1.0)
    for step, (first, second) in enumerate(tree.joins.tolist()):
        node = n_tips + step
        division = divisions.get(node)
        kind = None if division is None else division.result
        ax.plot(
            [along[first], along[node], along[node], along[second]],
            [across[first], across[first], across[second], across[second]],
            zorder=2.0 + 0.1 * list(_LINES)[::-1].index(kind),
            solid_joinstyle="miter",
            **_LINES[kind],
        )
        if division is not None:
            ax.annotate(
                str(division.number),
                (float(along[node]), float(across[node])),
                xytext=(4, 2),
                textcoords="offset points",
                va="bottom",
                fontsize=_SMALL,
                fontweight="bold",
            )
    nodes = range(n_tips, n_tips + len(tree.joins))
    occurring = {divisions[node].result if node in divisions else None for node in nodes}
    return [kind for kind in _LINES if kind in occurring]


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
    """Draw a row for each division: its evidence as seen from one continuous population, in SDs from the mean there."""
    scale = ScaleOfExcess.over(each.excess / each.expected_sd for each in divisions)

    def at(deviations: float) -> float:
        return _ROWS + (_ROWS_END - _ROWS) * scale.share(deviations)

    for row, division in enumerate(divisions):
        ax.text(_NUMBERS, row, str(division.number), ha="center", va="center", fontsize=_SMALL, fontweight="bold")
        ax.plot([at(-2.0), at(2.0)], [row, row], solid_capstyle="butt", **_ONE_POPULATION)
        ax.plot([at(0.0)], [row], "|", color=VERMILION, markersize=11, markeredgewidth=1.8)
        filled = BLUE if division.is_accepted else "none"
        place = at(division.excess / division.expected_sd)
        ax.plot([place], [row], "D", color=BLUE, markerfacecolor=filled, markersize=6, markeredgewidth=1.4)
        ax.text(_RESULTS, row, _in_short(division), va="center", fontsize=_SMALL)
    ticks = scale.ticks()
    ax.set_xticks([at(tick) for tick in ticks], labels=[f"{tick:,g}".replace("-", "−") for tick in ticks])
    ax.tick_params(axis="x", labelsize=_SMALL)
    ax.spines["bottom"].set_bounds(_ROWS, _ROWS_END)
    middle = ((_ROWS + _ROWS_END) / 2.0 - _BRACKETS) / (_RIGHT - _BRACKETS)  # of the rows, as a share of the width
    ax.set_xlabel("Evidence: SDs from one continuous population", x=middle, fontsize=9)


def _in_short(division: Division) -> str:
    evidence = f"{division.gain:,.0f} nats, {division.expected:,.0f} expected"
    return f"{division.result}, {division.p_said}: {evidence}".replace("-", "−")


def _add_legend(ax: Axes, kinds: Sequence[str | None], *, with_evidence: bool) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=kind or "not tested", **_LINES[kind]) for kind in kinds]
    if with_evidence:
        handles.append(Line2D([], [], color=BLUE, marker="D", linestyle="none", markersize=6, label="evidence"))
        handles.append(Line2D([], [], label="one continuous population: mean ± 2 SD", **_ONE_POPULATION))
        ax.set_xlim(_BRACKETS - 0.03, _RIGHT)
    else:
        ax.set_xlim(_BRACKETS - 0.03, 1.1)
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)
    if handles:
        ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncol=3, frameon=False, fontsize=_SMALL)
