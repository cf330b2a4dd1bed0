"""Normal scores of the features of given subjects, their correlations, and the subjects' first principal score.

The normal score of a value with mid-rank r among the n observed ones is Phi^-1((r - 1/2) / n), after nominal levels are
ordered by their mean position on the principal axis. The first principal score is that of Hotelling (1933).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from clinclust.arrays import Array
from clinclust.engine.kernels.partition import CohortArrays
from clinclust.engine.problem.encoding import EncodedCohort
from clinclust.engine.problem.numeric_columns import encoded_columns, principal_axis
from clinclust.engine.problem.predictives import patterns_of
from clinclust.graded import mid_ranks
from clinclust.schema.feature import pairs_of_parts

_STEPS = 2.0**20
"""Normal draws are whole multiples of its inverse, so that sums of 16,000 of their products are exact in any order."""
_LEAST_EIGENVALUE = 0.02
_FEWEST_PAIRS = 5.0
"""A correlation of n pairs counts n / (n + this)."""
SCORE_STEPS = 1024.0
"""Normal scores are whole multiples of its inverse, so that sums of their products are exact."""


def normal_scores(column: Array) -> Array:
    """Return the normal score of the mid-rank of each value, in whole steps; NaN = missing."""
    n_seen = max(int((~np.isnan(column)).sum()), 1)
    return in_score_steps(ndtri((mid_ranks(column) - 0.5) / n_seen))


def in_score_steps(scores: Array) -> Array:
    """Return scores counted in whole steps."""
    return np.asarray(np.rint(SCORE_STEPS * scores))


def whole_columns(cohort: EncodedCohort) -> tuple[list[Array], list[tuple[int, ...]]]:
    """Return `ordered_columns` with one column for both parts of a feature, and the encoded features of each.

    A value at a point mass has the place of the point mass among the other values.
    """
    columns = ordered_columns(cohort.arrays)
    pairs = dict(pairs_of_parts(cohort.encoding.features))
    members: list[tuple[int, ...]] = []
    for place in range(len(columns)):
        if place in pairs.values():
            continue
        members.append((place, pairs[place]) if place in pairs else (place,))
        if place in pairs:
            columns[place] = _with_point_masses(cohort, place, pairs[place])
    return [columns[one[0]] for one in members], members


def _with_point_masses(cohort: EncodedCohort, first: int, second: int) -> Array:
    """Return a feature in two parts as one column."""
    arrays, encoding, n_table = cohort.arrays, cohort.encoding, cohort.arrays.codes.shape[1]
    codes = arrays.codes[:, first]
    if second < n_table:
        others = arrays.level_values[arrays.codes[:, second]]
        others = np.where(arrays.codes[:, second] > 0, others, np.nan)
    else:
        others = arrays.values[:, second - n_table]
    with np.errstate(all="ignore"):
        masses, _ = encoding.features[second].on_model_scale(np.array(encoding.features[first].whole.point_masses))
        masses = encoding.likelihoods[second].encoded((masses - encoding.centres[second]) / encoding.scales[second])
    masses = np.where(np.isnan(masses), -np.inf, masses)  # the logarithm of no value at no point mass is below it
    place = arrays.level_values[codes].astype(np.int64)
    found = np.where(place > 0, np.concatenate([[np.nan], masses])[place], others)
    return np.where(codes > 0, found, np.nan)


def ordered_columns(arrays: CohortArrays) -> list[Array]:
    """Return each feature as a column whose order means something, float64 (N,), NaN = missing."""
    columns, along = [], None
    for column, is_nominal in encoded_columns(arrays):
        if is_nominal:
            along = principal_axis(arrays) if along is None else along
            columns.append(_along(column, along))
        else:
            columns.append(column)
    return columns


def _along(column: Array, axis: Array) -> Array:
    """Return the levels of a nominal feature numbered by their mean position on the axis."""
    seen = ~np.isnan(column)
    _, level = np.unique(column[seen], return_inverse=True)
    position = np.bincount(level, axis[seen]) / np.maximum(np.bincount(level), 1)
    ranked = np.full(column.size, np.nan)
    ranked[seen] = np.argsort(np.argsort(position, kind="stable"), kind="stable")[level]
    return ranked


def expected_score(scores: Array, correlation: Array, axis: Array) -> Array:
    """Return the expected score of each subject along an axis (D,), float64 (N,); NaN where nothing is observed.

    With R the correlation matrix of the scores z, (N, D), NaN = missing, it is v' R_.o R_oo^-1 z_o given the observed
    ones o, v the axis.
    """
    observed = ~np.isnan(scores)
    if observed.all():
        return np.asarray(np.einsum("ij,j->i", scores, axis))
    found = np.full(len(scores), np.nan)
    for seen, rows in patterns_of(observed):
        if seen.any():
            weights = np.linalg.solve(correlation[np.ix_(seen, seen)], correlation[seen] @ axis)
            found[rows] = np.einsum("ij,j->i", scores[np.ix_(rows, seen)], weights)
    return found


def conditional_draws(scores: Array, correlation: Array, normals: Array) -> Array:
    """Return scores (N, D) with draws where they are missing (NaN), given the observed ones; by N(0, R).

    A draw y ~ N(0, R), made from independent normals (N, D), becomes y_m + R_mo R_oo^-1 (z_o - y_o) (Journel and
    Huijbregts 1978, *Mining Geostatistics*).
    """
    observed = ~np.isnan(scores)
    if observed.all():
        return scores
    drawn = with_correlation(normals, correlation)
    for seen, rows in patterns_of(observed):
        if seen.any() and not seen.all():
            weights = np.linalg.solve(correlation[np.ix_(seen, seen)], correlation[np.ix_(seen, ~seen)])
            off = scores[np.ix_(rows, seen)] - drawn[np.ix_(rows, seen)]
            drawn[np.ix_(rows, ~seen)] += np.einsum("ij,jk->ik", off, weights)
    return np.where(observed, scores, drawn)


def first_axis(correlation: Array) -> tuple[Array, float]:
    """Return the first eigenvector, with its largest entry positive, and its eigenvalue."""
    values, vectors = np.linalg.eigh(correlation)
    axis = vectors[:, -1]
    return axis * (-1.0 if axis[np.argmax(np.abs(axis))] < 0.0 else 1.0), float(values[-1])


def reliable_correlations(scores: Array) -> Array:
    """Return the correlations of columns in pairs, each drawn towards 0 where few subjects have both; (D, D)."""
    found, n_both = correlations(scores)
    found *= n_both / (n_both + _FEWEST_PAIRS)
    return found


def correlations(scores: Array) -> tuple[Array, Array]:
    """Return the correlations of columns (N, D) in pairs, and in how many rows both are observed, float64 (D, D) each.

    A column that does not vary has correlation 0 with others. Sums of whole numbers are exact.
    """
    missing = np.isnan(scores)
    if missing.any():
        seen, scores = (~missing).astype(np.float64), np.where(missing, 0.0, scores)
        n_both = np.maximum(seen.T @ seen, 1.0)
        mean = scores.T @ seen / n_both  # of the column of the row, where that of the column is observed
        variance = (scores**2).T @ seen / n_both - mean**2
    else:
        n_both = np.full((scores.shape[1], scores.shape[1]), max(float(scores.shape[0]), 1.0))
        mean = scores.sum(axis=0)[:, None] / n_both
        variance = (scores**2).sum(axis=0)[:, None] / n_both - mean**2
    covariance = scores.T @ scores / n_both - mean * mean.T
    product = variance * variance.T
    varying = np.minimum(variance, variance.T) > 1e-9
    found = np.where(varying, covariance / np.sqrt(np.where(varying, product, 1.0)), 0.0)
    np.fill_diagonal(found, 1.0)
    return np.clip(found, -1.0, 1.0), n_both


def nearest_correlation(matrix: Array) -> Array:
    """Return a correlation matrix near a symmetric matrix: eigenvalues raised to at least .02, then the diagonal 1."""
    values, vectors = np.linalg.eigh(matrix)
    raised = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
    scale = 1.0 / np.sqrt(np.diag(raised))
    found = raised * scale * scale[:, None]
    np.fill_diagonal(found, 1.0)
    return np.asarray(0.5 * (found + found.T))


def with_unit_diagonal(matrix: Array) -> Array:
    """Return a copy of a square matrix with ones on the diagonal."""
    matrix = matrix.copy()
    np.fill_diagonal(matrix, 1.0)
    return matrix


def standard_normals(n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
    """Return independent standard normal draws in exact steps, float64 (n_rows, n_columns)."""
    return _in_exact_steps(rng.standard_normal((n_rows, n_columns)))


def _in_exact_steps(values: Array) -> Array:
    return np.asarray(np.rint(values * _STEPS) / _STEPS)


def with_correlation(normals: Array, correlation: Array) -> Array:
    """Return independent normal draws (N, D) transformed to have these correlations, float64 (N, D)."""
    factor = _in_exact_steps(np.asarray(np.linalg.cholesky(correlation), dtype=np.float64))
    return normals @ factor.T
