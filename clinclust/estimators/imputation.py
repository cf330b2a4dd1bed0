"""Missing values filled in once, with the most probable values or a draw, and the copula that draws them jointly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from clinclust.arrays import Array, Labels, Mask
from clinclust.engine.continuum.null_cohorts import nearest_correlation, with_unit_diagonal
from clinclust.engine.problem.encoding import members_of_chains
from clinclust.engine.problem.problem import Clusters, block_predictive, encoded_block, patterns_of, probabilities
from clinclust.errors import InputError, warn
from clinclust.files.cell_text import listed
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.schema.feature import pairs_of_parts
from clinclust.schema.reading import largest, limits, transform_limit

if TYPE_CHECKING:
    from clinclust.engine.problem.encoding import Encoding
    from clinclust.estimators.fit import Fit
    from clinclust.schema import Feature, FeatureSchema


# Fill in missing values once, from the posterior predictives of the clusters.
#
# The predictive of a missing value of subject i is the mixture sum_k p(k | observed values of i) p(x | cluster k).

Scores: TypeAlias = Callable[[pd.DataFrame], Array]
_WAYS = ("mean", "draw")


def impute(fit: Fit, frame: pd.DataFrame, scores: Scores, how: str, rng: np.random.Generator) -> pd.DataFrame:
    """Implement `Prediction.impute`; `scores` is `Prediction.cluster_scores` of the model."""
    seen = _validate_present(fit.schema_, frame, how)
    weights = _weights(seen, scores, how, rng)
    filled = fit.adjusted(seen).copy()
    # Draws of a subject's missing values in a block are one joint draw: each given those that were drawn before.
    completed = filled if how == "draw" else filled.copy()
    for missing in _missing(fit, completed, weights):
        name = missing.feature.column
        values = missing.draws(rng) if how == "draw" else missing.means()
        filled[name] = with_cells(filled[name], missing.rows, missing.cells(values))
    table = fit.restored(filled, seen)
    numbers = table[[x.name for x in fit.schema_ if x.name in table and not (x.is_id or x.is_ignored)]].isna().sum()
    unfilled = [f"{name} ({number:,})" for name, number in numbers[numbers > 0].items()]
    if unfilled:
        warn(
            f"impute fills the columns that form subtypes; values stay missing in {listed(unfilled)}. "
            "`multiple_imputations` fills described columns too"
        )
    return table


def _validate_present(schema: FeatureSchema, frame: pd.DataFrame, how: str) -> pd.DataFrame:
    """Return the validated columns that the schema names and the table has; refuse an unknown way."""
    if how not in _WAYS:
        raise InputError(f"how must be one of {', '.join(_WAYS)}, not {how!r}")
    present = (feature.name for feature in schema if not feature.is_ignored and feature.name in frame)
    return schema.restricted_to(present).validate(frame, warn=False)


def _weights(frame: pd.DataFrame, scores: Scores, how: str, rng: np.random.Generator) -> Array:
    """Return p(cluster | observed values), a new cluster last, float64 (n, J + 1); 0 or 1 for draws."""
    weights = probabilities(scores(frame))
    if how == "mean":
        return weights
    cumulative = weights.cumsum(axis=1)
    drawn = (cumulative[:, :-1] < rng.random((len(frame), 1)) * cumulative[:, -1:]).sum(axis=1)
    return np.asarray(np.eye(weights.shape[1])[drawn], dtype=np.float64)


def _missing(fit: Fit, frame: pd.DataFrame, weights: Array) -> Iterator[Missing | MissingInParts]:
    """Yield the missing values of each feature of a validated table, in the order of the encoding."""
    clusters, encoding = fit.clusters_, fit.clusters_.encoding
    in_block = {index: chain for chain in members_of_chains(encoding.features) for index in chain}
    pairs = dict(pairs_of_parts(encoding.features))
    for index, feature in enumerate(encoding.features):
        rows = np.flatnonzero(frame[feature.column].isna())
        if index in pairs.values() or not rows.size:
            continue  # a second part comes with the first
        if feature.is_part and feature.levels:
            yield _missing_in_parts(clusters, frame, index, pairs.get(index), rows, weights[rows])
        elif index in in_block:
            yield _missing_in_block(clusters, frame, in_block[index], index, rows, weights[rows])
        else:
            yield Missing(encoding, index, rows, [(clusters.posteriors(index), weights[rows])])


def _missing_in_parts(
    clusters: Clusters, frame: pd.DataFrame, first: int, second: int | None, rows: NDArray[np.int64], weights: Array
) -> MissingInParts:
    """Return the missing values of a feature with point masses, with the encoded parts `first` and `second`."""
    encoding = clusters.encoding
    whole = encoding.features[first].whole
    levels = np.arange(len(whole.point_masses) + 1.0)  # no point mass, and each
    at = np.array([encoding.alone[first].predictive(each).pmf(levels) for each in clusters.posteriors(first)])
    rest = None
    if second is not None:
        others = weights * at[:, 0]
        others /= np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
        rest = Missing(encoding, second, rows, [(clusters.posteriors(second), others)])
    return MissingInParts(whole, rows, weights @ at, rest, _observed_at_none(whole, frame))


def _missing_in_block(
    clusters: Clusters, frame: pd.DataFrame, members: list[int], index: int, rows: NDArray[np.int64], weights: Array
) -> Missing:
    """Return the missing values of a feature, given the observed ones of its block of encoded features `members`."""
    encoding = clusters.encoding
    of_block, predictive = encoded_block(frame.iloc[rows], encoding, members), block_predictive(clusters, members)
    posteriors = np.empty((rows.size, weights.shape[1], len(encoding.alone[index].prior.NAMES)))
    for is_observed, here in patterns_of(~np.isnan(of_block)):
        posteriors[here] = predictive.given(members.index(index), is_observed, of_block[here])
    return Missing(encoding, index, rows, [(own, weights[[at]]) for at, own in enumerate(posteriors)])


def _observed_at_none(whole: Feature, frame: pd.DataFrame) -> Array:
    """Return the observed values of a feature that are at none of its point masses, float64 (o,)."""
    values = whole.parts[-1].scores(frame[whole.name])
    return values[~np.isnan(values)]


# Missing values of a feature, and of a feature with point masses.
#
# With w_k the probability of cluster k for a subject, and pi_kj that of point mass j in it, the value is at s_j with
# probability sum_k w_k pi_kj; otherwise it has the mixture of the second parts with weights w_k (1 - sum_j pi_kj).


@dataclass(frozen=True)
class Missing:
    """The missing values of one encoded feature, and the mixtures that they are taken from.

    Attributes
    ----------
    encoding : Encoding
    index : int
        Position of the feature in the encoding.
    rows : int64 (n,)
        Rows of the missing values.
    mixtures : list of (float64 (m, P), float64 (r, m))
        The posteriors of each cluster and, last, of a new one, with the weights of the next r rows, which sum to 1. All
        rows share one mixture; in a block, each row has its own posteriors, given what is observed of the block.
    """

    encoding: Encoding
    index: int
    rows: NDArray[np.int64]
    mixtures: list[tuple[Array, Array]]

    @property
    def feature(self) -> Feature:
        """The encoded feature."""
        return self.encoding.features[self.index]

    @property
    def likelihood(self) -> Likelihood:
        """The likelihood of the feature alone."""
        return self.encoding.alone[self.index]

    def cells(self, values: Array) -> NDArray[Any]:
        """Return the cells of the column for values of the model, (n,)."""
        return cells_of(values, self.encoding, self.index)

    def means(self) -> Array:
        """Return the means, float64 (n,): of whole numbers the nearest one, of levels without order the most probable.

        After few observations a heavy-tailed predictive has no finite mean; that of such a cluster is its median.
        """
        if self.likelihood.is_nominal:
            levels = np.arange(float(self.likelihood.n_statistics))
            masses = [
                weights @ np.array([self.likelihood.predictive(posterior).pmf(levels) for posterior in posteriors])
                for posteriors, weights in self.mixtures
            ]
            return np.asarray(np.concatenate(masses).argmax(axis=1), dtype=np.float64)
        means = np.concatenate([weights @ list(map(self._mean, posteriors)) for posteriors, weights in self.mixtures])
        return np.asarray(means if self.likelihood.is_continuous else np.rint(means))

    def _mean(self, posterior: Array) -> float:
        mean = float(self.likelihood.predictive(posterior).mean())
        return mean if np.isfinite(mean) else self.likelihood.median(posterior)

    def draws(self, rng: np.random.Generator) -> Array:
        """Return a draw of each value, float64 (n,), from the cluster of weight 1."""
        drawn = []
        for posteriors, weights in self.mixtures:
            values = np.empty(len(weights))
            for cluster, posterior in enumerate(posteriors):
                if (here := weights[:, cluster] == 1.0).any():
                    values[here] = self.likelihood.draw(posterior, int(here.sum()), rng)
            drawn.append(values)
        return np.concatenate(drawn)


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
    """

    feature: Feature
    rows: NDArray[np.int64]
    masses: Array
    rest: Missing | None
    others: Array

    def means(self) -> Array:
        """Return a value for each row, float64 (n,): that of the most probable part."""
        if self.rest is not None:
            rest = self.rest.cells(self.rest.means())
        else:
            rest = np.sort(self.others)[[self.others.size // 2]] if self.others.size else np.array([np.nan])
        return self._of_parts(self.masses.argmax(axis=1), rest)

    def draws(self, rng: np.random.Generator) -> Array:
        """Return a draw of each value, float64 (n,)."""
        at = (self.masses.cumsum(axis=1)[:, :-1] < rng.random((self.rows.size, 1))).sum(axis=1)
        if self.rest is not None:
            rest = self.rest.cells(self.rest.draws(rng))
        else:
            rest = rng.choice(self.others, self.rows.size) if self.others.size else np.array([np.nan])
        return self._of_parts(at, rest)

    def _of_parts(self, at: Labels, rest: NDArray[Any]) -> Array:
        """Return values of the parts `at`, (n,); those at no point mass are the `rest`."""
        values = np.array([np.nan, *self.feature.point_masses])[at]
        return np.where(at == 0, np.asarray(rest, dtype=np.float64), values)

    def cells(self, values: Array) -> NDArray[Any]:
        """Return the cells of the column; whole numbers as such."""
        return _as_whole(self.feature, values)


def _as_whole(whole: Feature, values: Array) -> NDArray[Any]:
    """Return the values of a feature with point masses, (n,), as whole numbers if its cells are such."""
    is_whole = whole.traits.is_whole and not whole.limit and np.isfinite(values).all()
    return values.astype(np.int64) if is_whole else values


def cells_at_point_masses(whole: Feature, cohort: pd.DataFrame, levels: Array, rng: np.random.Generator) -> Any:
    """Return the drawn cells (n,) at point masses; those at none get an observed value until their part is drawn."""
    observed = _observed_at_none(whole, cohort)
    drawn = rng.choice(observed, levels.size) if observed.size else np.full(levels.size, np.nan)
    return _as_whole(whole, np.where(levels == 0.0, drawn, np.array([np.nan, *whole.point_masses])[levels.astype(int)]))


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
