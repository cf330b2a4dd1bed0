"""Stability: what the refits of a cohort say of its subtypes."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from clinclust.estimators.few_subjects import FEW_SUBJECTS

__all__ = ["Stability"]

_FEW = 2 * FEW_SUBJECTS


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How stable the subtypes of a cohort are. Tables are tidy; `assess_stability` explains the columns.

    Attributes
    ----------
    subtypes : DataFrame, one row for each subtype
        subtype, size, jaccard, band, meaning, dissolved, found_again (from half-samples), bootstrap_jaccard, and
        jaccard_by_chance.
    numbers : DataFrame
        sample (half-sample, bootstrap or permuted), n_found (clusters), share of these refits.
    subjects : DataFrame, N rows
        own and others: the mean share of the other subjects of the own subtype, and of all other subjects, with whom a
        subject came together.
    sensitivity : DataFrame
        change, n_subtypes, agreement: full refits with another concentration, prior strength or seed.
    permuted_jaccard : float
        Mean Jaccard, weighed by size, of the clusters of at least 5 subjects in cohorts with permuted columns; NaN if
        none of these cohorts has two.
    restart_agreement : float
        Mean adjusted Rand index of the searches of the fit with the best of them.
    n_bootstraps : int
        Half-samples, and as many bootstrap samples.
    is_of_whole_procedure : bool
        Whether the resamples were refitted with all that the fit chose from the data.
    seed : int

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> stability = cc.assess_stability(model, frame, n_bootstraps=5, progress=False)
    >>> isinstance(stability, cc.Stability), stability.same_number
    (True, 1.0)
    """

    subtypes: pd.DataFrame
    numbers: pd.DataFrame
    subjects: pd.DataFrame
    sensitivity: pd.DataFrame
    permuted_jaccard: float
    restart_agreement: float
    n_bootstraps: int
    is_of_whole_procedure: bool
    seed: int

    @property
    def same_number(self) -> float:
        """The share of the half-samples with as many clusters as the cohort; of the whole procedure, subtypes."""
        rows = self.numbers[self.numbers["sample"] == "half-sample"]
        return float(rows.loc[rows["as_in_cohort"], "share"].sum())

    @property
    def summary(self) -> str:
        """The result in words, a sentence for each subtype."""
        lines = [
            f"Subtype {row.subtype} ({row.size:,} subjects): {row.band} (Jaccard {row.jaccard:.2f}, by chance "
            f"{row.jaccard_by_chance:.2f}): {row.meaning}."
            for row in self.subtypes.itertuples()
        ]
        what = "subtypes" if self.is_of_whole_procedure else "clusters"
        few = " (a subtype of few subjects may have none in a half)" if (self.subtypes["size"] < _FEW).any() else ""
        lines.append(f"As many {what} in {100 * self.same_number:.0f}% of {self.n_bootstraps} half-samples{few}.")
        return "\n".join(lines)

    def __repr__(self) -> str:
        jaccards = ", ".join(f"{value:.2f}" for value in self.subtypes["jaccard"])
        return f"Stability(jaccard {jaccards}; {self.n_bootstraps} half-samples and bootstraps)"
