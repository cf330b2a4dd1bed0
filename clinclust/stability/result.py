"""Stability: what the refits of a cohort say of its subtypes, as tables, in Hennig's bands and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from clinclust.arrays import Array
from clinclust.engine.search.labels import adjusted_rand_index
from clinclust.estimators.few_subjects import FEW_SUBJECTS
from clinclust.stability.resamples import PERMUTED

if TYPE_CHECKING:
    from clinclust.stability.refits import Refitted, Refitter
    from clinclust.stability.resamples import Draw

_FEW = 2 * FEW_SUBJECTS


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """How stable the subtypes of a cohort are. Tables are tidy; `assess_stability` explains the columns.

    Attributes
    ----------
    subtypes, numbers, subjects, sensitivity : DataFrame
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
    >>> stability = cc.stability.assess_stability(model, frame, n_bootstraps=5, progress=False)
    >>> isinstance(stability, cc.stability.Stability), stability.same_number
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


DISSOLVED, RECOVERED = 0.5, 0.75
"""Largest Jaccard of a subtype that is dissolved in a refit, and least of one that is found again (Hennig 2007)."""


class Band(NamedTuple):
    """A band of the mean Jaccard similarity, from `least` on."""

    least: float
    name: str
    words: str


BANDS = (
    Band(0.85, "highly stable", "the same subjects come together again nearly always"),
    Band(0.75, "stable", "a valid, stable subtype: mostly the same subjects come together again"),
    Band(0.6, "a pattern", "there is a pattern, but which subjects belong to it is doubtful"),
    Band(0.5, "unstable", "not to be trusted: other subjects come together in other samples"),
    Band(0.0, "dissolved", "the subtype does not come out again: other samples divide its subjects otherwise"),
)
"""The bands of Hennig (2007, Computational Statistics and Data Analysis 52, 258-271), the most stable first."""


TOO_FEW = Band(0.0, "few subjects", "too few subjects to tell")
"""Of subtypes with hardly any subject: one who is alone comes out again alone, or not at all."""


def band_of(jaccard: float, n_subjects: int) -> Band:
    """Return the band of the mean Jaccard similarity of a subtype with this number of subjects."""
    if math.isnan(jaccard) or n_subjects < FEW_SUBJECTS:
        return TOO_FEW
    return next(band for band in BANDS if jaccard >= band.least)


def subtypes_table(refitter: Refitter, halves: list[Draw], bootstraps: list[Draw]) -> pd.DataFrame:
    """Return how far each subtype comes out again; `assess_stability` explains the columns."""
    jaccard = np.array([draw.jaccard for draw in halves])
    mean = _mean(jaccard)
    sizes = np.bincount(refitter.reported)
    bands = [band_of(value, size) for value, size in zip(mean.tolist(), sizes.tolist(), strict=True)]
    seen = np.maximum((~np.isnan(jaccard)).sum(axis=0), 1)
    with np.errstate(invalid="ignore"):
        dissolved, found_again = (jaccard <= DISSOLVED).sum(axis=0) / seen, (jaccard >= RECOVERED).sum(axis=0) / seen
    return pd.DataFrame(
        {
            "subtype": np.arange(1, sizes.size + 1),
            "size": sizes,
            "jaccard": mean,
            "band": [band.name for band in bands],
            "meaning": [band.words for band in bands],
            "dissolved": dissolved,
            "found_again": found_again,
            "bootstrap_jaccard": _mean(np.array([draw.jaccard for draw in bootstraps])),
            "jaccard_by_chance": _mean(np.array([draw.by_chance for draw in halves])),
        }
    )


def weighted_jaccard(draws: list[Draw]) -> float:
    """Return the mean Jaccard of the clusters of enough subjects, weighed by their sizes; NaN if there are no two.

    One cluster of nearly all subjects comes out again in any half: it divides nothing.
    """
    found = []
    for draw in draws:
        counted = draw.is_large & (draw.sizes > 0)
        if draw.is_large.sum() > 1 and counted.any():
            found.append(float(np.average(draw.jaccard[counted], weights=draw.sizes[counted])))
    return float(np.mean(found)) if found else float("nan")


def numbers_table(draws: dict[str, list[Draw]], refitter: Refitter) -> pd.DataFrame:
    """Return how often how many clusters were found in the resamples of each kind."""
    rows = []
    for sample, of_sample in draws.items():
        of_clusters = refitter.procedure is None or sample == PERMUTED
        in_cohort = refitter.model.subtype_of_.size if of_clusters else refitter.model.n_clusters_
        found, times = np.unique([draw.n_found for draw in of_sample], return_counts=True)
        rows += [
            (sample, n, n == in_cohort, number / len(of_sample))
            for n, number in zip(found.tolist(), times.tolist(), strict=True)
        ]
    return pd.DataFrame(rows, columns=["sample", "n_found", "as_in_cohort", "share"])


def subjects_table(refitter: Refitter, halves: list[Draw], index: pd.Index) -> pd.DataFrame:
    """Return with whom each subject came together in half-samples, in the order of the table."""
    n_subjects = refitter.problem.cohort.n_subjects
    found = {}
    for name in ("own", "others"):
        total, times = np.zeros(n_subjects), np.zeros(n_subjects)
        for draw in halves:
            share = getattr(draw, name)
            known = ~np.isnan(share)
            total[draw.rows[known]] += share[known]
            times[draw.rows[known]] += 1.0
        with np.errstate(invalid="ignore"):
            found[name] = refitter.problem.cohort.in_table_order(total / times)
    return pd.DataFrame(found, index=index)


def sensitivity_table(refitter: Refitter, names: list[str], whole: list[Refitted]) -> pd.DataFrame:
    """Return the number of subtypes of the whole cohort, and their agreement with the reported ones, by setting."""
    reported = refitter.reported
    rows = [
        (name, int(found.labels.max()) + 1, adjusted_rand_index(found.labels, reported))
        for name, found in zip(names, whole, strict=True)
    ]
    return pd.DataFrame(rows, columns=["change", "n_subtypes", "agreement"])


def _mean(values: Array) -> Array:
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0))
