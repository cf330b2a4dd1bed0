"""The subtypes that the subjects of the cohort and of a batch get, and who fits none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.drift.two_samples import NO_TEST, TwoSampleTest, chi_squared
from clinclust.engine.problem.encoding import model_values
from clinclust.estimators.explanation import left_out_scores

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

__all__ = ["subtypes_of_batch", "subtypes_of_cohort", "table_of_subtypes", "table_of_tests"]

Labels = NDArray[np.int64]
Counts = NDArray[np.int64]


def subtypes_of_cohort(fit: Fit, cohort: pd.DataFrame) -> Counts:
    """Return how many subjects of the cohort get each subtype, and in the last place none, int64 (K + 1,).

    Each subject is judged by all others, as new subjects are judged by the cohort. Who is alone in a cluster fits none
    of those that are left, unless another is more probable.

    Parameters
    ----------
    fit : Fit
    cohort : DataFrame, N rows
        As `cohort_of` returns it.
    """
    scores, labels = left_out_scores(fit, cohort), fit.cluster_labels_
    is_alone = fit.clusters_.sizes[labels] < 2
    scores[is_alone, labels[is_alone]] = -np.inf  # the cluster is empty without the subject
    return _counted(fit, cohort, scores)


def subtypes_of_batch(fit: Fit, frame: pd.DataFrame) -> Counts:
    """Return the same numbers for new subjects, validated."""
    clusters = fit.clusters_
    values = model_values(frame, clusters.encoding.features)
    return _counted(fit, frame, clusters.scores(values, coarsened=True))


def _counted(fit: Fit, frame: pd.DataFrame, scores: NDArray[np.float64]) -> Counts:
    """Count the subjects by their most probable subtype; who has no observed value has none, and is not counted."""
    with np.errstate(invalid="ignore"):
        found = fit.subtypes_.log_summed(scores).argmax(axis=1)
    observed = frame[fit.selected_features_].notna().any(axis="columns").to_numpy()
    return np.bincount(found[observed], minlength=fit.n_clusters_ + 1)


def table_of_subtypes(in_cohort: Counts, in_batch: Counts) -> pd.DataFrame:
    """Return one row for each subtype, and a last one for none of these (0), from the numbers of both, int64 (K + 1,).

    Shares are those of all who were counted.
    """
    shares = [counts / max(int(counts.sum()), 1) for counts in (in_cohort, in_batch)]
    return pd.DataFrame(
        {
            "subtype": np.append(np.arange(1, in_cohort.size), 0),
            "n_cohort": in_cohort,
            "n_batch": in_batch,
            "share_cohort": shares[0],
            "share_batch": shares[1],
        }
    )


def table_of_tests(in_cohort: Counts, in_batch: Counts, rng: np.random.Generator) -> pd.DataFrame:
    """Return the two tests: of the share that fits no subtype, and of the subtypes of all others."""
    none = _of_none(in_cohort, in_batch)
    shares = chi_squared(in_cohort[:-1], in_batch[:-1], rng)
    n_both = int(in_cohort[:-1].sum() + in_batch[:-1].sum())
    rows = [
        ("none of these", none.name, "difference of shares", none.statistic, none.p),
        ("shares of subtypes", shares.name, "Cramer's V", float(np.sqrt(shares.statistic / max(n_both, 1))), shares.p),
    ]
    return pd.DataFrame(rows, columns=["question", "test", "measure", "effect", "p"])


def _of_none(in_cohort: Counts, in_batch: Counts) -> TwoSampleTest:
    from scipy.stats import fisher_exact

    if not in_cohort.any() or not in_batch.any():
        return NO_TEST
    table = np.array([[counts[-1], counts[:-1].sum()] for counts in (in_batch, in_cohort)])
    difference = float(in_batch[-1] / in_batch.sum() - in_cohort[-1] / in_cohort.sum())
    return TwoSampleTest("Fisher's exact", difference, float(fisher_exact(table).pvalue))
