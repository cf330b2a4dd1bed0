"""Figure of the missing values: a heat map of features by subtypes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from clinclust.arguments import AXES, COMPARISONS, NAMES, WHOLE, accepting
from clinclust.control_characters import shortened
from clinclust.reporting.figures.canvas import axes_for, named, remark
from clinclust.reporting.figures.heat_map import draw_heat_map, heat_map_size
from clinclust.reporting.figures.profile import headings
from clinclust.reporting.figures.serial import serially
from clinclust.reporting.layout import WITHHELD
from clinclust.reporting.profiles import profiles_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["plot_missing"]

_ROW_TEXT = 44


@accepting(comparisons=COMPARISONS, names=NAMES, at_most=WHOLE, ax=AXES)
@serially
def plot_missing(
    comparisons: pd.DataFrame,
    *,
    names: Mapping[int, str] | None = None,
    at_most: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Draw the percentage of subjects without a value for each feature, in all subjects and in each subtype.

    The features with the most missing values come first; features without missing values are left out. If the
    percentages differ much between subtypes, the values may not be missing at random.

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

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> comparisons = cc.compare_subtypes(frame.mask(rng.random((200, 2)) < 0.1), frail.astype(int), schema)
    >>> ax = cc.plot_missing(comparisons)
    >>> ax.figure.savefig("missing.png")
    """
    profiles = profiles_of(comparisons)
    called = headings(profiles, {0: "All", **named(profiles.subtypes, names)})
    labels = dict(
        comparisons.loc[comparisons["kind"] == "summary", ["feature", "label"]].itertuples(index=False, name=None)
    )
    # All levels of a feature have the same missing values, so its first row is enough.
    first = [profiles.features.index(feature) for feature in dict.fromkeys(profiles.features)]
    percent = profiles.percent_missing
    incomplete = [row for row in first if not (percent[row] == 0).all()]
    drawn = sorted(incomplete, key=lambda row: -np.nan_to_num(percent[row, 0], nan=np.inf))[:at_most]
    ax = axes_for(ax, heat_map_size(len(drawn), called))
    numbers, withheld = percent[drawn], profiles.withheld[drawn]
    if not drawn:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "No value is missing", ha="center", va="center", transform=ax.transAxes)
        return ax
    draw_heat_map(
        ax,
        numbers,
        withheld,
        colours="Blues",
        limits=(0.0, 100.0),
        rows=[shortened(labels[profiles.features[row]], _ROW_TEXT) for row in drawn],
        columns=called,
        bar="Missing\n(% of the group)",
        number_format=".0f",
    )
    complete = len(first) - len(incomplete)
    remark(
        ax,
        [
            f"The {len(drawn)} features with most of {len(incomplete)}" if len(drawn) < len(incomplete) else "",
            f"{complete} {'feature' if complete == 1 else 'features'} without a missing value" if complete else "",
            f"{WITHHELD} withheld: few subjects" if withheld[np.isnan(numbers)].any() else "",
        ],
    )
    return ax
