"""What all figures share, and effect sizes by feature and subtype."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from clinclust.arguments import COMPARISONS, accepting
from clinclust.arrays import Code
from clinclust.errors import InputError, shortened
from clinclust.estimators.subtype_model import SubtypeModel, clustered_features, require_fitted
from clinclust.reporting.compared import Compared
from clinclust.reporting.findings import Profiles, profiles_of
from clinclust.reporting.layout import WITHHELD, WORDS, capitalised, measure_in_words, print_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Shared parts of the figures: the Axes, the colours, the names of subtypes, and the rules for text from the data.

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

DRAWING = RLock()
"""Held while a figure is made or drawn: the settings of matplotlib belong to the whole process."""

# Blue and vermilion of Okabe and Ito (2008), which readers with any kind of colour vision can distinguish.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#6E6E6E"
SEVERAL = ("#0072B3", VERMILION, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", GREY)
"""Of several subtypes, same source, grey for black; a dark page makes BLUE the fifth colour, and not this blue."""
PAPER = "#fefefe"
"""Behind a text on a drawing; on a page, the colour of its paper."""

# Settings for every text from a schema or a table: "$" is a dollar sign, and no TeX is run.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

DRAWN = WORDS["drawn"]
"""What is written in figures."""
ROW_TEXT, NAME_TEXT = 44, 40
"""Characters of the title of a row, and of the name of a subtype."""


def axes_for(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given Axes, or the Axes of a new figure; `size` is its width and height in inches."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").add_subplot()


def named(codes: Iterable[Code], names: Mapping[Code, str] | None) -> dict[Code, str]:
    """Return the title of each subtype by code: its name, or "Subtype" and its code; refuse unknown ones."""
    codes, names = list(codes), names or {}
    if unknown := [code for code in names if code not in codes]:
        raise InputError(
            f"names has {', '.join(map(repr, unknown))}, but the subtypes are {', '.join(map(repr, codes))}"
        )
    return {code: names.get(code) or WORDS["formed"]["subtype"].format(code=code) for code in codes}


def named_in(model: SubtypeModel, subtypes: Iterable[int], names: Mapping[Code, str] | None) -> dict[int, str]:
    """Return the title of each subtype of a model, numbered from 1 (`named`)."""
    codes = {subtype: model.codes_[subtype - 1] for subtype in subtypes}
    defaults = {codes[subtype]: name for subtype, name in model.names_.items() if subtype in codes}
    titles = named(codes.values(), {**defaults, **(names or {})})
    return {subtype: titles[code] for subtype, code in codes.items()}


def title_rows(
    model: SubtypeModel, profiles: Profiles, rows: Sequence[int], at_most: int
) -> tuple[Sequence[int], list[str], list[str]]:
    """Return the first rows, their titles, and remarks on those that are not drawn and on the mark of some titles."""
    drawn = rows[:at_most]
    # That a feature is uninformative, because all its values are the same, would disclose its exact counts.
    features = [feature.name for feature in model.schema_.clustered]
    clustered = set(features if profiles.is_rounded else clustered_features(model))
    aside = [profiles.features[row] not in clustered for row in drawn]
    titles = [shortened(profiles.titles[row], ROW_TEXT) + " †" * off for row, off in zip(drawn, aside, strict=True)]
    is_ranked = len(profiles.withheld_features) < len({*profiles.features})  # their relevance is withheld too
    which = "different" if model.fit_ is None else "relevant" if is_ranked else "first"
    more = DRAWN[which].format(n=len(drawn), of=len(rows)) if len(drawn) < len(rows) else ""
    return drawn, titles, [more, DRAWN["aside"] if any(aside) else ""]


def remark(ax: Axes, lines: Iterable[str], below: float = 6.0) -> None:
    """Write remarks in small print, `below` points below the horizontal axis; empty lines are left out."""
    text = "\n".join(line for line in lines if line)
    if text:
        ax.set_xlabel(text, loc="left", fontsize=8, color=GREY, labelpad=below, **PLAIN)


def serially(draw: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function that draws wait until no other thread draws a figure of clinclust."""

    @wraps(draw)
    def draw_alone(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with DRAWING:
            return draw(*args, **kwargs)

    return draw_alone


# Figure of the effect sizes: a forest plot with a panel for each subtype.

Key: TypeAlias = tuple[str, str | None]
_OTHERS, _USUAL = 0, "standardised_difference"
_GAP = 0.08  # between panels, as a share of the width of a panel


class Effect(NamedTuple):
    """An effect size, the ends of its interval (NaN without one), and whether a number of it is withheld."""

    estimate: float
    lower: float
    upper: float
    withheld: bool


_NOTHING = Effect(np.nan, np.nan, np.nan, False)


@accepting(comparisons=COMPARISONS)
@serially
def plot_effects(
    model: SubtypeModel,
    comparisons: pd.DataFrame,
    *,
    names: Mapping[Any, str] | None = None,
    at_most: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw effect sizes with 95% confidence intervals in a panel for each subtype, the most relevant features first.

    A point is filled if its interval excludes 0. Features that formed the subtypes differ between them by construction:
    read how large the difference is, not whether there is one.

    Parameters
    ----------
    model : SubtypeModel
        A fitted model. Rows are ordered by `feature_relevance_`, or without a search by the distance of the subtypes.
    comparisons : pandas.DataFrame
        From `compare_subtypes`, with its rows of the kind ``"effect"``. Drawn are standardised differences, or else the
        measure with the most rows, from all other subjects or, of two subtypes, from the first.
    names : dict of int to str, optional
        Names of subtypes by number, as ``{1: "Tremor dominant"}``.
    at_most : int
        Maximum number of rows.
    ax : matplotlib Axes, optional
        Axes to draw on, by default of a new figure; the panels are its `child_axes`, in the order of the subtypes.

    Raises
    ------
    ValueError
        If the model is not fitted, or the comparisons or the names do not belong to its subtypes.
    """
    require_fitted(model)
    profiles = profiles_of(Compared(comparisons))
    called = named_in(model, profiles.subtypes, names)
    effects, against, measure = _find_effects(comparisons)
    drawn, titles, remarks = title_rows(model, profiles, profiles.ranked_for(model), at_most if effects else 0)
    wide = max(0.8, 5.5 / max(len(effects), 1))
    ax = axes_for(ax, (3.6 + wide * len(effects), 2.0 + 0.24 * len(drawn)))
    ax.spines[:].set_visible(False)
    ax.set_xticks([])
    if not effects:
        ax.set_yticks([])
        ax.text(0.5, 0.5, DRAWN["no_two"], ha="center", va="center", transform=ax.transAxes)
        return ax
    ax.set_yticks(range(len(drawn)), labels=titles, fontsize=9, **PLAIN)
    ax.set_ylim(len(drawn) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)

    keys = [(profiles.features[row], profiles.levels[row]) for row in drawn]
    estimates = [[of_subtype.get(key, _NOTHING) for key in keys] for of_subtype in effects.values()]
    # The limit of the horizontal axes is that of the intervals, at most 1.08 (2 |largest estimate| + 0.5).
    numbers = np.abs(np.array(estimates, dtype=np.float64)[..., :3])
    numbers[~np.isfinite(numbers)] = 0.0
    extent = float(1.08 * max(min(numbers.max(), 2.0 * numbers[..., 0].max() + 0.5), 0.2))
    share = 1 / len(effects)
    text_width, lines = int(13 * wide), 1
    for place, (subtype, of_rows) in enumerate(zip(effects, estimates, strict=True)):
        panel = ax.inset_axes((place * share, 0.0, share * (1 - _GAP), 1.0))
        heading = textwrap.wrap(shortened(called[subtype], 2 * text_width), text_width)
        lines = max(lines, len(heading))
        panel.set_title("\n".join(heading), fontsize=9, **PLAIN)
        _draw_panel(panel, of_rows, extent)
    others = DRAWN["others"] if against == _OTHERS else shortened(called[against], NAME_TEXT)
    title = DRAWN["effects"].format(measure=capitalised(measure_in_words(measure)), others=others)
    ax.set_title(title, loc="left", fontsize=9, pad=10 + 12 * lines, **PLAIN)
    is_infinite = any(np.isinf(effect.estimate) for of_rows in estimates for effect in of_rows)
    is_withheld = any(effect.withheld and np.isnan(effect.estimate) for of_rows in estimates for effect in of_rows)
    remarks += [DRAWN["infinite"]] * is_infinite + [DRAWN["withheld"].format(sign=WITHHELD)] * is_withheld
    remark(ax, remarks, below=18)  # below the tick labels of the panels
    return ax


def _find_effects(comparisons: pd.DataFrame) -> tuple[dict[int, dict[Key, Effect]], int, str]:
    """Return the effects by subtype, then by feature and level, the group compared with, and the measure."""
    rows = comparisons[comparisons["kind"] == "effect"]
    if rows.empty:
        return {}, _OTHERS, _USUAL
    against = min({*rows["subtype"].tolist(), *rows["versus"].tolist()})
    rows = rows[(rows["subtype"] == against) | (rows["versus"] == against)]
    measures = rows["measure"].value_counts().sort_index(kind="stable")
    measure = _USUAL if _USUAL in measures.index else str(measures.idxmax())
    effects: dict[int, dict[Key, Effect]] = {}
    for row in rows[rows["measure"] == measure].to_dict("records"):
        key = (row["feature"], row["level"] if isinstance(row["level"], str) else None)
        effect = Effect(row["estimate"], row["lower"], row["upper"], bool(row["suppressed"]))
        if row["versus"] == against:
            effects.setdefault(row["subtype"], {})[key] = effect
        else:
            turned = Effect(-effect.estimate, -effect.upper, -effect.lower, effect.withheld)
            effects.setdefault(row["versus"], {})[key] = turned
    return dict(sorted(effects.items())), against, measure


def _draw_panel(panel: Axes, effects: list[Effect], extent: float) -> None:
    """Draw the effects of one subtype; an arrow is an infinite effect, or the end at which an interval is cut."""
    # A tick at 1, 2 or 5 times a power of ten, inside the panel, so that the labels of adjoining panels do not touch.
    power = 10.0 ** np.floor(np.log10(0.8 * extent))
    tick = max(step * power for step in (1, 2, 5) if step * power <= 0.8 * extent)
    panel.axvline(0.0, color=GREY, linewidth=0.8)
    panel.grid(axis="y", color=GREY, linewidth=0.4, alpha=0.35)
    for row, (estimate, lower, upper, withheld) in enumerate(effects):
        if np.isnan(estimate):
            panel.text(0.0, row, WITHHELD if withheld else "–", ha="center", va="center", fontsize=8, color=GREY)
            continue
        if np.isinf(estimate):
            end = np.copysign(extent, estimate)
            panel.plot([end], [row], ">" if end > 0 else "<", color=BLUE, markersize=6, clip_on=False)
            continue
        apart = lower > 0 or upper < 0
        colour = BLUE if apart else GREY
        panel.hlines(row, lower, upper, color=colour, linewidth=1.4)
        panel.plot([estimate], [row], "o", color=colour, markerfacecolor=colour if apart else "none", markersize=4)
        for end, beyond, marker in ((lower, lower < -extent, "<"), (upper, upper > extent, ">")):
            if beyond:
                panel.plot([np.copysign(extent, end)], [row], marker, color=GREY, markersize=4, clip_on=False)
    panel.set_xlim(-extent, extent)
    panel.set_ylim(len(effects) - 0.5, -0.5)
    panel.set_yticks(range(len(effects)), labels=[])
    panel.tick_params(axis="y", length=0)
    panel.set_xticks([-tick, 0, tick])
    panel.xaxis.set_major_formatter(lambda value, _: print_figure(f"{value:g}"))
    panel.tick_params(axis="x", labelsize=8)
    panel.spines[["top", "right", "left"]].set_visible(False)
