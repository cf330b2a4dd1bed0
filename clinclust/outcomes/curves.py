"""Survival and cumulative incidence in the assigned subtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri

from clinclust.arguments import FRAME, MODEL, NOTHING, NUMBER, TEXT, TEXTS, accepting, either
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
    competing=TEXTS,
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
    competing: Sequence[str] = (),
    entry: str | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the survival of each subtype as assigned, by the product limit of Kaplan and Meier (1958).

    With competing events, the cumulative incidence of the event instead (Aalen and Johansen 1978): the share to whom it
    has happened, S(t-) d(t) / n(t) summed over times, where S is survival without any of the events. Curves of assigned
    subtypes lie too close together; `compare_outcomes` corrects their hazard ratios.

    Parameters
    ----------
    model, frame, outcome, time, event, entry, level
        As in `compare_outcomes`.
    competing : list of str
        Values of `outcome` that are competing events; all others than these and `event` are censored.

    Returns
    -------
    DataFrame
        One row for each subtype and time of an event or of the last visit of a subject: ``subtype``, ``time``,
        ``at_risk``, ``events``, ``survival``, ``lower`` and ``upper`` (of log(-log), with Greenwood's variance). With
        `competing`, ``incidence`` in the place of ``survival`` (its variance by the delta method, Marubini and
        Valsecchi 1995).

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
    others = [columns.survival(outcome, time, entry, value) for value in competing]
    if found is not None and found.event in competing:
        columns.problems.append(f"competing: {found.event!r} is the event itself")
    columns.refuse()
    assert found is not None
    assert found.time is not None
    assert found.entry is not None
    labels, known = np.asarray(model.labels_), found.is_known
    happened = found.observed + 2.0 * sum(other.observed for other in others if other is not None)
    tables = [
        _curve(found.time[rows], happened[rows], found.entry[rows], level, bool(competing)).assign(subtype=subtype + 1)
        for subtype in range(int(labels.max()) + 1)
        if (rows := known & (labels == subtype)).any()
    ]
    if not tables:
        raise InputError(f"no subject has {outcome!r} and {time!r}")
    curves = pd.concat(tables, ignore_index=True)
    what = "incidence" if competing else "survival"
    return curves[["subtype", "time", "at_risk", "events", what, "lower", "upper"]]


def _curve(time: Array, happened: Array, entry: Array, level: float, is_incidence: bool) -> pd.DataFrame:
    """Return the survival or the incidence after each time of some subjects (n,); `happened`: 1 the event, 2 others."""
    times = np.unique(time)
    at_risk = ((entry[:, None] < times) & (time[:, None] >= times)).sum(axis=0)
    is_now = time[:, None] == times
    events, others = ((is_now & (happened == kind)[:, None]).sum(axis=0) for kind in (1.0, 2.0))
    survival = np.cumprod(1.0 - (events + others) / np.maximum(at_risk, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        share, variance = survival, survival**2 * np.cumsum(events / (at_risk * (at_risk - events)))
        if is_incidence:
            share, variance = _incidence(at_risk, events, others, survival)
        margin = float(ndtri(0.5 + level / 2.0)) * np.sqrt(variance) / (-share * np.log(share))
        lower, upper = share ** np.exp(margin), share ** np.exp(-margin)
    is_open = (share <= 0.0) | (share >= 1.0)
    return pd.DataFrame(
        {
            "time": times,
            "at_risk": at_risk,
            "events": events,
            "incidence" if is_incidence else "survival": share,
            "lower": np.where(is_open, np.nan, lower),
            "upper": np.where(is_open, np.nan, upper),
        }
    )


def _incidence(at_risk: Array, events: Array, others: Array, survival: Array) -> tuple[Array, Array]:
    """Return the cumulative incidence after each time, and its variance; `survival` is that without any event.

    With I the incidence, S the survival before a time, d events and D of any kind of n at risk, the variance is
    sum_j (I - I_j)^2 D_j / (n_j (n_j - D_j)) + S_j^2 d_j (n_j - d_j) / n_j^3 - 2 (I - I_j) S_j d_j / n_j^2.
    """
    before, n = np.append(1.0, survival[:-1]), np.maximum(at_risk, 1).astype(np.float64)
    incidence = np.cumsum(before * events / n)
    any_event = events + others
    of_survival = np.where(any_event < n, any_event / (n * np.maximum(n - any_event, 1e-300)), 0.0)
    of_event, of_both = before**2 * events * (n - events) / n**3, before * events / n**2
    # (I - I_j)^2 and (I - I_j) multiplied out, so that each sum runs once over the times.
    variance = incidence**2 * np.cumsum(of_survival) - 2.0 * incidence * np.cumsum(incidence * of_survival)
    variance += np.cumsum(incidence**2 * of_survival) + np.cumsum(of_event)
    variance -= 2.0 * (incidence * np.cumsum(of_both) - np.cumsum(incidence * of_both))
    return incidence, np.maximum(variance, 0.0)
