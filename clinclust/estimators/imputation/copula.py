"""Missing values drawn jointly, given what is observed of a subject: a Gaussian copula inside the clusters.

In cluster k a value of feature j has the predictive of its likelihood, F_jk, and a latent normal score

    z_j = Phi^-1(F_jk(x_j)),   z ~ N(0, R),

with correlations R that all clusters share. Of a discrete value the score is known to lie in an interval,
Phi^-1(F_jk(x_j - 1)) < z_j <= Phi^-1(F_jk(x_j)). A nominal feature has one score for each level but the last: whether
it is the first level; if not, whether it is the second; and so on.

A round is a step of data augmentation (Tanner and Wong 1987, J Am Stat Assoc 82, 528-540): the margins and R are drawn
given the completed values, by weights of the Bayesian bootstrap (Rubin 1981, Ann Stat 9, 130-134), then each column of
scores given the others.
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
from clinclust.schema.parts import pairs_of_parts

_FARTHEST = 6.0
"""Largest score."""
_NO_BOUND = np.inf


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
    n_margins: int
    """K, or 1 if the feature is the same in all clusters."""

    @cached_property
    def levels(self) -> Array:
        """The levels of a discrete feature, nominal ones the most frequent first; without any, of a continuous one."""
        if self.likelihood.is_continuous:
            return np.empty(0)
        seen, counts = np.unique(self.completed[~self.is_missing & ~np.isnan(self.completed)], return_counts=True)
        return seen[np.argsort(-counts, kind="stable")] if self.likelihood.is_nominal else seen

    @property
    def n_scores(self) -> int:
        """Number of latent scores."""
        return max(self.levels.size - 1, 1) if self.likelihood.is_nominal else 1

    @cached_property
    def is_known(self) -> Mask:
        """What of the scores is known, bool (N, n_scores)."""
        return self._tells() & ~self.is_missing[:, None]

    def _tells(self) -> Mask:
        """Return of which scores the completed values tell something, bool (N, n_scores)."""
        has_value = (self.is_usual & ~np.isnan(self.completed))[:, None]
        if self.n_scores == 1:
            return has_value
        return np.asarray(has_value & (self._places()[:, None] >= np.arange(self.n_scores)))

    def _places(self) -> Labels:
        """Return the place of each completed value among the levels, int64 (N,)."""
        order = np.argsort(self.levels, kind="stable")
        values = np.where(np.isnan(self.completed), self.levels[0], self.completed)
        return order[np.searchsorted(self.levels[order], values)]

    def move(self, labels: Labels) -> None:
        """Set the cluster of each subject, int64 (N,)."""
        self.labels = np.minimum(labels, self.n_margins - 1)

    def fit(self, labels: Labels, weights: Array) -> None:
        """Set the margin of each cluster, given the completed values of subjects with labels and weights (N,)."""
        self.move(labels)
        statistics = self.likelihood.statistics(self.completed) * (weights * self.is_usual)[:, None]
        sums = np.array([np.bincount(self.labels, column, self.n_margins) for column in statistics.T]).T
        prior = np.broadcast_to(self.theta, (len(sums), self.theta.size))
        self._posteriors = self.likelihood.prior.posterior(prior, sums)
        if self.levels.size:
            below = [self.likelihood.cumulative(posterior, np.sort(self.levels)) for posterior in self._posteriors]
            self._thresholds = self._cut(np.array(below))

    def _cut(self, below: Array) -> Array:
        """Return the scores between levels, (K, L - 1), from the probabilities (K, L) of values up to each level."""
        below = below / below[:, -1:]
        if not self.likelihood.is_nominal:
            return np.asarray(ndtri(below[:, :-1]))
        shares = np.diff(below, axis=1, prepend=0.0)[:, np.argsort(np.argsort(self.levels))]
        left = shares[:, ::-1].cumsum(axis=1)[:, ::-1]
        return np.asarray(ndtri(np.clip(shares / np.maximum(left, 1e-300), 0.0, 1.0))[:, :-1])

    def bounds(self) -> tuple[Array, Array]:
        """Return the bounds of the scores of the completed values, (N, n_scores) each; equal of a continuous value."""
        low = np.full((self.completed.size, self.n_scores), -_NO_BOUND)
        high = -low
        tells, labels = self._tells(), self.labels
        if not self.levels.size:
            known = tells[:, 0]
            margins = self._posteriors[labels[known]].T
            low[known] = high[known] = _score(self.likelihood.cumulative(margins, self.completed[known]))[:, None]
        elif self.levels.size > 1 and self.likelihood.is_nominal:
            is_later = self._places()[:, None] > np.arange(self.n_scores)
            cut = self._thresholds[labels]
            low, high = np.where(tells & is_later, cut, low), np.where(tells & ~is_later, cut, high)
        elif self.levels.size > 1:
            edges = np.pad(self._thresholds, ((0, 0), (1, 1)), constant_values=_NO_BOUND)
            edges[:, 0] = -_NO_BOUND
            known, place = tells[:, 0], self._places()
            low[known, 0], high[known, 0] = edges[labels, place][known], edges[labels, place + 1][known]
        return low, high

    def place_values(self, scores: Array, rows: Mask) -> None:
        """Set the missing values of these rows, bool (N,), from the scores (N, n_scores); others have no value."""
        self.completed[self.is_missing] = np.nan
        for cluster in np.unique(self.labels[rows]):
            here = np.flatnonzero(rows & (self.labels == cluster))
            if not self.levels.size:
                self.completed[here] = self.likelihood.predictive(self._posteriors[cluster]).ppf(ndtr(scores[here, 0]))
            elif self.levels.size == 1:
                self.completed[here] = self.levels[0]
            elif self.likelihood.is_nominal:
                is_level = np.column_stack([scores[here] <= self._thresholds[cluster], np.ones(here.size, bool)])
                self.completed[here] = self.levels[is_level.argmax(axis=1)]
            else:
                self.completed[here] = self.levels[np.searchsorted(self._thresholds[cluster], scores[here, 0])]


class Copula:
    """A cohort whose missing values are drawn anew in each round."""

    def __init__(
        self, columns: list[Column], first_of: dict[int, int], labels: Labels, rng: np.random.Generator
    ) -> None:
        """Take the columns, by the second part of a feature its first, and the cluster of each subject, int64 (N,)."""
        self.columns, self._first_of, self._rng = columns, first_of, rng
        self._starts = np.concatenate([[0], np.cumsum([column.n_scores for column in columns])])
        self._known = np.column_stack([column.is_known for column in columns])
        n_both = self._known.T.astype(np.float64) @ self._known
        self._support = n_both / (n_both + 1.0)
        self._scores = rng.standard_normal(self._known.shape)
        for column in columns:
            column.fit(labels, np.ones(labels.size))
        self.move(labels)

    @classmethod
    def of(
        cls, clusters: Clusters, values: list[Array], is_usual: Mask, labels: Labels, rng: np.random.Generator
    ) -> Self:
        """Take encoded values (N,) of each feature, NaN = missing, and which are not outlying, bool (N, D)."""
        encoding, prior = clusters.encoding, clusters.model.prior
        first_of = {second: first for first, second in pairs_of_parts(encoding.features)}
        columns = []
        for index, (likelihood, column) in enumerate(zip(encoding.likelihoods, values, strict=True)):
            theta = likelihood.marginal_prior(prior[encoding.prior_start[index] : encoding.prior_start[index + 1]])
            # The second part of a feature has no value where the first is at a point mass.
            missing = np.isnan(values[first_of.get(index, index)])
            n_margins = clusters.sizes.size if clusters.included[index] else 1
            columns.append(Column(likelihood.alone, theta, column.copy(), missing, is_usual[:, index], n_margins))
        return cls(columns, first_of, labels, rng)

    def move(self, labels: Labels) -> None:
        """Set the cluster of each subject, int64 (N,), where its scores have other values."""
        self._labels = labels
        for column in self.columns:
            column.move(labels)
        self._place_values()

    def round(self) -> None:
        """Draw the margins and the correlations given the completed values, then all scores and missing values."""
        weights = self._rng.exponential(size=len(self._scores))
        for column in self.columns:
            column.fit(self._labels, weights)
        low, high = (
            np.concatenate(ends, axis=1) for ends in zip(*(column.bounds() for column in self.columns), strict=True)
        )
        self._scores = np.clip(self._scores, low, high)
        correlation = shrunk_correlation(self._scores, weights, self._support)
        precision = np.linalg.inv(correlation)
        low, high = np.where(self._known, low, -_NO_BOUND), np.where(self._known, high, _NO_BOUND)
        for place, own in enumerate(np.diag(precision)):
            mean = self._scores[:, place] - self._scores @ precision[:, place] / own
            rows = np.flatnonzero(low[:, place] < high[:, place])
            drawn = between(mean[rows], 1.0 / np.sqrt(own), low[rows, place], high[rows, place], self._rng)
            self._scores[rows, place] = np.clip(drawn, -_FARTHEST, _FARTHEST)
        self._place_values()

    def _place_values(self) -> None:
        for index, column in enumerate(self.columns):
            has_value = column.is_missing
            if index in self._first_of:
                has_value = has_value & (self.columns[self._first_of[index]].completed == 0.0)
            column.place_values(self._scores[:, self._starts[index] : self._starts[index + 1]], has_value)


def _score(shares: Array) -> Array:
    return np.asarray(np.clip(ndtri(shares), -_FARTHEST, _FARTHEST))


def shrunk_correlation(scores: Array, weights: Array, support: Array) -> Array:
    """Return the weighted correlations of scores (N, D), drawn towards 0 where they are not reliable.

    Each is multiplied by its `support`, (D, D), and all by 1 - lambda, with lambda the sum of the variances of the
    correlations over the sum of their squares (Schäfer and Strimmer 2005, Stat Appl Genet Mol Biol 4, 32).
    """
    share = weights / weights.sum()
    apart = scores - share @ scores
    covariance = apart.T @ (apart * share[:, None])
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    found = with_unit_diagonal(covariance / np.outer(spread, spread) * support)
    squares = found**2
    rest = float(squares.sum()) - len(found)
    variance = float(((1.0 - squares) ** 2).sum()) / max(len(scores) - 1, 1)
    shrinkage = min(1.0, variance / rest) if rest > 0.0 else 1.0
    return nearest_correlation(with_unit_diagonal(found * (1.0 - shrinkage)))


def between(mean: Array, deviation: float, low: Array, high: Array, rng: np.random.Generator) -> Array:
    """Return normal draws (n,) between bounds, of the upper tail as those of the lower one, which has more digits."""
    a, b = (low - mean) / deviation, (high - mean) / deviation
    is_upper = a > 0.0
    a, b = np.where(is_upper, -b, a), np.where(is_upper, -a, b)
    below, upto = ndtr(a), ndtr(b)
    drawn = np.clip(ndtri(below + rng.random(mean.size) * (upto - below)), a, b)
    return mean + deviation * np.where(is_upper, -drawn, drawn)
