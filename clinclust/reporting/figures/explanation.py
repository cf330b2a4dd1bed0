"""Figure of what speaks for the subtype of one subject: a bar for each feature."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from pandas.api.types import is_scalar

from clinclust.arguments import AXES, EXPLANATION, WHOLE, accepting
from clinclust.control_characters import shortened
from clinclust.errors import InputError
from clinclust.reporting.figures.canvas import BLUE, GREY, PLAIN, VERMILION, axes_for, remark
from clinclust.reporting.figures.serial import serially
from clinclust.schema.parts import mass_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_explanation"]

_ROW_TEXT = 44


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

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> ax = cc.plot_explanation(model.explain(frame.head(5)), subject=3)
    >>> ax.figure.savefig("subject.png")
    """
    rows = _rows_of(explanation, subject)
    drawn = rows.iloc[:at_most]
    values = drawn["log_odds"].to_numpy(dtype=np.float64)
    ax = axes_for(ax, (8.0, 1.2 + 0.26 * len(drawn)))
    bars = ax.barh(range(len(drawn)), values, height=0.7, color=[BLUE if value > 0 else VERMILION for value in values])
    ax.bar_label(bars, [f"{value:+.1f}" for value in values], padding=3, fontsize=8)
    titles = [shortened(_title(row), _ROW_TEXT) for row in drawn.to_dict("records")]
    ax.set_yticks(range(len(drawn)), labels=titles, fontsize=9, **PLAIN)
    ax.set_ylim(len(drawn) - 0.4, -0.6)
    ax.margins(x=0.12)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    first, second = (_called(int(rows[name].iloc[0])) for name in ("subtype", "against"))
    ax.set_title(f"What speaks for {first} (right) and for {second} (left), in nats", loc="left", fontsize=9)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    total = float(rows["log_odds"].sum())
    rest = rows.iloc[len(drawn) :]
    more = f"; {len(rest)} more terms are not drawn" if len(rest) else ""
    remark(ax, [f"All terms together: {total:+.1f} nats{more}. 2.3 nats: odds of 10 : 1."])
    return ax


def _rows_of(explanation: pd.DataFrame, subject: object) -> pd.DataFrame:
    """Return the rows of one subject.

    Raises
    ------
    ValueError
        If there are none.
    """
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
    if value is None or value != value:  # NaN
        return str(row["label"])
    if isinstance(value, float) and math.isinf(value):
        return f"{row['label']}: {mass_text(value)}"
    return f"{row['label']}: {value:.6g}" if isinstance(value, float) else f"{row['label']}: {value}"


def _called(subtype: int) -> str:
    return f"Subtype {subtype}" if subtype else "none of these"
