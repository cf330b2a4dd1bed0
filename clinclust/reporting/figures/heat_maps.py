"""Heat maps: the profiles of the subtypes, and the missing values."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import AXES, COMPARISONS, MODEL, NAMES, WHOLE, accepting
from clinclust.control_characters import shortened
from clinclust.estimators.subtype_model import SubtypeModel, clustered_features, require_fitted
from clinclust.reporting.figures.canvas import GREY, PLAIN, ROW_TEXT, axes_for, named, remark, serially
from clinclust.reporting.layout import HIGH, LOW, MIDDLE, WITHHELD
from clinclust.reporting.profiles import Profiles, profiles_of
from clinclust.reporting.subtype_table.summaries import Compared

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
            text, colour = _written(number, number_format), _ink_on(mesh.to_rgba(number))
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


def _written(number: float, number_format: str) -> str:
    text = format(number, number_format)
    return text.replace("-", "\N{MINUS SIGN}") if float(text) else format(0.0, number_format).lstrip("+")


def _ink_on(rgba: tuple[float, ...]) -> str:
    """Return black or white, whichever has the higher contrast to a colour (relative luminance of WCAG 2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgba[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "white"


_STRONGEST = 1.5  # SDs from the mean of all subjects at which the colour is full
_NAME_LINES = 3
_FEW_SUBTYPES, _NAME_LINE, _NARROW_LINE = 4, 11, 8
_ASIDE, _MEDIAN = " †", " ‡"


@accepting(model=MODEL, comparisons=COMPARISONS, names=NAMES, at_most=WHOLE, ax=AXES)
@serially
def plot_profile(
    model: SubtypeModel,
    comparisons: pd.DataFrame,
    *,
    names: Mapping[int, str] | None = None,
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
    called = headings(profiles, named(profiles.subtypes, {**model.names_, **(names or {})}))
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
    said = [
        f"The {_chosen(model, profiles, len(drawn))} of {len(rows)} rows" if len(drawn) < len(rows) else "",
        "† not clustered on" if any(aside) else "",
        "‡ medians" if any(medians) else "",
        f"{WITHHELD} withheld: few subjects" if withheld[np.isnan(numbers)].any() else "",
        "– no value" if (np.isnan(numbers) & ~withheld).any() else "",
    ]
    remark(ax, said)
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
    """Return which rows are drawn if there are more; the relevance of rounded ones is withheld."""
    if model.fit_ is None:
        return f"{number} most different"
    return f"first {number}" if profiles.is_rounded else f"{number} most relevant"


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


@accepting(comparisons=COMPARISONS, names=NAMES, at_most=WHOLE, ax=AXES)
@serially
def plot_missing(
    comparisons: pd.DataFrame, *, names: Mapping[int, str] | None = None, at_most: int = 30, ax: Axes | None = None
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
    called = headings(profiles, {0: "All", **named(profiles.subtypes, names)})
    summaries = comparisons[comparisons["kind"] == "summary"]
    labels = dict(zip(summaries["feature"], summaries["label"], strict=True))
    # All levels of a feature have the same missing values, so its first row is enough.
    first = [profiles.features.index(feature) for feature in dict.fromkeys(profiles.features)]
    percent = profiles.percent_missing
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
    said = [
        f"The {len(drawn)} features with most of {len(incomplete)}" if len(drawn) < len(incomplete) else "",
        f"{complete} {'feature' if complete == 1 else 'features'} without a missing value" if complete else "",
        f"{WITHHELD} withheld: few subjects" if withheld[np.isnan(numbers)].any() else "",
    ]
    remark(ax, said)
    return ax
