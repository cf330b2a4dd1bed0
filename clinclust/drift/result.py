"""Drift: how a batch of new subjects differs from the cohort, as tables and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from clinclust.control_characters import on_one_line
from clinclust.files.cell_text import shortened

__all__ = ["CLEAR", "Drift", "lines_of"]


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """How a batch of new subjects differs from the cohort. Tables are tidy; `assess_drift` explains the columns.

    Attributes
    ----------
    subtypes : DataFrame, one row for each subtype and one for none of these (0)
        subtype, n_cohort, n_batch, share_cohort, share_batch.
    tests : DataFrame
        question (none of these, shares of subtypes), test, measure, effect, p.
    features : DataFrame, one row for each clustered feature
        feature, label, likelihood; missing_cohort, missing_batch, p_missing, q_missing; n_unseen; n_cohort, n_batch,
        test, statistic, measure, effect, p, q.
    n_cohort, n_batch : int
        Subjects of the cohort and of the batch.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> drift = cc.assess_drift(model, frame, frame.iloc[::2])
    >>> isinstance(drift, cc.Drift), drift
    (True, Drift(100 subjects against 200; 0 of 2 features differ))
    """

    subtypes: pd.DataFrame
    tests: pd.DataFrame
    features: pd.DataFrame
    n_cohort: int
    n_batch: int

    @property
    def summary(self) -> str:
        """The result in words, a line for each question. It names features and no subject."""
        return "\n".join(lines_of(self))

    def __repr__(self) -> str:
        n_different = int(((self.features["q"] < CLEAR) | (self.features["q_missing"] < CLEAR)).sum())
        differ = f"{n_different} of {len(self.features)} features differ"
        return f"Drift({self.n_batch:,} subjects against {self.n_cohort:,}; {differ})"


CLEAR = 0.05
"""A difference is called clear if its p is below this; among many features, its q."""
_MOST_NAMED = 8


def lines_of(drift: Drift) -> list[str]:
    """Return a line for each question. No line holds a value of a subject."""
    features = drift.features
    lines = [
        f"The batch has {_subjects(drift.n_batch)}, the cohort {drift.n_cohort:,}.",
        _on_none(drift),
        _on_shares(drift),
        _on_features(features, "q_missing", "missing more or less often", _missing),
        _on_features(features, "q", "distributed otherwise", _shifted),
    ]
    unseen = features[features["n_unseen"] > 0]
    if len(unseen):
        named = _named([f"{_label(row)} ({_subjects(row['n_unseen'])})" for row in unseen.to_dict("records")])
        lines.append(f"Values that the model does not know, taken for missing: {named}.")
    untested = features[features["n_batch"] == 0]
    if len(untested):
        named = _named([_label(row) for row in untested.to_dict("records")])
        lines.append(f"Not compared, because the batch has no value: {named}.")
    return lines


def _on_none(drift: Drift) -> str:
    row, test = drift.subtypes.to_dict("records")[-1], drift.tests.iloc[0]
    sizes = int(drift.subtypes["n_batch"].sum()), int(drift.subtypes["n_cohort"].sum())
    numbers = (
        f"None of these subtypes: {row['n_batch']:,} of {sizes[0]:,} in the batch ({_share(row['share_batch'])}), "
        f"{row['n_cohort']:,} of {sizes[1]:,} in the cohort ({_share(row['share_cohort'])})"
    )
    more = "more" if test["effect"] > 0 else "fewer"
    return f"{numbers}; {_judged(test['p'], f'{more} of the batch fit no subtype')}."


def _on_shares(drift: Drift) -> str:
    rows, test = drift.subtypes.iloc[:-1], drift.tests.iloc[1]
    if len(rows) < 2:
        return "Shares of subtypes: there is only one subtype."
    # Shares of those who fit a subtype, as the test compares them.
    batch, cohort = (
        " / ".join(_share(n / max(rows[name].sum(), 1)) for n in rows[name]) for name in ("n_batch", "n_cohort")
    )
    return f"Shares of subtypes: {batch} in the batch, {cohort} in the cohort; {_judged(test['p'], 'they differ')}."


def _on_features(features: pd.DataFrame, q: str, what: str, describe: Any) -> str:
    found = features[features[q] < CLEAR].sort_values(q, kind="stable")
    if not len(found):
        return f"No feature is clearly {what}."
    are = "is" if len(found) == 1 else "are"
    named = _named([describe(row) for row in found.to_dict("records")])
    return f"{len(found)} of {len(features)} features {are} {what} (q below {CLEAR}): {named}."


def _missing(row: dict[Any, Any]) -> str:
    return f"{_label(row)} ({_share(row['missing_batch'])} instead of {_share(row['missing_cohort'])})"


def _shifted(row: dict[Any, Any]) -> str:
    if row["measure"] == "SD of the cohort":
        return f"{_label(row)} ({row['effect']:+.2f} SD)"
    return f"{_label(row)} ({row['measure']} {row['effect']:.2f})"


def _judged(p: float, difference: str) -> str:
    if pd.isna(p):
        return "too few subjects for a test"
    shown = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
    return f"{difference} ({shown})" if p < CLEAR else f"no clear difference ({shown})"


def _label(row: dict[Any, Any]) -> str:
    return on_one_line(shortened(str(row["label"])))


def _named(items: list[str]) -> str:
    more = f" and {len(items) - _MOST_NAMED:,} more" if len(items) > _MOST_NAMED else ""
    return ", ".join(items[:_MOST_NAMED]) + more


def _subjects(n: int) -> str:
    return "1 subject" if n == 1 else f"{n:,} subjects"


def _share(share: float) -> str:
    return f"{100 * share:.1f}%"
