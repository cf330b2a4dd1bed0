"""Multiple imputations: the clusters, their parameters and the missing values of a cohort, drawn anew each time.

Values that are drawn from fixed clusters are too certain, because nobody knows the clusters (Rubin 1987, *Multiple
imputation for nonresponse in surveys*, calls imputations that draw the parameters too proper). A Markov chain draws the
partition given what was observed, with all parameters and missing values integrated out. Given the partition, the
parameters of each cluster and feature are drawn from their posterior, and the missing values given the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.engine.kernels.announcement import announcing_compilation
from clinclust.engine.problem.block_predictives import (
    draw_in_block,
    drawn_moments,
    encoded_block,
)
from clinclust.engine.problem.blocks import members_of_chains
from clinclust.engine.problem.posterior import clusters_of, partition_of
from clinclust.engine.sampling.chain import Chain
from clinclust.engine.search.threads import SearchCancelled
from clinclust.errors import CohortError, InputError
from clinclust.estimators.fitted_cohort import cohort_of, rows_of_the_fit
from clinclust.estimators.fitted_problem import fitted_problem_of_all_features, with_selected
from clinclust.estimators.imputed_values import cells_of, with_cells
from clinclust.estimators.subtype_model import require_search
from clinclust.schema.parts import pairs_of_parts

if TYPE_CHECKING:
    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

__all__ = ["multiple_imputations"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_FIRST = 5
"""Rounds of sweeps before the first draw: the chain begins at the best partition, which is no typical one."""


def multiple_imputations(
    model: SubtypeModel, frame: pd.DataFrame, m: int, n_sweeps: int, rng: np.random.Generator, cancelled: Event
) -> list[pd.DataFrame]:
    """Return m completed tables; see `Prediction.multiple_imputations`.

    Raises
    ------
    SearchCancelled
        If `cancelled` is set before all are drawn.
    """
    fit = require_search(model, "multiple_imputations")
    rows = _rows(model, fit, frame)
    seen = fit.schema_.validate(frame, warn=False)
    with announcing_compilation():
        draws = _draws(fit, seen.iloc[rows], m, n_sweeps, rng, cancelled)
        return [_completed(seen, clusters, _in_rows(labels, rows), rng) for clusters, labels in draws]


def _rows(model: SubtypeModel, fit: Fit, frame: pd.DataFrame) -> Labels:
    """Return the row of each subject of the fit, int64 (N,).

    Raises
    ------
    CohortError
        If the table does not fit the schema.
    ValueError
        If it is not the cohort of the fit.
    """
    rows = rows_of_the_fit(fit, frame)
    if rows is None:
        try:
            cohort_of(model, frame)  # says why it is not the cohort
        except CohortError:
            raise
        except InputError as error:
            raise InputError(f"frame must be the cohort of the fit: {error}") from error
        raise AssertionError("a table without rows of the fit is no cohort")
    return rows


def _draws(
    fit: Fit, cohort: pd.DataFrame, m: int, n_sweeps: int, rng: np.random.Generator, cancelled: Event
) -> Iterator[tuple[Clusters, Labels]]:
    """Yield m partitions of the cohort: their clusters, and the cluster of each subject, int64 (N,)."""
    whole, included = fitted_problem_of_all_features(fit, cohort, fit.coarsening_)
    problem = with_selected(whole, included)
    order = whole.cohort.order
    chain = Chain(problem, fit.cluster_labels_[order], rng)
    for number in range(m):
        for _ in range(n_sweeps * (1 if number else _FIRST)):
            if cancelled.is_set():
                raise SearchCancelled
            labels = chain.step().labels
        clusters = clusters_of(whole, partition_of(whole, labels), included)
        yield clusters, whole.cohort.in_table_order(labels)


def _in_rows(labels: Labels, rows: Labels) -> Labels:
    """Return the labels, one for each subject of the fit, in the order of the rows of the table, int64 (N,)."""
    placed = np.empty_like(labels)
    placed[rows] = labels
    return placed


def _completed(seen: pd.DataFrame, clusters: Clusters, labels: Labels, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table with each missing value drawn, given the cluster of each row, int64 (N,)."""
    filled = seen.copy()
    encoding = clusters.encoding
    chains = members_of_chains(encoding.features)
    for members in chains:
        _complete_block(filled, clusters, members, labels, rng)
    in_chains = {index for members in chains for index in members}
    pairs = dict(pairs_of_parts(encoding.features))
    others: dict[int, NDArray[np.bool_]] = {}
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.alone, strict=True)):
        if index in in_chains:
            continue
        is_missing = seen[feature.column].isna().to_numpy()
        # The second part of a feature has a value only where the first says so.
        rows = np.flatnonzero(others.get(index, is_missing))
        posteriors = clusters.posteriors(index)
        # A feature that does not differ between the clusters has one distribution, whose parameters are drawn once.
        of_rows = labels[rows] if clusters.included[index] else np.zeros(rows.size, dtype=np.int64)
        values = np.empty(rows.size)
        for cluster in np.unique(of_rows):
            here = of_rows == cluster
            values[here] = likelihood.draw_jointly(posteriors[cluster], int(here.sum()), rng)
        if not rows.size:
            continue
        if feature.is_part and feature.levels:
            cells, is_other = _at_point_masses(feature.whole, seen, values, rng)
            others[pairs.get(index, -1)] = np.isin(np.arange(len(seen)), rows[is_other])
        else:
            cells = cells_of(values, encoding, index)
        filled[feature.column] = with_cells(filled[feature.column], rows, cells)
    return filled


def _at_point_masses(
    whole: Feature, seen: pd.DataFrame, levels: Array, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the cells of the point masses that were drawn, and which levels (n,) are none of them.

    These have an observed value for now: if the amount forms no subtypes, it is the same in all of them.
    """
    observed = whole.parts[-1].scores(seen[whole.name])
    observed = observed[~np.isnan(observed)]
    drawn = rng.choice(observed, levels.size) if observed.size else np.full(levels.size, np.nan)
    cells = np.where(levels == 0.0, drawn, np.array([np.nan, *whole.point_masses])[levels.astype(np.int64)])
    is_whole = whole.traits.is_whole and not whole.limit and np.isfinite(cells).all()
    return (cells.astype(np.int64) if is_whole else cells), levels == 0.0


def _complete_block(
    filled: pd.DataFrame, clusters: Clusters, members: list[int], labels: Labels, rng: np.random.Generator
) -> None:
    """Draw the missing values of a multivariate Gaussian block, those of a subject together and given the others."""
    encoding = clusters.encoding
    values = encoded_block(filled, encoding, members)
    is_missing = np.isnan(values)
    drawn = values.copy()
    for cluster in np.unique(labels[is_missing.any(axis=1)]):
        rows = np.flatnonzero(labels == cluster)
        moments = drawn_moments(clusters, members, int(cluster), rng)
        drawn[rows] = draw_in_block(*moments, values[rows], rng)
    for place, index in enumerate(members):
        rows, name = np.flatnonzero(is_missing[:, place]), encoding.features[index].name
        if rows.size:
            filled[name] = with_cells(filled[name], rows, cells_of(drawn[rows, place], encoding, index))
