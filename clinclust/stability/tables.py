"""The tables of stability, made from the refits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.search.labels import adjusted_rand_index
from clinclust.stability.bands import DISSOLVED, RECOVERED, band_of
from clinclust.stability.draws import PERMUTED

if TYPE_CHECKING:
    from clinclust.stability.draws import Draw
    from clinclust.stability.refits import Refitted, Refitter

__all__ = ["numbers_table", "sensitivity_table", "subjects_table", "subtypes_table", "weighted_jaccard"]

Array = NDArray[np.float64]


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

    One cluster of nearly all subjects, beside a few who are odd, comes out again in any half: it divides nothing.
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
    """Return the mean over rows without NaN, float64 (K,); NaN where nothing is known."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0))
