"""The tables of drift: the clustered features in the cohort and in a batch, and the subtypes that the subjects get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.comparisons.contrasts import Contrast
from clinclust.comparisons.t_tests import adjusted
from clinclust.drift.two_samples import chi_squared, compared_margins
from clinclust.engine.problem.encoding import model_values
from clinclust.estimators.explanation import left_out_scores

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.likelihoods.likelihood import Likelihood


def table_of_features(
    fit: Fit, cohort: pd.DataFrame, batch: pd.DataFrame, unseen: dict[str, NDArray[np.bool_]], rng: np.random.Generator
) -> pd.DataFrame:
    """Return one row for each clustered feature, as `assess_drift` explains it, from the results of `batch_of`."""
    encoding, names = fit.clusters_.encoding, fit.schema_.names
    in_cohort, in_batch = (model_values(frame, encoding.features) for frame in (cohort, batch))
    none_unseen = np.zeros(len(batch), dtype=np.bool_)
    rows = []
    pairs = zip(encoding.features, encoding.likelihoods, strict=True)
    for feature, likelihood in sorted(pairs, key=lambda pair: names.index(pair[0].column)):
        name, is_unseen = feature.name, unseen.get(feature.column, none_unseen)
        # Values at a point mass are not missing; they are counted in the row of the first part.
        missing = np.isnan(in_cohort[name]), np.isnan(in_batch[name]) & ~is_unseen
        is_rest = feature.is_part and not feature.levels
        rows.append(
            {"feature": feature.column, "label": feature.title, "likelihood": likelihood.name}
            | (dict.fromkeys(_OF_MISSING, np.nan) if is_rest else _of_missing(*missing))
            | {"q_missing": np.nan, "n_unseen": int(is_unseen.sum())}
            | _of_margins(likelihood, _observed(in_cohort[name]), _observed(in_batch[name]), rng)
        )
    table = pd.DataFrame(rows)
    return table.assign(q_missing=adjusted(table["p_missing"].to_numpy()), q=adjusted(table["p"].to_numpy()))


_OF_MISSING = ("missing_cohort", "missing_batch", "p_missing")


def _observed(column: Array) -> Array:
    return column[~np.isnan(column)]


def _of_missing(in_cohort: NDArray[np.bool_], in_batch: NDArray[np.bool_]) -> dict[str, Any]:
    from scipy.stats import fisher_exact

    missing = int(in_cohort.sum()), int(in_batch.sum())
    sizes = in_cohort.size, in_batch.size
    table = np.array([[here, size - here] for here, size in zip(missing, sizes, strict=True)])
    is_tested = 0 < sum(missing) < sum(sizes)
    return {
        "missing_cohort": missing[0] / sizes[0],
        "missing_batch": missing[1] / sizes[1],
        "p_missing": float(fisher_exact(table).pvalue) if is_tested else np.nan,
    }


def _of_margins(likelihood: Likelihood, cohort: Array, batch: Array, rng: np.random.Generator) -> dict[str, Any]:
    test = compared_margins(likelihood, cohort, batch, rng)
    measure, effect = "", np.nan
    if test.test and likelihood.is_nominal:
        measure, effect = "Cramer's V", float(np.sqrt(test.statistic / (cohort.size + batch.size)))
    elif test.test:
        spread, measure = float(cohort.std()), "SD of the cohort"
        effect = (float(batch.mean()) - float(cohort.mean())) / spread if spread > 0.0 else np.nan
    results = {"test": test.test, "statistic": test.statistic, "measure": measure, "effect": effect, "p": test.p}
    return {"n_cohort": cohort.size, "n_batch": batch.size} | results


Counts = NDArray[np.int64]


def subtypes_of_cohort(fit: Fit, cohort: pd.DataFrame) -> Counts:
    """Return how many subjects of the cohort, assigned by all others, get each subtype, and none, (K + 1,)."""
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
    with np.errstate(invalid="ignore"):
        found = fit.subtypes_.log_summed(scores).argmax(axis=1)
    observed = frame[fit.selected_features_].notna().any(axis="columns").to_numpy()
    return np.bincount(found[observed], minlength=fit.n_clusters_ + 1)


def table_of_subtypes(in_cohort: Counts, in_batch: Counts) -> pd.DataFrame:
    """Return one row for each subtype, and a last one for none of these (0), from the numbers of both, (K + 1,)."""
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
        ("none of these", none.test, "difference of shares", none.statistic, none.p),
        ("shares of subtypes", shares.test, "Cramer's V", float(np.sqrt(shares.statistic / max(n_both, 1))), shares.p),
    ]
    return pd.DataFrame(rows, columns=["question", "test", "measure", "effect", "p"])


def _of_none(in_cohort: Counts, in_batch: Counts) -> Contrast:
    from scipy.stats import fisher_exact

    if not in_cohort.any() or not in_batch.any():
        return Contrast()
    table = np.array([[counts[-1], counts[:-1].sum()] for counts in (in_batch, in_cohort)])
    difference = float(in_batch[-1] / in_batch.sum() - in_cohort[-1] / in_cohort.sum())
    return Contrast("Fisher's exact", difference, p=float(fisher_exact(table).pvalue))
