"""Figures of single subjects: membership probabilities, and what speaks for the subtype of one subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_scalar

from clinclust.arguments import AXES, EXPLANATION, MODEL, NAMES, WHOLE, accepting
from clinclust.control_characters import shortened
from clinclust.errors import InputError
from clinclust.estimators.explanation import named as called
from clinclust.estimators.explanation import value_text
from clinclust.estimators.subtype_model import CLEAR, SubtypeModel, basis_of_membership, own_membership, require_fitted
from clinclust.reporting.figures import canvas
from clinclust.reporting.figures.canvas import BLUE, GREY, PLAIN, axes_for, named, remark, serially

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 20  # 0.80 and 0.95, the bounds of likely and clear, are then edges of bins
_TALLEST = 0.85
_NAME_TEXT = 28


@accepting(model=MODEL, names=NAMES, ax=AXES)
@serially
def plot_certainty(model: SubtypeModel, *, names: Mapping[int, str] | None = None, ax: Axes | None = None) -> Axes:
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
    called = named([subtype + 1 for subtype in subtypes], {**model.names_, **(names or {})})
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


@accepting(explanation=EXPLANATION, at_most=WHOLE, ax=AXES)
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
    canvas.draw_bars(ax, values, titles, written, below_0=canvas.VERMILION, margin=0.12)
    first, second = (called(int(rows[name].iloc[0])) for name in ("subtype", "against"))
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
