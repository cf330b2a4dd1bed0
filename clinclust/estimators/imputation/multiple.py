"""Multiple imputations of a cohort.

For each, the subtype of every subject is drawn from its membership; then rounds of a copula draw the margins of the
subtypes, the correlations inside them, and the missing values of a subject jointly, given what is observed of it (Rubin
1987, *Multiple imputation for nonresponse in surveys*).
"""

from __future__ import annotations

import warnings
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.arrays import Array, Labels
from clinclust.compiled import announcing_compilation
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.posterior import clusters_of, probabilities
from clinclust.engine.problem.problem import pose
from clinclust.engine.search.threads import SearchCancelled
from clinclust.errors import CohortWarning
from clinclust.estimators.fitted_cohort import cohort_of, cohort_problems, rows_of_the_fit
from clinclust.estimators.imputation.copula import Copula
from clinclust.estimators.imputation.parts import cells_of, with_cells
from clinclust.estimators.subtype_model import require_search
from clinclust.files.listed import listed

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.encoding import Encoding
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature, FeatureSchema

_FIRST = 5
"""How many times as many rounds precede the first draw."""


def multiple_imputations(
    model: SubtypeModel, frame: pd.DataFrame, m: int, n_sweeps: int, rng: np.random.Generator, cancelled: Event
) -> list[pd.DataFrame]:
    """Implement `Prediction.multiple_imputations`; raise SearchCancelled if `cancelled` is set."""
    fit = require_search(model, "multiple_imputations")
    rows = _rows(model, fit, frame)
    seen = fit.schema_.validate(frame, warn=False)
    cohort, back, found = seen.iloc[rows], np.argsort(rows), []
    with announcing_compilation():
        membership = _membership(fit, cohort)
        copula, encoding = _copula(fit, cohort, rng)
        for number in range(m):
            up_to = membership.cumsum(axis=1)
            copula.move((up_to[:, :-1] < rng.random((len(up_to), 1)) * up_to[:, -1:]).sum(axis=1))
            for _ in range(n_sweeps * (1 if number else _FIRST)):
                if cancelled.is_set():
                    raise SearchCancelled
                copula.round()
            table = _completed(cohort, encoding, copula, rng)
            found.append(_with_observed(table, fit.schema_, rng).iloc[back])
    unfilled = [feature.name for feature in fit.schema_.reported if found and found[0][feature.name].isna().any()]
    if unfilled:
        warnings.warn(
            f"nothing is observed in {listed(unfilled)}, so that nothing is filled in", CohortWarning, stacklevel=8
        )
    return found


def _rows(model: SubtypeModel, fit: Fit, frame: pd.DataFrame) -> Labels:
    """Return the row of each subject of the fit, int64 (N,); raise if the table is not its cohort."""
    rows = None if cohort_problems(model, frame) else rows_of_the_fit(fit, frame)
    if rows is None:
        cohort_of(model, frame)  # says why it is not the cohort
        raise AssertionError("a table without rows of the fit is no cohort")
    return rows


def _membership(fit: Fit, cohort: pd.DataFrame) -> Array:
    """Return the probability of each subtype for each subject, float64 (N, K)."""
    scores = fit.clusters_.scores(model_values(cohort, fit.clusters_.encoding.features), coarsened=True)
    return fit.subtypes_.summed(probabilities(scores[:, :-1]))


def _copula(fit: Fit, cohort: pd.DataFrame, rng: np.random.Generator) -> tuple[Copula, Encoding]:
    """Return the copula of all features with a likelihood, clustered on or described, and their encoding."""
    schema = fit.schema_.with_roles({feature.name: "cluster" for feature in fit.schema_.described})
    problem = pose(cohort, schema, fit.hyperparameters_, fit.concentration_)
    encoding = problem.cohort.encoding
    # A described feature may differ between the clusters as one that was selected does.
    selected = dict(zip((f.name for f in fit.clusters_.encoding.features), fit.clusters_.included, strict=True))
    included = np.array([selected.get(feature.name, True) for feature in encoding.features])
    labels = np.asarray(fit.labels_, dtype=np.int64)
    clusters = clusters_of(problem, problem.partition(labels[problem.cohort.order]), included)
    values = model_values(cohort, encoding.features)
    columns = [
        (values[feature.name] - centre) / scale
        for feature, centre, scale in zip(encoding.features, encoding.centres, encoding.scales, strict=True)
    ]
    is_usual = ~fit.outliers_[:, fit.schema_.places(encoding.features)]
    limits = [
        _limits(feature, column, (centre, scale))
        for feature, column, centre, scale in zip(
            encoding.features, columns, encoding.centres, encoding.scales, strict=True
        )
    ]
    return Copula.of(clusters, columns, limits, is_usual, labels, rng), encoding


def _limits(feature: Feature, column: Array, standard: tuple[float, float]) -> tuple[float, float]:
    """Return between which encoded values a measurement is drawn: at most its range beyond the observed ones.

    Also within the declared range; not below 0 if nothing observed is; and not beyond a limit of detection, of which
    the most extreme measured value is the nearest known.
    """
    least, most = float(np.nanmin(column)), float(np.nanmax(column))
    lowest, highest = 2.0 * least - most, 2.0 * most - least
    low, high = feature.whole.minimum, feature.whole.maximum
    if low is None and feature.transform != "log" and least * standard[1] + standard[0] >= 0.0:
        low = 0.0
    with np.errstate(all="ignore"):
        at = [np.nan if end is None else feature.on_model_scale(np.array([end]))[0][0] for end in (low, high)]
    ends = (np.array(at, dtype=float) - standard[0]) / standard[1]
    lowest = least if "below" in feature.whole.limit else np.nanmax([lowest, min(ends[0], least)])
    highest = most if "above" in feature.whole.limit else np.nanmin([highest, max(ends[1], most)])
    return float(lowest), float(highest)


def _completed(cohort: pd.DataFrame, encoding: Encoding, copula: Copula, rng: np.random.Generator) -> pd.DataFrame:
    """Return the cohort with its missing values as the copula has drawn them."""
    filled = cohort.copy()
    for index, (feature, column) in enumerate(zip(encoding.features, copula.columns, strict=True)):
        rows = np.flatnonzero(column.is_missing & ~np.isnan(column.completed))
        if not rows.size:
            continue
        if feature.is_part and feature.levels:
            cells = _at_point_masses(feature.whole, cohort, column.completed[rows], rng)
        else:
            cells = cells_of(column.completed[rows], encoding, index)
        filled[feature.column] = with_cells(filled[feature.column], rows, cells)
    return filled


def _with_observed(table: pd.DataFrame, schema: FeatureSchema, rng: np.random.Generator) -> pd.DataFrame:
    """Fill columns that say nothing of a subject, such as those with one value: with observed values at random."""
    for feature in schema.reported:
        column = table[feature.name]
        rows, observed = np.flatnonzero(column.isna()), column.dropna()
        if rows.size and len(observed):
            table[feature.name] = with_cells(
                column, rows, observed.iloc[rng.integers(len(observed), size=rows.size)].array
            )
    return table


def _at_point_masses(whole: Feature, cohort: pd.DataFrame, levels: Array, rng: np.random.Generator) -> Any:
    """Return the drawn cells (n,) at point masses; those at none get an observed value until their part is drawn."""
    observed = whole.parts[-1].scores(cohort[whole.name])
    observed = observed[~np.isnan(observed)]
    drawn = rng.choice(observed, levels.size) if observed.size else np.full(levels.size, np.nan)
    cells = np.where(levels == 0.0, drawn, np.array([np.nan, *whole.point_masses])[levels.astype(np.int64)])
    is_whole = whole.traits.is_whole and not whole.limit and np.isfinite(cells).all()
    return cells.astype(np.int64) if is_whole else cells
