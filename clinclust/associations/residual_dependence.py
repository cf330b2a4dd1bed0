"""Residual dependence: a test of whether a feature depends on other features given the subtypes.

Let P be the membership probabilities found without the feature. The residual of the feature after regression on P is
tested for correlation with the residuals of the others, with their sizes, and with their main axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.numeric_columns import first_axis
from clinclust.graded import Graded

Array = NDArray[np.float64]

_LEAST_DF = 3
_SEED = 20161011
_LEAST_TOGETHER = 5.0
"""The least expected number of subjects with an unusual value of both features; below it, r is far from normal."""


class Dependence(NamedTuple):
    """The residual dependence between one feature and the others."""

    p: float
    """Four times the smallest p: of all correlations, the strongest, the main axis, and the sizes; NaN = untestable."""
    strongest: int
    """The index of the other feature with the largest correlation; -1 if there is none."""
    correlation: float
    """The correlation with that feature; NaN if there is none."""


def residual_dependence(
    target: Graded, others: Graded, membership: Array, persons: NDArray[np.int64] | None = None
) -> Dependence:
    """Test the correlations of the residuals of the target with those of the others, given the membership, (N, J)."""
    own, own_seen = residuals_in(target.columns, membership)
    rest, rest_seen = residuals_in(others.columns, membership)
    along = first_axis(others.columns, np.random.default_rng(_SEED))
    axis, _ = residuals_in(along[:, None], membership)
    own_size, rest_size = (
        residuals_in(np.where(seen > 0.0, np.abs(residuals), np.nan), membership)[0]
        for residuals, seen in ((own, own_seen), (rest, rest_seen))
    )
    if persons is not None:
        own, own_seen, rest, rest_seen, axis, own_size, rest_size = (
            _of_persons(table, persons) for table in (own, own_seen, rest, rest_seen, axis, own_size, rest_size)
        )
        own_seen, rest_seen = (np.minimum(seen, 1.0) for seen in (own_seen, rest_seen))
    n = own_seen.T @ rest_seen
    own_squares, rest_squares = (own**2).T @ rest_seen, own_seen.T @ rest**2
    df = n - np.linalg.matrix_rank(membership) - 1.0
    together = np.outer(_unusual(target.columns), _unusual(others.columns)) / own.shape[0]
    usable = (np.minimum(own_squares, rest_squares) > 0.0) & (df >= _LEAST_DF) & (together >= _LEAST_TOGETHER)
    if not usable.any():
        return Dependence(np.nan, -1, np.nan)
    r = _correlations(own, own_seen, rest, rest_seen, usable)
    curved = _correlations(own, own_seen, rest_size, rest_seen, usable)
    other_way = _correlations(own_size, own_seen, rest, rest_seen, usable)
    curved = np.where(np.abs(other_way) > np.abs(curved), other_way, curved)
    testable = usable.any(axis=1)
    p_along = _p_along(own[:, testable], own_seen[:, testable], axis, df[testable].max(axis=1))
    at = np.unravel_index(np.abs(r).argmax(), r.shape)
    p_strongest = min(1.0, _two_sided(r[at], df[at]) * int(usable.sum()))
    bend = np.unravel_index(np.abs(curved).argmax(), r.shape)
    p_curved = min(1.0, _two_sided(curved[bend], df[bend]) * 2 * int(usable.sum()))
    each = np.where(usable, df * r**2, 0.0) * target.weights[:, None] * others.weights
    p_together = _p_of_sum(
        float(each.sum()), _squares(own, target.weights), _squares(rest, others.weights * usable.any(axis=0))
    )
    p = min(1.0, 4.0 * min(p_strongest, p_together, p_along, p_curved))
    return Dependence(p, int(others.owners[at[1]]), float(r[at]))


def residuals_in(columns: Array, membership: Array) -> tuple[Array, Array]:
    """Return the residuals of each column after regression on the membership, 0 where missing, and 1 where observed."""
    seen = (~np.isnan(columns)).astype(np.float64)
    centre = np.nansum(columns, axis=0) / np.maximum(seen.sum(axis=0), 1.0)
    values = np.where(seen > 0.0, columns - centre, 0.0)
    n_subtypes = membership.shape[1]
    products = (membership[:, :, None] * membership[:, None, :]).reshape(-1, n_subtypes**2)
    squares = (seen.T @ products).reshape(-1, n_subtypes, n_subtypes)
    slopes = np.linalg.pinv(squares, hermitian=True) @ (membership.T @ values).T[:, :, None]
    left = seen * (values - membership @ slopes[:, :, 0].T)
    # Residuals that are only rounding errors are set to 0.
    left[:, (left**2).sum(axis=0) <= 1e-18 * (values**2).sum(axis=0)] = 0.0
    return left, seen


def _correlations(own: Array, own_seen: Array, rest: Array, rest_seen: Array, usable: NDArray[np.bool_]) -> Array:
    squares = ((own**2).T @ rest_seen) * (own_seen.T @ rest**2)
    with np.errstate(all="ignore"):
        r = np.where(usable & (squares > 0.0), own.T @ rest / np.sqrt(squares), 0.0)
    return np.clip(r, -1.0, 1.0)


def _p_along(own: Array, own_seen: Array, axis: Array, df: Array) -> float:
    """Return p of the strongest correlation with the main axis times the number of columns of the feature."""
    squares = (own**2).sum(axis=0) * (own_seen.T @ axis[:, 0] ** 2)
    with np.errstate(all="ignore"):
        r = np.where(squares > 0.0, own.T @ axis[:, 0] / np.sqrt(squares), 0.0)
    p = [_two_sided(float(each), float(left)) for each, left in zip(np.clip(r, -1.0, 1.0), df, strict=True)]
    return min(1.0, len(p) * min(p))


def _of_persons(table: Array, persons: NDArray[np.int64]) -> Array:
    _, places = np.unique(persons, return_inverse=True)
    sums = np.zeros((int(places.max()) + 1, table.shape[1]))
    np.add.at(sums, places, table)
    return sums


def _two_sided(r: float, df: float) -> float:
    from scipy.special import stdtr

    with np.errstate(divide="ignore"):
        return float(2.0 * stdtr(df, -abs(r) * np.sqrt(df / (1.0 - r * r))))


def _unusual(columns: Array) -> Array:
    """Return the number of subjects who do not have the most frequent value of each column, (C,)."""
    counts = []
    for column in columns.T:
        _, ties = np.unique(column[~np.isnan(column)], return_counts=True)
        counts.append(float(ties.sum() - ties.max()) if ties.size else 0.0)
    return np.array(counts)


def _squares(residuals: Array, weights: Array) -> tuple[float, float]:
    """Return the mean and half the variance of a weighted sum of squared normals with the columns' correlations."""
    lengths = np.sqrt((residuals**2).sum(axis=0))
    correlations = residuals.T @ residuals / np.maximum(np.outer(lengths, lengths), 1e-300)
    return float(weights.sum()), float(weights @ correlations**2 @ weights)


def _p_of_sum(total: float, own: tuple[float, float], others: tuple[float, float]) -> float:
    """Return p of the weighted sum of df r^2 by a scaled chi-squared with its mean and variance (Satterthwaite)."""
    from scipy.special import chdtrc

    mean, half_variance = own[0] * others[0], own[1] * others[1]
    if half_variance == 0.0:
        return 1.0
    return float(chdtrc(mean**2 / half_variance, total * mean / half_variance))
