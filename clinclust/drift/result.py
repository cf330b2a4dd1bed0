"""Drift: how a batch of new subjects differs from the cohort."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

__all__ = ["Drift"]


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
        from clinclust.drift.words import lines_of

        return "\n".join(lines_of(self))

    def __repr__(self) -> str:
        from clinclust.drift.words import CLEAR

        n_different = int(((self.features["q"] < CLEAR) | (self.features["q_missing"] < CLEAR)).sum())
        differ = f"{n_different} of {len(self.features)} features differ"
        return f"Drift({self.n_batch:,} subjects against {self.n_cohort:,}; {differ})"
