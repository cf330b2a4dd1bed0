"""The clustered features in the cohort and in a batch: what is missing, and the values that were observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.comparisons.t_tests import adjusted
from clinclust.drift.two_samples import compared_margins
from clinclust.engine.problem.encoding import model_values

if TYPE_CHECKING:
    from clinclust.drift.batch import Batch
    from clinclust.estimators.fit import Fit
    from clinclust.likelihoods.likelihood import Likelihood

__all__ = ["table_of_features"]

Array = NDArray[np.float64]


def table_of_features(fit: Fit, cohort: pd.DataFrame, batch: Batch, rng: np.random.Generator) -> pd.DataFrame:
    """Return one row for each clustered feature, in the order of the schema, as `assess_drift` explains it.

    Parameters
    ----------
    fit : Fit
    cohort : DataFrame, N rows
        As `cohort_of` returns it.
    batch : Batch
    rng : numpy.random.Generator
        It draws the permutations.
    """
    encoding, names = fit.clusters_.encoding, fit.schema_.names
    in_cohort, in_batch = (model_values(frame, encoding.features) for frame in (cohort, batch.frame))
    nobody = np.zeros(len(batch.frame), dtype=np.bool_)
    rows = []
    pairs = zip(encoding.features, encoding.likelihoods, strict=True)
    for feature, likelihood in sorted(pairs, key=lambda pair: names.index(pair[0].column)):
        name, unseen = feature.name, batch.unseen.get(feature.column, nobody)
        # Values at a point mass are not missing; they are counted in the row of the first part.
        missing = np.isnan(in_cohort[name]), np.isnan(in_batch[name]) & ~unseen
        is_rest = feature.is_part and not feature.levels
        rows.append(
            {"feature": feature.column, "label": feature.title, "likelihood": likelihood.name}
            | (dict.fromkeys(_OF_MISSING, np.nan) if is_rest else _of_missing(*missing))
            | {"q_missing": np.nan, "n_unseen": int(unseen.sum())}
            | _of_margins(likelihood, _observed(in_cohort[name]), _observed(in_batch[name]), rng)
        )
    table = pd.DataFrame(rows)
    return table.assign(q_missing=adjusted(table["p_missing"].to_numpy()), q=adjusted(table["p"].to_numpy()))


_OF_MISSING = ("missing_cohort", "missing_batch", "p_missing")


def _observed(column: Array) -> Array:
    return column[~np.isnan(column)]


def _of_missing(in_cohort: NDArray[np.bool_], in_batch: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the shares that are missing, and Fisher's exact test; no test where nothing or everything is missing."""
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
    if test.name and likelihood.is_nominal:
        measure, effect = "Cramer's V", float(np.sqrt(test.statistic / (cohort.size + batch.size)))
    elif test.name:
        measure, effect = "SD of the cohort", _in_standard_units(cohort, batch)
    return {
        "n_cohort": cohort.size,
        "n_batch": batch.size,
        "test": test.name,
        "statistic": test.statistic,
        "measure": measure,
        "effect": effect,
        "p": test.p,
    }


def _in_standard_units(cohort: Array, batch: Array) -> float:
    """Return by how many standard deviations of the cohort the mean of the batch is higher; NaN if it has none."""
    spread = float(cohort.std())
    return (float(batch.mean()) - float(cohort.mean())) / spread if spread > 0.0 else float("nan")
