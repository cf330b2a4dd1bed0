"""Missing values drawn jointly, given what is observed of a subject: a Gaussian copula inside the clusters.

In cluster k a value of feature j has the distribution F_jk of its likelihood, and a latent normal score

    z_j = Phi^-1(F_jk(x_j)),   z ~ N(0, R_k).

Of a discrete value the score is known to lie in an interval, Phi^-1(F_jk(x_j - 1)) < z_j <= Phi^-1(F_jk(x_j)). A
nominal feature has one score for each level but the last: whether it is the first level; if not, whether it is the
second; and so on. The correlations R_k are those of all clusters, as far as those of one are not reliable.

A round is a step of data augmentation (Tanner and Wong 1987, J Am Stat Assoc 82, 528-540): given the completed values,
the parameters of F are drawn from their posteriors, and R_k by weights of the Bayesian bootstrap (Rubin 1981, Ann Stat
9, 130-134); then each column of scores is drawn given the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import ndtr, ndtri

from clinclust.arrays import Array, Labels, Mask
from clinclust.engine.continuum.normal_scores import nearest_correlation, with_unit_diagonal
from clinclust.engine.problem.posterior import Clusters
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.schema.feature import pairs_of_parts

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
