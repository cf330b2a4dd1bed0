"""Figures of subtypes and subjects: their profiles, the tree with its test, where subjects lie, and survival."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.linalg import eigh
from scipy.stats import gaussian_kde

from clinclust.arguments import COMPARISONS, FRAME, Rule, accepting
from clinclust.arrays import Array, Labels
from clinclust.comparisons.compare import FEWEST_TESTED
from clinclust.engine.continuum.null_cohorts import OnePopulation, one_population, with_expectations
from clinclust.engine.continuum.tested_node import Node, critical_bandwidth, find_scales, p_of_one_peak, places_on_axis
from clinclust.errors import InputError, shortened
from clinclust.estimators.subtype_model import (
    FittedCohort,
    SubtypeModel,
    cohort_of,
    fitted_problem,
    require_fitted,
    require_search,
)
from clinclust.reporting.compared import Compared
from clinclust.reporting.divisions import DISTINCT, GRADED, ONE_CONTINUUM, Division, divisions_of, from_the_root
from clinclust.reporting.figures.effects import (
    BLUE,
    DRAWN,
    GREY,
    NAME_TEXT,
    PAPER,
    PLAIN,
    ROW_TEXT,
    SEVERAL,
    VERMILION,
    axes_for,
    named,
    named_in,
    remark,
    serially,
    title_rows,
)
from clinclust.reporting.findings import Profiles, profiles_of
from clinclust.reporting.layout import HIGH, LOW, MIDDLE, WITHHELD, WORDS, print_figure, translate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The profiles of the subtypes as a heat map.

_STEPS = 21  # colours of the bar: odd, so that one is in the middle, and few enough to be distinguished
_STRONGEST = 1.5  # SDs from the mean of all subjects at which the colour is full
_NAME_LINES = 3
_FEW_SUBTYPES, _NAME_LINE, _NARROW_LINE = 4, 11, 8


@accepting(comparisons=COMPARISONS)
@serially
def plot_profile(
    model: SubtypeModel,
    comparisons: pd.DataFrame,
    *,
    names: Mapping[Any, str] | None = None,
    at_most: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Draw how far every subtype lies from all subjects as a heat map, the most relevant features first.

    Features of which half of all subjects have a value are drawn, or else all. A number is (mean of the subtype - mean
    of all subjects) / standard deviation of all subjects: above 0 blue, below 0 orange. Where the subtype table shows
    the median (‡), it is of medians, and of the standard deviation of a normal distribution with the quartiles of all
    subjects, unless all medians are the same. A categorical feature has one row for each level.

    Parameters
    ----------
    model : SubtypeModel
        A fitted model. Rows are ordered by `feature_relevance_`, or without a search by the distance of the subtypes.
    comparisons : pandas.DataFrame
        From `compare_subtypes`.
    names : dict of int to str, optional
        Names of subtypes by number, as ``{1: "Tremor dominant"}``.
    at_most : int
        Maximum number of rows.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Raises
    ------
    ValueError
        If the model is not fitted, or the comparisons or the names do not belong to its subtypes.

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
    >>> comparisons = cc.compare_subtypes(frame, model.labels_, schema)
    >>> ax = cc.plots.plot_profile(model, comparisons)
    >>> ax.figure.savefig("profile.png")
    """
    require_fitted(model)
    profiles = profiles_of(Compared(comparisons))
    called = headings(profiles, named_in(model, profiles.subtypes, names))
    ranked, n, missing = profiles.ranked_for(model), profiles.n[:, 0], profiles.missing[:, 0]
    # What is withheld is no reason to leave out a feature: that would say that many values are missing.
    rows = [row for row in ranked if not n[row] < missing[row]] or ranked
    drawn, titles, remarks = title_rows(model, profiles, rows, at_most)
    medians = [profiles.summaries[row] == "median" for row in drawn]
    titles = [title + " ‡" * is_median for title, is_median in zip(titles, medians, strict=True)]
    n_sparse = len(profiles.features) - len(rows)
    remarks += [DRAWN["sparse"].format(n=n_sparse)] * (n_sparse > 0) + [DRAWN["medians"]] * any(medians)
    return _draw_distances(ax, profiles, drawn, titles, called, remarks)


@serially
def plot_ordered(profiles: Profiles, rows: Sequence[int], names: Mapping[int, str]) -> Axes:
    """Draw the same heat map of these rows for groups in an order, such as fifths of a score."""
    called = headings(profiles, names)
    titles = [shortened(profiles.titles[row], ROW_TEXT) for row in rows]
    return _draw_distances(None, profiles, rows, titles, called)


def _draw_distances(
    ax: Axes | None,
    profiles: Profiles,
    drawn: Sequence[int],
    titles: Sequence[str],
    columns: Sequence[str],
    remarks: Sequence[str] = (),
) -> Axes:
    """Draw the distances of the groups from all subjects, the first row at the top; cells without one are hatched.

    Each cell has its number, so that there is no bar of colours.
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    rows = list(drawn)
    numbers, withheld = profiles.standardised[rows], (profiles.withheld[:, 1:] | profiles.withheld[:, :1])[rows]
    longest = max(len(line) for heading in columns for line in heading.split("\n"))
    wide = 0.3 + 0.07 * max(map(len, titles), default=0) + max(0.6, 0.08 * longest) * len(columns)
    ax = axes_for(ax, (max(wide, 4.9), 1.2 + 0.27 * max(len(rows), 4)))
    colour_map = LinearSegmentedColormap.from_list("clinclust", [f"#{ink}" for ink in (LOW, MIDDLE, HIGH)], _STEPS)
    scale: Any = {"cmap": colour_map, "vmin": -_STRONGEST, "vmax": _STRONGEST, "edgecolors": "face", "linewidth": 0.2}
    ax.pcolormesh(np.ma.masked_invalid(numbers), **scale)
    small = 8.0 if len(columns) <= 12 else 7.0
    for (row, column), number in np.ndenumerate(numbers):
        centre = (column + 0.5, row + 0.5)
        if np.isnan(number):
            hatched: Any = {"facecolor": "none", "edgecolor": GREY, "linewidth": 0.0, "hatch": "////", "alpha": 0.3}
            ax.add_patch(Rectangle((column, row), 1, 1, **hatched))
            text, colour = WITHHELD if withheld[row, column] else "–", None
        else:
            text, colour = print_figure(f"{number:+.1f}" if round(number, 1) else "0.0"), "black"  # on light colours
        # The text lies inside the axes. in_layout=False saves the time to measure hundreds of texts for the layout.
        ax.text(*centre, text, ha="center", va="center", fontsize=small, color=colour, in_layout=False)
    ax.set_ylim(len(rows), 0)
    ax.set_xlim(0, len(columns))
    ax.set_yticks(np.arange(len(rows)) + 0.5, labels=titles, fontsize=9, **PLAIN)
    ax.set_xticks(np.arange(len(columns)) + 0.5, labels=columns, fontsize=9, **PLAIN)
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    is_withheld, is_empty = withheld[np.isnan(numbers)].any(), (np.isnan(numbers) & ~withheld).any()
    signs = [DRAWN["withheld"].format(sign=WITHHELD)] * bool(is_withheld) + [DRAWN["no_value"]] * bool(is_empty)
    remark(ax, [DRAWN["distance"], *remarks, *signs])
    return ax


def headings(profiles: Profiles, names: Mapping[int, str]) -> list[str]:
    """Return the heading of each group of subjects: its name, wrapped to the width of its column, and its size."""
    texts = []
    width = _NAME_LINE if len(names) <= _FEW_SUBTYPES else _NARROW_LINE
    for group, name in names.items():
        lines = textwrap.wrap(shortened(name, _NAME_LINES * width), width, max_lines=_NAME_LINES, placeholder="…")
        size = profiles.sizes[group]
        texts.append("\n".join([*lines, f"n = {WITHHELD}" if size is None else print_figure(f"n = {size:,}")]))
    return texts


# The tree of the subtypes, with the result of the test of each division.

_LINES: dict[str, dict[str, Any]] = {
    DISTINCT: {"color": BLUE, "linewidth": 3.0, "linestyle": "-"},
    GRADED: {"color": BLUE, "linewidth": 1.5, "linestyle": "--"},
    ONE_CONTINUUM: {"color": GREY, "linewidth": 1.0, "linestyle": "-"},
    "not tested": {"color": GREY, "linewidth": 1.0, "linestyle": ":"},
}
_AT_A_JOIN: dict[str, Any] = {"xytext": (4, 2), "textcoords": "offset points", "va": "bottom", "fontsize": 8}


@accepting()
@serially
def plot_tree(model: SubtypeModel, *, names: Mapping[Any, str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the subtypes of a fit as a tree; the text at a join says how sure its division is.

    In a tree that was tested (``n_clusters="distinct"``, or ``model.cut(distinct_subtypes(model, frame))``), this is
    the number of the division in a report, its result and p: distinct (thick lines), graded (dashed), no more than one
    continuum (thin) or not tested (dotted). In other trees it is the evidence for the division, in nats. If subtypes
    are unions of the clusters that the search found (`MAPDP.cut`), these clusters are drawn, each with its subtype.
    "few" marks subtypes of fewer than 5 subjects, "weak" those with less than 3 nats to their nearest other.

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
    tree, divisions = fit.tree_, {division.node: division for division in divisions_of(fit, called)}
    n_tips = tree.n_subtypes
    # In this order no lines of the tree cross.
    order = [node for node in from_the_root(fit) if node < n_tips]
    level, across = np.zeros((2, n_tips + len(tree.joins)))
    across[order] = np.arange(n_tips)
    ax = axes_for(ax, (7.0, 0.6 + 0.36 * max(n_tips, 3)))
    for step, branches in enumerate(tree.joins.tolist()):
        node, nats = n_tips + step, float(tree.evidence[step])
        level[node], across[node] = level[branches].max() + 1.0, across[branches].mean()
        division = divisions.get(node)
        (first, second), result = branches, "not tested" if division is None else division.result
        style = _LINES[GRADED if fit.tree_test_ is None else result]
        along = level[[first, node, node, second]]
        ax.plot(along, across[[first, first, second, second]], solid_joinstyle="miter", **style)
        text = DRAWN["joined" if division is None else "tested"].format(division=division, nats=nats)
        ax.annotate(text, (level[node], across[node]), color=GREY, **_AT_A_JOIN)
    sizes, are_groups = np.bincount(tree.labels, minlength=n_tips), fit.subtype_of_.size > fit.n_clusters_
    titles = []
    for tip in order:
        subtype = int(fit.subtype_of_[tip])
        name, remarks = shortened(called[subtype + 1], NAME_TEXT), () if are_groups else fit.remarks_[subtype]
        name = DRAWN["group"].format(number=tip + 1, name=name) if are_groups else name
        titles.append(f"{name} ({', '.join([print_figure(f'n = {sizes[tip]:,}'), *map(translate, remarks)])})")
    ax.set_yticks(range(n_tips), labels=titles, fontsize=9, **PLAIN)
    ax.set_ylim(max(n_tips, 2) - 0.5, -0.7)
    ax.set_xlim(0.0, 1.5 * max(level[-1], 1.0))  # with room for the text of the root
    ax.set_xticks([])
    ax.spines[:].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


# Where the subjects lie along the axis of each division that was tested, with the closest density with one peak.

_MOST_SUBJECTS = 2000
"""Subjects of a figure, a sample of more: its drawing has then at most 100 kB."""

_SIDE_TEXT = 28
_PANEL, _HISTOGRAM = 1.3, 0.52
"""Height of a panel, in inches, and the share of it that is the histogram; the rest is text."""


ScoredDivision: TypeAlias = tuple[Division, Array, Labels]
"""A division with the score of each subject along its axis, (M,), and the branch of each, 0 or 1.

The score is 0 midway between the branches, and counts standard deviations within them.
"""


def score_divisions(cohort: FittedCohort, divisions: Sequence[Division]) -> list[ScoredDivision]:
    """Return the scores of at most 2,000 subjects in each of these divisions of the tree of a fit.

    They are found without the subject, in the features and by the function of the test of a gap. A side of one or two
    subjects has no spread to measure by, and its division is left out.
    """
    tree, problem = cohort.fit.tree_, fitted_problem(cohort.fit, cohort.table, coarsening=1.0)
    tips, members, scored = tree.labels[problem.cohort.order], tree.members(), []
    for division in divisions:
        first, second = (np.isin(tips, members[branch]) for branch in tree.joins[division.node - tree.n_subtypes])
        rng = np.random.default_rng([cohort.fit.random_seed_, division.node])
        below = np.flatnonzero(first | second)
        if min(first.sum(), second.sum()) < FEWEST_TESTED:
            continue
        node = Node(below, second[below].astype(np.int64), tree.n_subtypes).sample(_MOST_SUBJECTS, rng)
        part, halves = problem.restricted_to(node.members), node.halves
        places = [places_on_axis(scores, halves, rng)[0] for scores in find_scales(part, halves)]
        axis = min(places, key=lambda axis: p_of_one_peak(axis, np.random.default_rng(0)))
        scored.append((division, axis, halves))
    return scored


@accepting(frame=FRAME)
@serially
def plot_divisions(
    model: SubtypeModel,
    frame: pd.DataFrame,
    *,
    names: Mapping[Any, str] | None = None,
    at_most: int = 6,
    ax: Axes | None = None,
) -> Axes:
    """Draw the subjects of both branches of each tested division along the axis that tells these apart.

    The dashed curve is the closest one with a single peak: the density of Silverman (1981, Journal of the Royal
    Statistical Society B 43, 97-99) that the test of a gap draws from. Where few subjects lie between the
    branches, it bridges a valley. Where the bars follow it, they may be grades of one condition.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP` whose tree was tested.
    frame : DataFrame
        The cohort of the fit.
    names : dict of int to str, optional
        Names of subtypes by number, as ``{1: "Tremor dominant"}``.
    at_most : int
        Maximum number of divisions, from the root of the tree.
    ax : matplotlib Axes, optional
        Axes to draw on, by default of a new figure; the panels are its `child_axes`, in the order of the divisions.

    Raises
    ------
    CohortError, ValueError
        If the model is not fitted, its tree was not tested, or `frame` is not its cohort.
    """
    fit = require_search(model, "plot_divisions")
    divisions = divisions_of(fit, named_in(model, range(1, fit.n_clusters_ + 1), names))
    if not divisions:
        raise InputError('plot_divisions needs a tree that was tested; fit with n_clusters="distinct"')
    return draw_divisions(score_divisions(cohort_of(model, frame), divisions[:at_most]), divisions, ax)


@serially
def draw_divisions(scored: Sequence[ScoredDivision], divisions: Sequence[Division], ax: Axes | None = None) -> Axes:
    """Draw a panel for each of these divisions, some of all `divisions`."""
    height = 1 / max(len(scored), 1)
    ax = axes_for(ax, (4.9, 0.5 + _PANEL * len(scored)))
    ax.set_axis_off()
    for place, (division, scores, branches) in enumerate(scored):
        panel = ax.inset_axes((0.0, 1 - height * (place + 0.86), 1.0, height * _HISTOGRAM))
        panel.set_title(DRAWN["division"].format(division=division), loc="left", fontsize=9, pad=16)
        for end, name, size in zip((0, 1), division.branches, division.sizes, strict=True):
            text = f"{shortened(name, _SIDE_TEXT)}, n = {print_figure(f'{size:,}')}"
            panel.text(end, 1.06, text, ha=("left", "right")[end], transform=panel.transAxes, fontsize=8, **PLAIN)
        edges = np.histogram_bin_edges(scores, min(40, 10 + int(np.sqrt(scores.size))))
        first, both = (np.histogram(scores[branches <= branch], edges)[0] for branch in (0, 1))
        panel.stairs(first, edges.tolist(), fill=True, color=BLUE)
        panel.stairs(both, edges.tolist(), baseline=first, fill=True, color=VERMILION)
        if (spread := scores.std()) > 0.0:
            # The density of the samples that Silverman's test draws (`p_of_one_peak`).
            h = critical_bandwidth((scores - scores.mean()) / spread)
            one_peak = gaussian_kde(scores.mean() + (scores - scores.mean()) / np.sqrt(1.0 + h**2), h)
            along = np.linspace(edges[0], edges[-1], 200)
            panel.plot(along, one_peak(along) * scores.size * (edges[1] - edges[0]), "--", color=GREY, linewidth=1.6)
        panel.set_yticks([])
        panel.tick_params(axis="x", labelsize=8)
        panel.xaxis.set_major_formatter(lambda value, _: print_figure(f"{value:g}"))
        panel.spines[["top", "right", "left"]].set_visible(False)
    remarks = [DRAWN["score"], DRAWN["first_divisions"].format(n=len(scored), of=len(divisions))]
    text = "\n".join(remarks[: 1 + (len(scored) < len(divisions))])
    ax.text(0.0, -0.1 * height, text, va="top", fontsize=8, color=GREY, transform=ax.transAxes)
    return ax


# A map of the subjects along the first two discriminant axes of the subtypes.

_SHRINKAGE = 0.1
"""Share of the diagonal in the covariance matrix within the subtypes, as in the test of a gap (Friedman 1989)."""
_OF_THE_REST = 1e-3
"""Weight of the whole variance, relative to that between the subtypes: it chooses the second axis of two."""
_DOT, _LENGTH = 3.2, 1e-3
"""Width of a dot in points, and its length along both axes."""
_ON_DOTS: dict[str, Any] = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "linewidth": 0.0, "alpha": 0.8}


@accepting(frame=FRAME)
@serially
def plot_map(
    model: SubtypeModel, frame: pd.DataFrame, *, names: Mapping[Any, str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw each subject, in the colour of its subtype, along the two axes that tell the subtypes apart best.

    They are Fisher's discriminant axes (1936, Annals of Eugenics 7, 179-188) of the normal scores of the features that
    were clustered on. The second axis of two subtypes is the main axis of the cohort, less what the first explains. A
    missing value has its expectation given the others. Of more than 2,000 subjects a sample is drawn.

    The axes were chosen to part the subtypes, and would part halves of one population: whether there is a gap is read
    from `plot_divisions`.

    Parameters
    ----------
    model : SubtypeModel
        A fitted `MAPDP`.
    frame : DataFrame
        The cohort of the fit.
    names : dict of int to str, optional
        Names of subtypes by number, as ``{1: "Tremor dominant"}``.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Raises
    ------
    CohortError, ValueError
        If the model is not fitted, its subtypes were not found by a MAP-DP search, or `frame` is not its cohort.
    """
    require_search(model, "plot_map")
    return draw_map(cohort_of(model, frame), names=names, ax=ax)


@serially
def draw_map(cohort: FittedCohort, *, names: Mapping[Any, str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the map of a cohort as the fit saw it."""
    titles = named_in(cohort.model, range(1, cohort.fit.n_clusters_ + 1), names)
    problem = fitted_problem(cohort.fit, cohort.table, coarsening=1.0)
    labels = cohort.labels[problem.cohort.order]
    places = _find_places(one_population(problem, np.random.default_rng(0)), labels)
    seen = np.flatnonzero(np.isfinite(places).all(axis=1))
    drawn = np.sort(np.random.default_rng(0).choice(seen, min(seen.size, _MOST_SUBJECTS), replace=False))
    ax = axes_for(ax, (4.9, 4.2))
    for subtype, title in titles.items():
        points = places[drawn[labels[drawn] == subtype - 1]]
        if len(points):
            # One path of lines of hardly any length, whose round ends are dots, has a fifth of the bytes.
            ends = np.stack([points, points + _LENGTH, np.full_like(points, np.nan)], axis=1).reshape(-1, 2)
            colour = SEVERAL[(subtype - 1) % len(SEVERAL)]
            (dots,) = ax.plot(*ends.T, color=colour, linewidth=_DOT, solid_capstyle="round")
            dots.get_path().should_simplify = False
            text = shortened(title.removeprefix(WORDS["formed"]["subtype"].partition("{")[0]), _SIDE_TEXT)
            x, y = np.median(points, axis=0)
            ax.text(x, y, text, ha="center", va="center", bbox=_ON_DOTS, **PLAIN)
    second = DRAWN["axes"][1 if len(titles) < 3 else 2]
    ax.set(xticks=[], yticks=[], xlabel=DRAWN["axes"][0], ylabel=second)
    ax.spines[["top", "right"]].set_visible(False)
    if len(drawn) < len(labels):
        remark(ax, [ax.get_xlabel(), DRAWN["subjects"].format(n=len(drawn), of=len(labels))])
    return ax


def _find_places(population: OnePopulation, labels: Labels) -> Array:
    """Return the place of each subject on the first two discriminant axes of its label, float64 (N, 2).

    A subject of whom nothing is observed has NaN.
    """
    scores = population.scores
    filled = with_expectations(scores, population.correlation)
    means = pd.DataFrame(filled).groupby(labels).transform("mean").to_numpy()
    within, between, total = (np.atleast_2d(np.cov(rows.T)) for rows in (filled - means, means, filled))
    within = (1.0 - _SHRINKAGE) * within + np.diag(_SHRINKAGE * np.diag(within) + 1.0)
    axes = eigh(between + _OF_THE_REST * total, within)[1][:, : -min(3, len(total) + 1) : -1]
    places = np.zeros((len(scores), 2))
    places[:, : axes.shape[1]] = filled @ (axes * np.copysign(1.0, axes.sum(axis=0)))
    places[np.isnan(scores).all(axis=1)] = np.nan
    return places


# A figure of survival by subtype, with the numbers at risk.

_STYLES = ("-", "--", ":", "-.")
_TICKS = 6
_CURVES = Rule(
    "a DataFrame that outcomes.survival_curves returned",
    lambda value: isinstance(value, pd.DataFrame) and {"subtype", "time"} <= set(value.columns),
)


@accepting(curves=_CURVES)
@serially
def plot_survival(
    curves: pd.DataFrame, *, unit: str = "", names: Mapping[Any, str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the survival of each subtype as assigned, with the numbers at risk below.

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
    from matplotlib.ticker import MaxNLocator

    subtypes = sorted(set(curves["subtype"].tolist()))
    called = named(subtypes, names)
    ax = axes_for(ax, (7.0, 4.2 + 0.2 * len(subtypes)))
    longest = float(curves["time"].max())
    ticks = np.array([tick for tick in MaxNLocator(_TICKS).tick_values(0.0, longest) if tick <= longest])
    lines = [print_figure(f"{tick:g}") for tick in ticks]
    for place, subtype in enumerate(subtypes):
        curve = curves[curves["subtype"] == subtype]
        time, share = np.append(0.0, curve["time"]), np.append(1.0, curve["survival"])
        colour, title = SEVERAL[place % len(SEVERAL)], shortened(called[subtype], NAME_TEXT)
        style = _STYLES[place // len(SEVERAL) % len(_STYLES)]
        ax.step(time, share, where="post", color=colour, linestyle=style, linewidth=1.8, label=title)
        lower, upper = (curve[name].ffill().fillna(1.0) for name in ("lower", "upper"))
        ax.fill_between(curve["time"], lower, upper, step="post", color=colour, alpha=0.12, linewidth=0)
        counts = np.append(curve["at_risk"].to_numpy(), 0)[np.searchsorted(curve["time"].to_numpy(), ticks)]
        lines = [f"{line}\n{count}" for line, count in zip(lines, counts.tolist(), strict=True)]
    ax.set_xticks(ticks, labels=lines, fontsize=8)
    ax.set_xlim(0.0, longest)
    ax.set_ylim(0.0, 1.02)
    ax.yaxis.set_major_formatter(lambda value, _: print_figure(f"{value:.1f}"))
    ax.set_ylabel(DRAWN["survival"], fontsize=9)
    order = ", ".join(shortened(called[subtype], NAME_TEXT) for subtype in subtypes)
    about = DRAWN["time_in"].format(unit=unit) if unit else DRAWN["time"]
    ax.set_xlabel(DRAWN["at_risk"].format(time=about, order=order), fontsize=8, **PLAIN)
    legend = ax.legend(fontsize=8, frameon=False)
    for text in legend.get_texts():
        text.set(**PLAIN)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
