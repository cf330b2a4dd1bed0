"""Cells of imputed values, and missing values of features with point masses.

With w_k the probability of cluster k for a subject, and pi_kj that of point mass j in it, the value is at s_j with
probability sum_k w_k pi_kj; otherwise it has the mixture of the second parts with weights w_k (1 - sum_j pi_kj).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Array
from clinclust.estimators.mixture import mixture_cumulative, mixture_quantiles, mixture_values, shortest_intervals
from clinclust.schema.expectations import largest, limits, transform_limit

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.encoding import Encoding
    from clinclust.likelihoods import Likelihood
    from clinclust.schema import Feature


@dataclass(frozen=True)
class Missing:
    """The missing values of one feature, and the mixture of each.

    Attributes
    ----------
    index : int
        Position of the feature in the encoding.
    rows : int64 (n,)
        Rows of the missing values.
    posteriors : float64 (m, P)
        Of each cluster and, last, of a new one.
    weights : float64 (n, m)
        Rows sum to 1.
    encoding : Encoding
    """

    feature: Feature
    likelihood: Likelihood
    index: int
    rows: NDArray[np.int64]
    posteriors: Array
    weights: Array
    encoding: Encoding

    def cells(self, values: Array) -> NDArray[Any]:
        """Return the cells of the column for values of the model, (n,)."""
        return cells_of(values, self.encoding, self.index)

    def values(self, how: str, rng: np.random.Generator | None) -> Array:
        """Return the medians, means or modes, or a draw from each, float64 (n,)."""
        values, single = np.empty(self.rows.size), self.weights.max(axis=1) == 1.0
        for cluster, posterior in enumerate(self.posteriors):
            here = single & (self.weights[:, cluster] == 1.0)
            if here.any() and rng is not None and how == "draw":
                values[here] = self.likelihood.draw(posterior, int(here.sum()), rng)
            elif here.any():
                values[here] = _value(self.likelihood, posterior, how)
        if not single.all():
            weights = self.weights[~single]
            found = mixture_values(self.feature, self.likelihood, self.posteriors, weights, how)
            values[~single] = found if self.likelihood.is_continuous else np.rint(found)
        return values

    def intervals(self, level: float) -> tuple[Array, Array]:
        """Return the ends of the intervals, float64 (n,); NaN for levels without order."""
        if self.likelihood.is_nominal:
            return np.full(self.rows.size, np.nan), np.full(self.rows.size, np.nan)
        if not self.likelihood.is_continuous:
            highest = self.feature.n_trials
            parts = self.likelihood, self.posteriors, self.weights
            return shortest_intervals(*parts, level, None if highest is None else float(highest))
        below, above = (
            mixture_quantiles(self.likelihood, self.posteriors, self.weights, share)
            for share in ((1.0 - level) / 2.0, (1.0 + level) / 2.0)
        )
        return below, above

    def probabilities(self, values: Array) -> Array:
        """Return the probability of each value, float64 (n,); NaN for continuous features."""
        if self.likelihood.is_continuous:
            return np.full(values.size, np.nan)
        different, place = np.unique(values, return_inverse=True)
        masses = [self.likelihood.predictive(posterior).pmf(different) for posterior in self.posteriors]
        mixed = (self.weights * np.array(masses)[:, place].T).sum(axis=1)
        return np.asarray(np.minimum(mixed, 1.0), dtype=np.float64)


def _value(likelihood: Likelihood, posterior: Array, how: str) -> float:
    if how == "mode" or likelihood.is_nominal:
        return likelihood.mode(posterior)
    value = float(likelihood.predictive(posterior).mean()) if how == "mean" else np.inf
    if not np.isfinite(value):  # after few observations a heavy-tailed predictive has no finite mean
        value = likelihood.median(posterior)
    return value if likelihood.is_continuous else float(np.rint(value))


def levels_of_first(likelihood: Likelihood, posteriors: Array, n_masses: int) -> Array:
    """Return the probability of no point mass and of each, in each cluster, float64 (m, 1 + J)."""
    levels = np.arange(n_masses + 1.0)
    return np.array([likelihood.predictive(posterior).pmf(levels) for posterior in posteriors])


@dataclass(frozen=True, eq=False)
class MissingInParts:
    """The missing values of a feature with point masses, as cells of the column.

    Attributes
    ----------
    feature : Feature
    rows : int64 (n,)
    masses : float64 (n, 1 + J)
        Probability of no point mass, and of each.
    rest : Missing or None
        None if the second part informs no clustering: such values are drawn from `others`.
    others : float64 (o,)
        The observed values at no point mass.
    encoding : Encoding
    """

    feature: Feature
    rows: NDArray[np.int64]
    masses: Array
    rest: Missing | None
    others: Array
    encoding: Encoding

    def values(self, how: str, rng: np.random.Generator | None) -> Array:
        """Return a value for each row, float64 (n,): of the most probable part, the median of both parts, or a draw."""
        if how == "median":
            return self._quantiles(0.5)
        if how == "draw" and rng is not None:
            at = (self.masses.cumsum(axis=1)[:, :-1] < rng.random((self.rows.size, 1))).sum(axis=1)
            others = self._others(how, rng)
        else:
            at, others = self.masses.argmax(axis=1), self._others(how, rng)
        return np.where(at == 0, others, np.array([np.nan, *self.feature.point_masses])[at])

    def intervals(self, level: float) -> tuple[Array, Array]:
        """Return the ends of the intervals between equal tails, float64 (n,)."""
        return self._quantiles((1.0 - level) / 2.0), self._quantiles((1.0 + level) / 2.0)

    def probabilities(self, values: Array) -> Array:
        """Return the probability of each value that is a point mass, float64 (n,); NaN for others."""
        found = np.full(values.size, np.nan)
        for place, mass in enumerate(self.feature.point_masses, start=1):
            found[values == mass] = self.masses[values == mass, place]
        return found

    def cells(self, values: Array) -> NDArray[Any]:
        """Return the cells of the column; whole numbers as such."""
        is_whole = self.feature.traits.is_whole and not self.feature.limit
        return values.astype(np.int64) if is_whole and np.isfinite(values).all() else values

    def _others(self, how: str, rng: np.random.Generator | None) -> Array:
        if self.rest is not None:
            return np.asarray(self.rest.cells(self.rest.values(how, rng)), dtype=np.float64)
        if not self.others.size:
            return np.full(self.rows.size, np.nan)
        if how == "draw" and rng is not None:
            return rng.choice(self.others, self.rows.size)
        middle = np.sort(self.others)[self.others.size // 2]
        return np.full(self.rows.size, middle)

    def _quantiles(self, share: float) -> Array:
        """Return the quantile at this probability, float64 (n,)."""
        before = np.zeros(self.rows.size)  # probability of the point masses below
        found = np.full(self.rows.size, np.nan)
        for place, mass in enumerate(self.feature.point_masses, start=1):
            below = before + self.masses[:, 0] * self._others_below(mass)
            here = np.isnan(found) & (below < share) & (share <= below + self.masses[:, place])
            found[here] = mass
            before = np.where(below < share, before + self.masses[:, place], before)
        rows = np.flatnonzero(np.isnan(found))
        left = (share - before[rows]) / np.maximum(self.masses[rows, 0], 1e-12)
        for row, of_rest in zip(rows.tolist(), np.clip(left, 1e-6, 1.0 - 1e-6).tolist(), strict=True):
            found[row] = self._other_quantile(row, of_rest)
        return found

    def _others_below(self, mass: float) -> Array:
        """Return P(value below a point mass | at no point mass), float64 (n,)."""
        if np.isinf(mass):
            return np.full(self.rows.size, float(mass > 0.0))
        if self.rest is None:
            return np.full(self.rows.size, float((self.others < mass).mean()) if self.others.size else 0.0)
        index, part = self.rest.index, self.encoding.features[self.rest.index]
        with np.errstate(all="ignore"):
            at = part.on_model_scale(np.array([mass]))[0]
            encoded = float((at[0] - self.encoding.centres[index]) / self.encoding.scales[index])
        if not np.isfinite(encoded) or (encoded < 0.0 and not self.rest.likelihood.is_real):
            return np.zeros(self.rows.size)
        values = np.full(self.rows.size, encoded)
        return mixture_cumulative(self.rest.likelihood, self.rest.posteriors, self.rest.weights, values)

    def _other_quantile(self, row: int, share: float) -> float:
        if self.rest is None:
            return float(np.quantile(self.others, share, method="inverted_cdf")) if self.others.size else np.nan
        value = mixture_quantiles(self.rest.likelihood, self.rest.posteriors, self.rest.weights[[row]], share)
        return float(self.rest.cells(value)[0])


def cells_of(values: Array, encoding: Encoding, index: int) -> NDArray[Any]:
    """Return the cells of a validated column for encoded values (n,), clipped to the allowed range.

    Encoded values of levels are their indices; `index` is the position of the feature in the encoding.
    """
    feature = encoding.features[index]
    if feature.levels is not None:
        return np.array(feature.levels, dtype=object)[values.astype(np.int64)]
    values = feature.from_model_scale(values * encoding.scales[index] + encoding.centres[index])
    return _in_range(values, feature)  # a draw from a heavy tail may be beyond it


def _in_range(values: Array, feature: Feature) -> NDArray[Any]:
    most = largest(feature)
    lowest, highest = max(limits(feature)[0], -most), min(limits(feature)[1], most)
    if feature.traits.is_whole:
        return np.clip(values, np.ceil(lowest), np.floor(highest)).astype(np.int64)
    if feature.transform is not None:
        limit, usable = transform_limit(feature)
        lowest = max(lowest, limit if usable else np.nextafter(limit, np.inf))
    return np.clip(values, lowest, highest)


def with_cells(column: pd.Series[Any], rows: NDArray[np.int64], cells: NDArray[Any]) -> pd.Series[Any]:
    """Return a copy of a validated column with these cells (n,) in these rows (n,)."""
    column = column.copy()
    column.iloc[rows] = cells
    return column
