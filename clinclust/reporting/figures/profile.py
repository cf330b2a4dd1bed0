"""Figure of the profiles of the subtypes: a heat map of how far each lies from all subjects in every feature."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from clinclust.arguments import AXES, COMPARISONS, MODEL, NAMES, WHOLE, accepting
from clinclust.control_characters import shortened
from clinclust.estimators.subtype_model import clustered_features, require_fitted
from clinclust.reporting.diverging import HIGH, LOW, MIDDLE
from clinclust.reporting.figures.canvas import axes_for, named, remark
from clinclust.reporting.figures.heat_map import draw_heat_map, heat_map_size
from clinclust.reporting.figures.serial import serially
from clinclust.reporting.layout import WITHHELD
from clinclust.reporting.profiles import Profiles, profiles_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from clinclust.estimators.subtype_model import SubtypeModel

__all__ = ["headings", "plot_profile"]

_STRONGEST = 1.5  # SDs from the mean of all subjects at which the colour is full
_ROW_TEXT, _NAME_LINES = 44, 3
_FEW_SUBTYPES, _NAME_LINE, _NARROW_LINE = 8, 11, 8
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
    0 orange. Shares and scores of a scale are standardised in the same way. Features for which the subtype table shows
    the median (‡) have medians in the place of means, and the standard deviation of a normal distribution with the
    quartiles of all subjects. A categorical feature has one row for each level.

    Parameters
    ----------
    model : SubtypeModel
        A fitted model. The rows are ordered by its `feature_relevance_`; without a MAP-DP search, by the distance
        between the subtypes.
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
    >>> ax = cc.plot_profile(model, comparisons)
    >>> ax.figure.savefig("profile.png")
    """
    require_fitted(model)
    profiles = profiles_of(comparisons)
    called = headings(profiles, named(profiles.subtypes, {**model.names_, **(names or {})}))
    rows = profiles.ranked_for(model)
    drawn = rows[:at_most]
    # That a feature was kept out of a search, because all its values are the same, tells its exact counts.
    asked = [feature.name for feature in model.schema_.clustered]
    clustered = set(asked if profiles.is_rounded else clustered_features(model))
    aside = [profiles.features[row] not in clustered for row in drawn]
    medians = [profiles.summaries[row] == "median" for row in drawn]
    titles = [
        shortened(profiles.titles[row], _ROW_TEXT) + _ASIDE * off + _MEDIAN * is_median
        for row, off, is_median in zip(drawn, aside, medians, strict=True)
    ]
    ax = axes_for(ax, heat_map_size(len(drawn), called))
    numbers, withheld = profiles.standardised[drawn], (profiles.withheld[:, 1:] | profiles.withheld[:, :1])[drawn]
    draw_heat_map(
        ax,
        numbers,
        withheld,
        colours=[f"#{colour}" for colour in (LOW, MIDDLE, HIGH)],
        limits=(-_STRONGEST, _STRONGEST),
        rows=titles,
        columns=called,
        bar="SDs from\nall subjects",
        number_format="+.1f",
    )
    remark(
        ax,
        [
            f"The {_chosen(model, profiles, len(drawn))} of {len(rows)} rows" if len(drawn) < len(rows) else "",
            "† not clustered on" if any(aside) else "",
            "‡ medians" if any(medians) else "",
            f"{WITHHELD} withheld: few subjects" if withheld[np.isnan(numbers)].any() else "",
            "– no value" if (np.isnan(numbers) & ~withheld).any() else "",
        ],
    )
    return ax


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
