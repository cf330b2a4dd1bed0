"""Figures of subjects: heat maps of the cohort, their scores, and survival."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_scalar

from clinclust.arguments import COMPARISONS, EXPLANATION, Rule, accepting
from clinclust.errors import InputError, shortened
from clinclust.estimators.explanation import named as called
from clinclust.estimators.explanation import value_text
from clinclust.estimators.subtype_model import (
    CLEAR,
    SubtypeModel,
    basis_of_membership,
    clustered_features,
    own_membership,
    require_fitted,
)
from clinclust.reporting.figures.effects import (
    BLUE,
    GREY,
    NAME_TEXT,
    PLAIN,
    ROW_TEXT,
    VERMILION,
    axes_for,
    draw_bars,
    named,
    named_in,
    remark,
    serially,
)
from clinclust.reporting.findings import Profiles, profiles_of
from clinclust.reporting.layout import HIGH, LOW, MIDDLE, WITHHELD
from clinclust.reporting.subtype_table.plan import Compared

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Heat maps: the profiles of the subtypes, and the missing values.

_STEPS = 21  # colours of the bar: odd, so that one is in the middle, and few enough to be distinguished


def heat_map_size(rows: Sequence[str], columns: Sequence[str]) -> tuple[float, float]:
    """Return the width and height, in inches, of a heat map with these titles of rows and headings of columns."""
    longest = max(len(line) for heading in columns for line in heading.split("\n"))
    wide = 1.5 + 0.07 * max(map(len, rows), default=0) + max(0.5, 0.08 * longest) * len(columns)
    return (max(wide, 4.5), 1.5 + 0.25 * max(len(rows), 4))


def draw_heat_map(
    ax: Axes,
    numbers: NDArray[np.float64],
    withheld: NDArray[np.bool_],
    *,
    colours: str | Sequence[str],
    limits: tuple[float, float],
    rows: Sequence[str],
    columns: Sequence[str],
    bar: str,
    number_format: str,
) -> None:
    """Draw a heat map of `numbers` (R, C), the first row at the top; cells without a number are hatched."""
    import matplotlib as mpl
    from matplotlib.colors import Colormap, LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    colour_map: Colormap
    ticks = np.linspace(*limits, 5 if limits[0] == 0 else 7)
    if isinstance(colours, str):
        colour_map = mpl.colormaps[colours].resampled(_STEPS)
    else:
        colour_map = LinearSegmentedColormap.from_list("clinclust", list(colours), _STEPS)
    scale: Any = {"cmap": colour_map, "vmin": limits[0], "vmax": limits[1], "edgecolors": "face", "linewidth": 0.2}
    mesh: Any = ax.pcolormesh(np.ma.masked_invalid(numbers), **scale)
    small, ink = 8.0 if len(columns) <= 12 else 7.0, mpl.rcParams["text.color"]
    for (row, column), number in np.ndenumerate(numbers):
        centre = (column + 0.5, row + 0.5)
        if np.isnan(number):
            hatched: Any = {"facecolor": "none", "edgecolor": GREY, "linewidth": 0.0, "hatch": "////", "alpha": 0.3}
            ax.add_patch(Rectangle((column, row), 1, 1, **hatched))
            text, colour = WITHHELD if withheld[row, column] else "–", ink
        else:
            text, colour = format(number, number_format), _ink_on(mesh.to_rgba(number))
            text = text.replace("-", "\N{MINUS SIGN}") if float(text) else format(0.0, number_format).lstrip("+")
        # The text lies inside the axes. in_layout=False saves the time to measure hundreds of texts for the layout.
        ax.text(*centre, text, ha="center", va="center", fontsize=small, color=colour, in_layout=False)
    ax.set_ylim(len(rows), 0)
    ax.set_xlim(0, len(columns))
    ax.set_yticks(np.arange(len(rows)) + 0.5, labels=rows, fontsize=9, **PLAIN)
    ax.set_xticks(np.arange(len(columns)) + 0.5, labels=columns, fontsize=9, **PLAIN)
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    figure: Any = ax.figure
    # The height of the bar in inches is nearly the same for few rows and for many, so that its label is never cut.
    tall = float(np.clip(11.0 / max(len(rows), 1), 0.25, 1.0))
    legend = figure.colorbar(mesh, ax=ax, shrink=tall, aspect=20 * tall, pad=0.03, ticks=ticks)
    legend.set_label(bar, fontsize=8)
    legend.ax.tick_params(labelsize=8)
    legend.outline.set_visible(False)


def _ink_on(rgba: tuple[float, ...]) -> str:
    """Return black or white, whichever has the higher contrast to a colour (relative luminance of WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "white"


_STRONGEST = 1.5  # SDs from the mean of all subjects at which the colour is full
_NAME_LINES = 3
_FEW_SUBTYPES, _NAME_LINE, _NARROW_LINE = 4, 11, 8
_ASIDE, _MEDIAN = " †", " ‡"


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

    A number is (mean of the subtype - mean of all subjects) / standard deviation of all subjects: above 0 blue, below
    0 orange. Where the subtype table shows the median (‡), it is of medians, and of the standard deviation of a normal
    distribution with the quartiles of all subjects. A categorical feature has one row for each level.

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
    rows = profiles.ranked_for(model)
    drawn = rows[:at_most]
    # That a feature is uninformative, because all its values are the same, would disclose its exact counts.
    asked = [feature.name for feature in model.schema_.clustered]
    clustered = set(asked if profiles.is_rounded else clustered_features(model))
    aside = [profiles.features[row] not in clustered for row in drawn]
    medians = [profiles.summaries[row] == "median" for row in drawn]
    titles = [
        shortened(profiles.titles[row], ROW_TEXT) + _ASIDE * off + _MEDIAN * is_median
        for row, off, is_median in zip(drawn, aside, medians, strict=True)
    ]
    ax = axes_for(ax, heat_map_size(titles, called))
    numbers, withheld = _draw_distances(ax, profiles, drawn, titles, called)
    lines = [
        f"The {_chosen(model, profiles, len(drawn))} of {len(rows)} rows" if len(drawn) < len(rows) else "",
        "† not clustered on" if any(aside) else "",
        "‡ medians" if any(medians) else "",
        f"{WITHHELD} withheld: few subjects" if withheld[np.isnan(numbers)].any() else "",
        "– no value" if (np.isnan(numbers) & ~withheld).any() else "",
    ]
    remark(ax, lines)
    return ax


@serially
def plot_ordered(profiles: Profiles, rows: Sequence[int], names: Mapping[int, str]) -> Axes:
    """Draw the same heat map of these rows for groups in an order, such as fifths of a score."""
    called = headings(profiles, names)
    titles = [shortened(profiles.titles[row], ROW_TEXT) for row in rows]
    ax = axes_for(None, heat_map_size(titles, called))
    _draw_distances(ax, profiles, rows, titles, called)
    return ax


def _draw_distances(
    ax: Axes, profiles: Profiles, drawn: Sequence[int], titles: Sequence[str], columns: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Draw the distances of the groups from all subjects; return them, and which are withheld, (R, K)."""
    rows = list(drawn)
    numbers, withheld = profiles.standardised[rows], (profiles.withheld[:, 1:] | profiles.withheld[:, :1])[rows]
    draw_heat_map(
        ax,
        numbers,
        withheld,
        colours=[f"#{colour}" for colour in (LOW, MIDDLE, HIGH)],
        limits=(-_STRONGEST, _STRONGEST),
        rows=titles,
        columns=columns,
        bar="SDs from\nall subjects",
        number_format="+.1f",
    )
    return numbers, withheld


def _chosen(model: SubtypeModel, profiles: Profiles, number: int) -> str:
    """Return which rows are drawn if there are more; the relevance of withheld features is withheld."""
    if model.fit_ is None:
        return f"{number} most different"
    is_ranked = len(profiles.withheld_features) < len({*profiles.features})
    return f"{number} most relevant" if is_ranked else f"first {number}"


def headings(profiles: Profiles, names: Mapping[int, str]) -> list[str]:
    """Return the heading of each group of subjects: its name, wrapped to the width of its column, and its size."""
    texts = []
    width = _NAME_LINE if len(names) <= _FEW_SUBTYPES else _NARROW_LINE
    for group, name in names.items():
        lines = textwrap.wrap(shortened(name, _NAME_LINES * width), width)
        if len(lines) > _NAME_LINES:
            lines = [*lines[: _NAME_LINES - 1], shortened(" ".join(lines[_NAME_LINES - 1 :]), width)]
        size = profiles.sizes[group]
        texts.append("\n".join([*lines, f"n = {WITHHELD}" if size is None else f"n = {size:,}"]))
    return texts


@accepting(comparisons=COMPARISONS)
@serially
def plot_missing(
    comparisons: pd.DataFrame, *, names: Mapping[Any, str] | None = None, at_most: int = 30, ax: Axes | None = None
) -> Axes:
    """Draw the percentage of subjects without a value for each feature, in all subjects and in each subtype.

    The features with the most missing values come first. If the percentages differ much between subtypes, the values
    may not be missing at random.

    Parameters
    ----------
    comparisons : pandas.DataFrame
        From `compare_subtypes`.
    names : dict of int to str, optional
        Names of subtypes by number, as ``{1: "Tremor dominant"}``.
    at_most : int
        Maximum number of features.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Raises
    ------
    ValueError
        If the comparisons hold no summaries, or names are given for subtypes that do not exist.
    """
    profiles = profiles_of(Compared(comparisons))
    by_code = named([*profiles.subtypes], names)
    called = headings(profiles, {0: "All", **{subtype: by_code[subtype] for subtype in profiles.subtypes}})
    summaries = comparisons[comparisons["kind"] == "summary"]
    labels = dict(zip(summaries["feature"], summaries["label"], strict=True))
    # All levels of a feature have the same missing values, so its first row is enough.
    first = [profiles.features.index(feature) for feature in dict.fromkeys(profiles.features)]
    with np.errstate(all="ignore"):
        percent = np.asarray(100 * profiles.missing / (profiles.missing + profiles.n))
    incomplete = [row for row in first if not (percent[row] == 0).all()]
    drawn = sorted(incomplete, key=lambda row: -np.nan_to_num(percent[row, 0], nan=np.inf))[:at_most]
    titles = [shortened(labels[profiles.features[row]], ROW_TEXT) for row in drawn]
    ax = axes_for(ax, heat_map_size(titles, called))
    if not drawn:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "No value is missing", ha="center", va="center", transform=ax.transAxes)
        return ax
    numbers, withheld = percent[drawn], profiles.withheld[drawn]
    draw_heat_map(
        ax,
        numbers,
        withheld,
        colours="Blues",
        limits=(0.0, 100.0),
        rows=titles,
        columns=called,
        bar="Missing\n(% of the group)",
        number_format=".0f",
    )
    complete = len(first) - len(incomplete)
    lines = [
        f"The {len(drawn)} features with most of {len(incomplete)}" if len(drawn) < len(incomplete) else "",
        f"{complete} {'feature' if complete == 1 else 'features'} without a missing value" if complete else "",
        f"{WITHHELD} withheld: few subjects" if withheld[np.isnan(numbers)].any() else "",
    ]
    remark(ax, lines)
    return ax


# Figures of single subjects: membership probabilities, and what speaks for the subtype of one subject.

_BINS = 20  # 0.80 and 0.95, the bounds of likely and clear, are then edges of bins
_TALLEST = 0.85
_NAME_TEXT = 28


@accepting()
@serially
def plot_certainty(model: SubtypeModel, *, names: Mapping[Any, str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw, for each subtype, the membership probabilities of its subjects.

    Each row is a histogram of the subjects of one subtype; a bar of full height holds all of them. The text on the
    right is the percentage of clear members (0.95 or more).

    Parameters
    ----------
    model : SubtypeModel
        A fitted model. The probabilities are those of `membership_`: of each subject, given all other subjects.
    names : dict of int to str, optional
        Names of subtypes by number, as ``{1: "Tremor dominant"}``.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Raises
    ------
    ValueError
        If the model is not fitted, has no membership probabilities, or names are given for subtypes that do not exist.
    """
    require_fitted(model)
    labels, own = np.asarray(model.labels_), own_membership(model)
    if own is None:
        raise InputError(
            f"plot_certainty needs probabilities of subtypes; these subtypes were made by {model.made_by} without any"
        )
    subtypes = np.unique(labels).tolist()
    called = named_in(model, [subtype + 1 for subtype in subtypes], names)
    ax = axes_for(ax, (7.5, 1.3 + 0.5 * len(subtypes)))
    titles = []
    bins: Any = {"x": np.arange(_BINS) / _BINS, "width": 0.94 / _BINS, "align": "edge", "color": BLUE}
    for row, subtype in enumerate(subtypes):
        members = own[labels == subtype]
        ax.bar(height=-_TALLEST * _shares(members), bottom=row + 0.5, **bins)
        ax.text(1.015, row + 0.3, f"{100 * np.mean(members >= CLEAR):.0f}% clear", va="center", fontsize=8)
        titles.append(f"{shortened(called[subtype + 1], _NAME_TEXT)} (n = {members.size:,})")
    for edge in (0.8, CLEAR):
        ax.axvline(edge, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
    ax.hlines(np.arange(len(subtypes)) + 0.5, 0, 1, color=GREY, linewidth=0.6)
    ax.set_yticks(np.arange(len(subtypes)) + 0.3, labels=titles, fontsize=9, **PLAIN)
    ax.set_ylim(len(subtypes) - 0.45, -0.6)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 0.95], labels=["0", "0.2", "0.4", "0.6", "0.8", "0.95"])
    ax.set_title(f"Probability of the subject's own subtype, {basis_of_membership(model)}", loc="left", fontsize=9)
    ax.spines[:].set_visible(False)
    ax.tick_params(axis="y", length=0)
    remark(ax, ["Clear: 0.95 or more; likely: 0.80 to 0.95; uncertain: below 0.80 (dashed lines)"])
    return ax


def _shares(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the probabilities in each bin, float64 (bins,); an edge belongs to the bin above it."""
    edges = np.arange(_BINS + 1) / _BINS
    counts = np.bincount(np.searchsorted(edges[1:-1], probabilities, side="right"), minlength=_BINS)
    return counts / max(probabilities.size, 1)


@accepting(explanation=EXPLANATION)
@serially
def plot_explanation(
    explanation: pd.DataFrame, *, subject: object = None, at_most: int = 12, ax: Axes | None = None
) -> Axes:
    """Draw which features speak for the subtype of one subject, and which against it.

    Bars are the terms of the log odds, in nats: to the right for the most probable subtype, to the left for the next
    one; 2.3 nats are odds of 10 : 1. All terms add up to the log odds of the two subtypes.

    Parameters
    ----------
    explanation : DataFrame
        From `MAPDP.explain`.
    subject : optional
        The subject, as in the column `subject`; by default the first.
    at_most : int
        Maximum number of bars, the longest first.
    ax : matplotlib Axes, optional
        Axes to draw on; by default those of a new figure.

    Raises
    ------
    ValueError
        If the explanation is of no such subject.
    """
    rows = _rows_of(explanation, subject)
    drawn = rows.iloc[:at_most]
    values = drawn["log_odds"].tolist()
    ax = axes_for(ax, (8.0, 1.2 + 0.26 * len(drawn)))
    titles = [_title(row) for row in drawn.to_dict("records")]
    written = [f"{value:+.1f}" for value in values]
    draw_bars(ax, values, titles, written, below_0=VERMILION, margin=0.12)
    first, second = (called(rows[name].iloc[0]) for name in ("subtype", "against"))
    ax.set_title(f"What speaks for {first} (right) and for {second} (left), in nats", loc="left", fontsize=9)
    total = float(rows["log_odds"].sum())
    rest = rows.iloc[len(drawn) :]
    more = f"; {len(rest)} more terms are not drawn" if len(rest) else ""
    remark(ax, [f"All terms together: {total:+.1f} nats{more}. 2.3 nats: odds of 10 : 1."])
    return ax


def _rows_of(explanation: pd.DataFrame, subject: object) -> pd.DataFrame:
    if not len(explanation):
        raise InputError("explanation has no rows")
    subject = explanation["subject"].iloc[0] if subject is None else subject
    named = explanation["subject"]
    is_one = is_scalar(subject) or isinstance(subject, tuple)  # a tuple is a row of an index of several columns
    rows = explanation[[each == subject for each in named]] if is_one else explanation.iloc[:0]
    if not len(rows):
        raise InputError("subject is not in the explanation; give a value of its column `subject`")
    return rows


def _title(row: dict[object, object]) -> str:
    value = row["value"]
    is_missing = value is None or value != value  # NaN
    return str(row["label"]) if is_missing else f"{row['label']}: {value_text(value)}"


# A figure of survival by subtype, with the numbers at risk.

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Of Okabe and Ito (2008)."""
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
