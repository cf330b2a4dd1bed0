"""Survival and cumulative incidence in the assigned subtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri

from clinclust.arguments import FRAME, MODEL, NOTHING, NUMBER, TEXT, accepting, either
from clinclust.arrays import Array
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import require_fitted
from clinclust.outcomes.columns import CohortColumns

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel


@accepting(
    model=MODEL,
    frame=FRAME,
    outcome=TEXT,
    time=TEXT,
    event=either(TEXT, NOTHING),
    entry=either(TEXT, NOTHING),
    level=NUMBER,
)
def survival_curves(
    model: SubtypeModel,
    frame: pd.DataFrame,
    outcome: str,
    time: str,
    *,
    event: str | None = None,
    entry: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the survival of each subtype as assigned, by the product limit of Kaplan and Meier (1958).

    Curves of assigned subtypes lie too close together; `compare_outcomes` corrects their hazard ratios.

    Parameters
    ----------
    model, frame, outcome, time, event, entry, level
        As in `compare_outcomes`.

    Returns
    -------
    DataFrame
        One row for each subtype and time of an event or of the last visit of a subject: ``subtype``, ``time``,
        ``at_risk``, ``events``, ``survival``, ``lower`` and ``upper`` (of log(-log), with Greenwood's variance).

    Raises
    ------
    CohortError
        If `frame` does not fit the schema.
    ValueError
        If the model is not fitted, `frame` is not its cohort, or columns cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")], other_columns="ignore")
    >>> frame = pd.DataFrame({"x": [0.1, 0.4, 0.2, 9.1, 9.3, 9.9], "days": [5.0, 8.0, 12.0, 2.0, 3.0, 4.0]})
    >>> frame["died"] = [1, 0, 1, 1, 1, 0]
    >>> groups = cc.Partition([0, 0, 0, 1, 1, 1], schema, made_by="hand")
    >>> curves = cc.outcomes.survival_curves(groups, frame, "died", "days")
    >>> curves.query("subtype == 1")[["time", "at_risk", "survival"]].round(2).to_numpy().tolist()
    [[5.0, 3.0, 0.67], [8.0, 2.0, 0.67], [12.0, 1.0, 0.0]]
    """
    require_fitted(model)
    columns = CohortColumns(model, frame)
    columns.check(1, level, [name for name in (outcome, time, entry) if name is not None], "outcome", alone=True)
    found = columns.survival(outcome, time, entry, event)
    columns.refuse()
    assert found is not None
    assert found.time is not None
    assert found.entry is not None
    labels, known = np.asarray(model.labels_), found.is_known
    tables = [
        _curve(found.time[rows], found.observed[rows], found.entry[rows], level).assign(subtype=subtype + 1)
        for subtype in range(int(labels.max()) + 1)
        if (rows := known & (labels == subtype)).any()
    ]
    if not tables:
        raise InputError(f"no subject has {outcome!r} and {time!r}")
    curves = pd.concat(tables, ignore_index=True)
    return curves[["subtype", "time", "at_risk", "events", "survival", "lower", "upper"]]


def _curve(time: Array, event: Array, entry: Array, level: float) -> pd.DataFrame:
    """Return the survival after each time of some subjects (n,)."""
    times = np.unique(time)
    at_risk = ((entry[:, None] < times) & (time[:, None] >= times)).sum(axis=0)
    events = ((time[:, None] == times) & (event[:, None] > 0.0)).sum(axis=0)
    survival = np.cumprod(1.0 - events / np.maximum(at_risk, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        greenwood = np.cumsum(events / (at_risk * (at_risk - events)))
        margin = float(ndtri(0.5 + level / 2.0)) * np.sqrt(greenwood) / -np.log(survival)
        lower, upper = survival ** np.exp(margin), survival ** np.exp(-margin)
    is_open = (survival <= 0.0) | (survival >= 1.0)
    return pd.DataFrame(
        {
            "time": times,
            "at_risk": at_risk,
            "events": events,
            "survival": survival,
            "lower": np.where(is_open, np.nan, lower),
            "upper": np.where(is_open, np.nan, upper),
        }
    )
