"""Draws of missing values: the parts of each feature, and their dependence as a Gaussian copula."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from clinclust.arrays import Array, Labels, Mask
from clinclust.engine.continuum.null_cohorts import nearest_correlation, with_unit_diagonal
from clinclust.engine.problem.problem import Clusters
from clinclust.estimators.mixture import mixture_cumulative, mixture_quantiles, mixture_values, shortest_intervals
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.schema.feature import pairs_of_parts
from clinclust.schema.reading import largest, limits, transform_limit

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.encoding import Encoding
    from clinclust.schema import Feature


# Cells of imputed values, and missing values of features with point masses.
#
# With w_k the probability of cluster k for a subject, and pi_kj that of point mass j in it, the value is at s_j with
# probability sum_k w_k pi_kj; otherwise it has the mixture of the second parts with weights w_k (1 - sum_j pi_kj).


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
    # A draw from a heavy tail may be beyond the range.
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


# Missing values drawn jointly, given what is observed of a subject: a Gaussian copula inside the clusters.
#
# In cluster k a value of feature j has the distribution F_jk of its likelihood, and a latent normal score
#
#     z_j = Phi^-1(F_jk(x_j)),   z ~ N(0, R_k).
#
# Of a discrete value the score is known to lie in an interval, Phi^-1(F_jk(x_j - 1)) < z_j <= Phi^-1(F_jk(x_j)). A
# nominal feature has one score for each level but the last: whether it is the first level; if not, whether it is the
# second; and so on. The correlations R_k are those of all clusters, as far as those of one are not reliable.
#
# A round is a step of data augmentation (Tanner and Wong 1987, J Am Stat Assoc 82, 528-540): given the completed
# values, the parameters of F are drawn from their posteriors, and R_k by weights of the Bayesian bootstrap (Rubin 1981,
# Ann Stat 9, 130-134); then each column of scores is drawn given the others.

_FARTHEST = 6.0
"""Largest score."""
_FEWEST = 5
"""Observed values in a cluster below which its margin is that of all subjects."""


@dataclass
class Column:
    """An encoded feature: its completed values, and what its scores are known to be."""

    likelihood: Likelihood
    theta: Array
    """(H,) hyperparameters."""
    completed: Array
    """(N,) completed encoded values; NaN: not a value of this part of the feature."""
    is_missing: Mask
    """(N,) where they are drawn."""
    is_usual: Mask
    """(N,) where a value is not outlying; an outlying one says nothing of the margin, nor of other features."""
    n_clusters: int
    """K, or 1 if the feature is the same in all clusters."""
    limits: tuple[float, float] = (-np.inf, np.inf)
    """Between which values are drawn."""

    @cached_property
    def levels(self) -> Array:
        """The observed levels of a nominal feature, the most frequent first; none of others."""
        if not self.likelihood.is_nominal:
            return np.empty(0)
        seen, counts = np.unique(self.completed[~self.is_missing & ~np.isnan(self.completed)], return_counts=True)
        return seen[np.argsort(-counts, kind="stable")]

    @property
    def n_scores(self) -> int:
        """Number of latent scores."""
        return max(self.levels.size - 1, 1)

    @cached_property
    def is_known(self) -> Mask:
        """What of the scores is known, bool (N, n_scores)."""
        return self._tells() & ~self.is_missing[:, None]

    def _tells(self) -> Mask:
        """Return of which scores the completed values tell something, bool (N, n_scores)."""
        has_value = (self.is_usual & ~np.isnan(self.completed))[:, None]
        return has_value if self.n_scores == 1 else has_value & (self._places()[:, None] >= np.arange(self.n_scores))

    def _places(self) -> Labels:
        """Return the place of each completed value among the levels, int64 (N,)."""
        order = np.argsort(self.levels, kind="stable")
        values = np.where(np.isnan(self.completed), self.levels[0], self.completed)
        return order[np.searchsorted(self.levels[order], values)]

    def move(self, labels: Labels) -> None:
        """Set the cluster of each subject, int64 (N,); a cluster with few observed values has the margin K of all."""
        labels = np.minimum(labels, self.n_clusters - 1)
        seen = np.bincount(labels[~self.is_missing & ~np.isnan(self.completed)], minlength=self.n_clusters)
        self.margin = np.where(seen[labels] >= _FEWEST, labels, self.n_clusters)

    def draw_margins(self, rng: np.random.Generator) -> None:
        """Draw the parameters of each margin given the completed values."""
        statistics = self.likelihood.statistics(self.completed) * self.is_usual[:, None]
        sums = np.array([np.bincount(self.margin, column, self.n_clusters + 1) for column in statistics.T]).T
        sums[-1] = statistics.sum(axis=0)
        prior = np.broadcast_to(self.theta, (len(sums), self.theta.size))
        self.parameters = self.likelihood.draw_parameters(self.likelihood.prior.posterior(prior, sums), rng)

    def bounds(self) -> tuple[Array, Array]:
        """Return the bounds of the scores of the completed values, (N, n_scores) each; equal of a continuous value."""
        tells = self._tells()
        low = np.full(tells.shape, -np.inf)
        high = -low
        if self.levels.size > 1:
            is_later, cuts = self._places()[:, None] > np.arange(self.n_scores), self._cuts()[self.margin]
            return np.where(tells & is_later, cuts, low), np.where(tells & ~is_later, cuts, high)
        if self.likelihood.is_nominal:
            return low, high
        rows = tells[:, 0]
        margins = self.likelihood.given(self.parameters[self.margin[rows]])
        high[rows, 0] = _score(margins.cdf(self.completed[rows]))
        low[rows, 0] = high[rows, 0]
        if not self.likelihood.is_continuous:
            low[rows, 0] = _score(margins.cdf(self.completed[rows] - 1.0))
            high[rows, 0] = np.maximum(high[rows, 0], low[rows, 0] + 1e-9)
        return low, high

    def limits_of_scores(self) -> tuple[Array, Array]:
        """Return the scores of the limits for each subject, (N, n_scores) each."""
        low = np.full((self.completed.size, self.n_scores), -np.inf)
        high = -low
        if self.likelihood.is_continuous:
            margins = self.likelihood.given(self.parameters[self.margin])
            low[:, 0], high[:, 0] = (_score(margins.cdf(np.full(len(low), limit))) for limit in self.limits)
        return np.minimum(low, high - 1e-9), high

    def _cuts(self) -> Array:
        """Return the scores between a nominal level and those after it, (K + 1, L - 1)."""
        shares = self.parameters[:, self.levels.astype(np.int64)]
        left = shares[:, ::-1].cumsum(axis=1)[:, ::-1]
        return np.asarray(ndtri(np.clip(shares / np.maximum(left, 1e-300), 0.0, 1.0))[:, :-1])

    def place_values(self, scores: Array, rows: Mask) -> None:
        """Set the missing values of these rows, bool (N,), from the scores (N, n_scores); others have no value."""
        self.completed[self.is_missing] = np.nan
        if self.likelihood.is_nominal:
            is_level = np.ones((int(rows.sum()), self.levels.size), dtype=bool)
            if self.levels.size > 1:
                is_level[:, :-1] = scores[rows] <= self._cuts()[self.margin[rows]]
            self.completed[rows] = self.levels[is_level.argmax(axis=1)]
            return
        margins = self.likelihood.given(self.parameters[self.margin[rows]])
        self.completed[rows] = np.clip(margins.ppf(ndtr(scores[rows, 0])), *self.limits)


class Copula:
    """A cohort whose missing values are drawn anew in each round."""

    def __init__(
        self, columns: list[Column], first_of: dict[int, int], labels: Labels, rng: np.random.Generator
    ) -> None:
        """Take the columns, by the second part of a feature its first, and the cluster of each subject, int64 (N,)."""
        self.columns, self._first_of, self._rng = columns, first_of, rng
        self._starts = np.concatenate([[0], np.cumsum([column.n_scores for column in columns])])
        self._known = np.column_stack([column.is_known for column in columns])
        self._scores = rng.standard_normal(self._known.shape)
        self._labels = labels
        for column in columns:
            column.move(labels)
            column.draw_margins(rng)
        self._place_values()

    @classmethod
    def of(
        cls,
        clusters: Clusters,
        values: list[Array],
        limits: list[tuple[float, float]],
        is_usual: Mask,
        labels: Labels,
        rng: np.random.Generator,
    ) -> Self:
        """Take encoded values (N,) of each feature, NaN = missing, their limits, and which are not outlying, (N, D)."""
        encoding, prior = clusters.encoding, clusters.model.prior
        first_of = {second: first for first, second in pairs_of_parts(encoding.features)}
        columns = []
        for index, (likelihood, column) in enumerate(zip(encoding.likelihoods, values, strict=True)):
            theta = likelihood.marginal_prior(prior[encoding.prior_start[index] : encoding.prior_start[index + 1]])
            # The second part of a feature has no value where the first is at a point mass.
            missing = np.isnan(values[first_of.get(index, index)])
            n_clusters = clusters.sizes.size if clusters.included[index] else 1
            about = missing, is_usual[:, index], n_clusters, limits[index]
            columns.append(Column(likelihood.alone, theta, column.copy(), *about))
        return cls(columns, first_of, labels, rng)

    def move(self, labels: Labels) -> None:
        """Set the cluster of each subject, int64 (N,), where its scores have other values."""
        self._labels = labels
        for column in self.columns:
            column.move(labels)
        self._place_values()

    def round(self) -> None:
        """Draw the margins and the correlations given the completed values, then all scores and missing values."""
        for column in self.columns:
            column.draw_margins(self._rng)
        low, high = (
            np.concatenate(ends, axis=1) for ends in zip(*(column.bounds() for column in self.columns), strict=True)
        )
        self._scores = np.clip(self._scores, low, high)
        limits = zip(*(column.limits_of_scores() for column in self.columns), strict=True)
        lowest, highest = (np.concatenate(ends, axis=1) for ends in limits)
        low, high = np.where(self._known, low, lowest), np.where(self._known, high, highest)
        for rows, precision in self._precisions():
            own = np.diag(precision)
            slopes = precision / own
            scores, least, most = self._scores[rows], low[rows], high[rows]
            for place in range(own.size):
                free = np.flatnonzero(least[:, place] < most[:, place])
                mean = scores[free, place] - scores[free] @ slopes[:, place]
                drawn = between(mean, 1.0 / np.sqrt(own[place]), least[free, place], most[free, place], self._rng)
                scores[free, place] = np.clip(drawn, -_FARTHEST, _FARTHEST)
            self._scores[rows] = scores
        self._place_values()

    def _precisions(self) -> list[tuple[Labels, Array]]:
        """Return the subjects of each cluster, and the inverse of its correlations drawn given the scores."""
        weights = self._rng.exponential(size=self._labels.size)
        everybody = np.arange(self._labels.size)
        pooled = self._correlation(everybody, weights, np.eye(self._scores.shape[1]))
        found: list[tuple[Labels, Array]] = []
        for cluster in np.unique(self._labels):
            rows = np.flatnonzero(self._labels == cluster)
            own = pooled if rows.size == everybody.size else self._correlation(rows, weights[rows], pooled)
            precision = np.linalg.inv(nearest_correlation(own))
            found.append((rows.astype(np.int64), np.asarray(precision, dtype=np.float64)))
        return found

    def _correlation(self, rows: Labels, weights: Array, target: Array) -> Array:
        known = self._known[rows].astype(np.float64)
        n_both = known.T @ known
        return shrunk_correlation(self._scores[rows], weights, n_both, target)

    def _place_values(self) -> None:
        for index, column in enumerate(self.columns):
            has_value = column.is_missing
            if index in self._first_of:
                has_value = has_value & (self.columns[self._first_of[index]].completed == 0.0)
            column.place_values(self._scores[:, self._starts[index] : self._starts[index + 1]], has_value)


def _score(shares: Array) -> Array:
    return np.asarray(np.clip(ndtri(np.clip(shares, 0.0, 1.0)), -_FARTHEST, _FARTHEST))


def shrunk_correlation(scores: Array, weights: Array, n_both: Array, target: Array) -> Array:
    """Return the weighted correlations of scores (N, D), drawn towards a target where they are not reliable.

    With n both of which are known, `n_both` (D, D), a difference from the target shall count s = (1 - lambda) n / (n +
    1), where lambda is the sum of the variances of the correlations over the sum of the squares of the differences
    (Schäfer and Strimmer 2005, Stat Appl Genet Mol Biol 4, 32). The scores that are not known follow the correlations
    of the last round, and shrink with them; so that it comes to s in the end, it is multiplied by s / (s + (1 - s) n /
    N) in each round.
    """
    share = weights / weights.sum()
    apart = scores - share @ scores
    covariance = apart.T @ (apart * share[:, None])
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    found = with_unit_diagonal(covariance / np.outer(spread, spread))
    away = np.where(n_both > 0.0, found - target, 0.0)
    squares = float((away**2).sum())
    variance = float(((1.0 - found**2) ** 2 * (n_both > 0.0) / np.maximum(n_both, 1.0)).sum())
    shrinkage = min(1.0, variance / squares) if squares > 0.0 else 1.0
    counts = (1.0 - shrinkage) * n_both / (n_both + 1.0)
    in_a_round = counts / np.maximum(counts + (1.0 - counts) * n_both / len(scores), 1e-300)
    return with_unit_diagonal(target + in_a_round * away)


def between(mean: Array, deviation: float, low: Array, high: Array, rng: np.random.Generator) -> Array:
    """Return normal draws (n,) between bounds, of the upper tail as those of the lower one, which has more digits."""
    a, b = (low - mean) / deviation, (high - mean) / deviation
    is_upper = a > 0.0
    a, b = np.where(is_upper, -b, a), np.where(is_upper, -a, b)
    below, upto = ndtr(a), ndtr(b)
    drawn = np.clip(ndtri(below + rng.random(mean.size) * (upto - below)), a, b)
    return mean + deviation * np.where(is_upper, -drawn, drawn)
