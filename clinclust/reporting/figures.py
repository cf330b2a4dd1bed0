"""Figures of a fit, each drawn on a matplotlib Axes that it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clinclust.mapdp import MAPDP
    from clinclust.resolution import ResolutionPath

__all__ = ["plot_resolution_path", "plot_tree"]

# Blue and vermilion of Okabe and Ito (2008), which every kind of colour vision tells apart.
_BLUE, _VERMILION, _GREY = "#0072B2", "#D55E00", "#6E6E6E"
# Evidence that spans more than this factor is drawn on a logarithmic scale.
_SPAN = 20.0


def plot_tree(model: MAPDP, ax: Axes | None = None) -> Axes:
    """Draw the subtypes of a fit as a tree whose joins stand at their evidence.

    Subtypes that join far to the left are near-twins; a long line into a join means that many nats keep its side
    apart from the rest. The number at a join is its evidence; where that is less than a join below it has, the line
    stands where the lower one does. Subtypes are numbered from 1, as in reports.

    Parameters
    ----------
    model : MAPDP
        Fitted.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Raises
    ------
    ValueError
        If the model is not fitted.
    """
    if not hasattr(model, "tree_"):
        raise ValueError("This MAPDP is not fitted yet: call fit first")
    tree = model.tree_
    n_subtypes = tree.n_subtypes
    ax = _axes(ax, (7.0, 1.4 + 0.42 * n_subtypes))
    heights = tree.linkage()[:, 2]
    logarithmic = heights.size > 0 and heights.max() > _SPAN * max(heights.min(), 1e-12)
    # Tips stand at 0, or on a logarithmic scale left of the first join.
    tip = max(heights.min(), 1.0) / 3.0 if logarithmic else 0.0
    along = np.concatenate([np.full(n_subtypes, tip), np.maximum(heights, tip)])
    order = _tips(tree.joins.tolist(), n_subtypes)
    across = np.zeros(along.size)
    across[order] = np.arange(n_subtypes)
    for step, (first, second) in enumerate(tree.joins.tolist()):
        node = n_subtypes + step
        across[node] = (across[first] + across[second]) / 2.0
        ax.plot(
            [along[first], along[node], along[node], along[second]],
            [across[first], across[first], across[second], across[second]],
            color=_BLUE,
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
            color=_GREY,
        )
    sizes = np.bincount(tree.labels, minlength=n_subtypes)
    ax.set_yticks(range(n_subtypes), [f"subtype {subtype + 1} (n = {sizes[subtype]:,})" for subtype in order])
    ax.set_ylim(n_subtypes - 0.5, -0.5)
    if logarithmic:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        ax.set_xlim(tip, along.max() * 1.6)
    else:
        ax.set_xlim(0.0, max(along.max(), 1.0) * 1.15)
    coarsened = "" if model.coarsening_ == 1.0 else f", coarsening {model.coarsening_:.2g}"
    ax.set_xlabel(f"Evidence against the join (nats{coarsened})")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def plot_resolution_path(path: ResolutionPath, ax: Axes | None = None) -> Axes:
    """Draw the number of subtypes, and how far they agree with the finest, along the coarsening.

    Parameters
    ----------
    path : ResolutionPath
        What `resolution_path` returns, or `MAPDP.resolution_path_`.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure. The agreement gets a second axis on the right.
    """
    from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

    ax = _axes(ax, (7.0, 3.8))
    steps = path.steps
    coarsening, n_clusters = steps["coarsening"].to_numpy(), steps["n_clusters"].to_numpy()
    right = ax.twinx()
    marked: dict[str, Any] = {"linewidth": 1.8, "markersize": 5}
    lines = [
        *ax.plot(coarsening, n_clusters, "o-", color=_BLUE, drawstyle="steps-post", label="subtypes", **marked),
        *right.plot(
            coarsening,
            steps["ari_to_previous"],
            "s--",
            color=_VERMILION,
            label="agreement with the step before",
            **marked,
        ),
        *right.plot(
            coarsening, steps["ari_to_finest"], ":", color=_GREY, label="agreement with the finest", linewidth=1.8
        ),
    ]
    if path.chosen is not None:
        lines.append(ax.axvline(path.chosen, color="black", linewidth=1.2, label=f"chosen: {path.chosen:.2g}"))
    ax.set_xscale("log")
    low, high = float(coarsening.min()), float(coarsening.max())
    ax.set_xlim(high * 1.06, low / 1.06)  # from fine to coarse
    ticks = [tick for tick in (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.07, 0.05) if low * 0.99 <= tick <= high * 1.01]
    ax.xaxis.set_major_locator(FixedLocator(ticks or [low, high]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(0.0, n_clusters.max() + 1.0)
    right.set_ylim(-0.05 if steps["ari_to_finest"].min() > -0.05 else -0.5, 1.05)
    ax.set_xlabel("Coarsening (power of the likelihood), from fine to coarse")
    ax.set_ylabel("Subtypes", color=_BLUE)
    right.set_ylabel("Adjusted Rand index", color=_VERMILION)
    ax.spines["top"].set_visible(False)
    right.spines["top"].set_visible(False)
    ax.legend(handles=lines, loc="upper center", bbox_to_anchor=(0.5, 1.2), ncol=2, frameon=False, fontsize=8)
    return ax


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the Axes given, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    new: Any = figure.add_subplot()
    return new  # type: ignore[no-any-return]


def _tips(joins: list[list[int]], n_subtypes: int) -> list[int]:
    """Return the subtypes in an order in which no lines of the tree cross, the larger sides first."""
    if not joins:
        return list(range(n_subtypes))

    def below(node: int) -> list[int]:
        return (
            [node] if node < n_subtypes else [*below(joins[node - n_subtypes][0]), *below(joins[node - n_subtypes][1])]
        )

    return below(n_subtypes + len(joins) - 1)
