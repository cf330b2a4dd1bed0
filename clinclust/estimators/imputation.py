"""Missing values filled in once, with their means, or several times by a copula; and pooled estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from clinclust.arguments import accepting
from clinclust.arrays import Array, Labels, Mask
from clinclust.engine.continuum.null_cohorts import nearest_correlation, with_unit_diagonal
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import Encoding, members_of_chains, model_values
from clinclust.engine.problem.problem import Clusters, block_predictive, pose, probabilities
from clinclust.engine.search.plan import SearchCancelled
from clinclust.errors import InputError, refuse, warn
from clinclust.estimators.fit import Fit
from clinclust.estimators.subtype_model import SubtypeModel, require_search, validated_cohort
from clinclust.files.cell_text import listed
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.feature import pairs_of_parts
from clinclust.schema.reading import largest, limits, transform_limit

# Fill in missing values once, from the posterior predictives of the clusters.
#
# The predictive of a missing value of subject i is the mixture sum_k p(k | observed values of i) p(x | cluster k).


def impute(fit: Fit, frame: pd.DataFrame, scores: Callable[[pd.DataFrame], Array]) -> pd.DataFrame:
    """Implement `MAPDP.impute`; `scores` is `MAPDP.cluster_scores` of the model.

    With w_k the probability of cluster k and pi_kj that of point mass j in it, a value is at s_j with probability sum_k
    w_k pi_kj; otherwise it has the mixture of the second parts with weights w_k (1 - sum_j pi_kj), or the median.
    """
    schema, clusters, encoding = fit.schema_, fit.clusters_, fit.clusters_.encoding
    present = (feature.name for feature in schema if not feature.is_ignored and feature.name in frame)
    seen = schema.restricted_to(present).validate(frame, warn=False)
    weights, adjusted = probabilities(scores(seen)), fit.adjusted(seen)  # a new cluster last, (n, J + 1)
    block_of = {index: chain for chain in members_of_chains(encoding.features) for index in chain}
    second_of, columns = dict(pairs_of_parts(encoding.features)), list[tuple[Labels, Array]]()
    of_second = dict[int, tuple[Labels, Array]]()
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.alone, strict=True)):
        rows = np.flatnonzero(adjusted[feature.column].isna())
        rows, shares = of_second.get(index, (rows, weights[rows]))
        posteriors = clusters.posteriors(index)
        if feature.is_part and feature.levels:
            masses = _masses(likelihood, posteriors)
            values = (shares @ masses).argmax(axis=1).astype(np.float64)
            is_none, inside = values == 0.0, shares * masses[:, 0]
            inside /= np.maximum(inside.sum(axis=1, keepdims=True), 1e-300)
            of_second[second_of.get(index, -1)] = rows[is_none], inside[is_none]
        elif index in block_of and rows.size:
            of_rows = _posteriors_in_block(clusters, adjusted.iloc[rows], block_of[index], index)
            values = np.concatenate([_means(likelihood, it, shares[[n]]) for n, it in enumerate(of_rows)])
        else:
            values = _means(likelihood, posteriors, shares)
        columns.append((rows, values))
    filled = _with_values(adjusted, encoding, columns, lambda observed, _: np.sort(observed)[observed.size // 2])
    table = fit.restored(filled, seen)
    numbers = table[[x.name for x in schema if x.name in table and not (x.is_id or x.is_ignored)]].isna().sum()
    unfilled = [f"{name} ({number:,})" for name, number in numbers[numbers > 0].items()]
    if unfilled:
        more = "`multiple_imputations` fills described columns too"
        warn(f"impute fills the columns that form subtypes; values stay missing in {listed(unfilled)}. {more}")
    return table


def _masses(likelihood: Likelihood, posteriors: Array) -> Array:
    """Return the probability of each level, float64 (m, L)."""
    levels = np.arange(float(likelihood.n_statistics))
    return np.array([likelihood.predictive(posterior).pmf(levels) for posterior in posteriors])


def _means(likelihood: Likelihood, posteriors: Array, weights: Array) -> Array:
    """Return means of values, float64 (n,): of whole numbers the nearest one, of nominal levels the most probable.

    The posteriors of each cluster and, last, of a new one (m, P) have weights (n, m).
    """
    if likelihood.is_nominal:
        return np.asarray((weights @ _masses(likelihood, posteriors)).argmax(axis=1), dtype=np.float64)
    means = np.array([float(likelihood.predictive(posterior).mean()) for posterior in posteriors])
    for place in np.flatnonzero(~np.isfinite(means)):  # a heavy tail after few observations
        means[place] = likelihood.median(posteriors[place])
    return np.asarray(weights @ means if likelihood.is_continuous else np.rint(weights @ means))


def _posteriors_in_block(clusters: Clusters, frame: pd.DataFrame, members: list[int], index: int) -> Array:
    """Return the posteriors of a feature for each row, (n, m, P), given what is observed of its block `members`."""
    encoding, predictive = clusters.encoding, block_predictive(clusters, members)
    values = model_values(frame, tuple(encoding.features[member] for member in members)).values()
    of_block = (np.column_stack([*values]) - encoding.centres[members]) / encoding.scales[members]
    posteriors = np.empty((len(frame), clusters.sizes.size + 1, len(clusters.encoding.alone[index].prior.NAMES)))
    observed = ~np.isnan(of_block)
    for pattern in np.unique(observed, axis=0):
        here = (observed == pattern).all(axis=1)
        posteriors[here] = predictive.given(members.index(index), pattern, of_block[here])
    return posteriors


def _with_values(
    cohort: pd.DataFrame,
    encoding: Encoding,
    columns: Iterable[tuple[Labels, Array]],
    choose: Callable[[Array, int], Any],
) -> pd.DataFrame:
    """Return a validated table with encoded values (n,) in some rows (n,) of the column of each encoded feature."""
    filled = cohort.copy()
    for index, (feature, (rows, values)) in enumerate(zip(encoding.features, columns, strict=True)):
        if not rows.size:
            continue
        cells: NDArray[Any]
        if feature.is_part and feature.levels:  # where at no point mass, `choose` until the second part has a value
            whole = feature.whole
            observed = whole.parts[-1].scores(cohort[whole.name])
            observed = observed[~np.isnan(observed)]
            others = choose(observed, rows.size) if observed.size else np.nan
            cells = np.where(values == 0.0, others, np.array([np.nan, *whole.point_masses])[values.astype(np.int64)])
            is_whole = whole.traits.is_whole and not whole.limit and np.isfinite(cells).all()
            cells = cells.astype(np.int64) if is_whole else cells
        else:
            cells = cells_of(values, encoding, index)
        filled[feature.column] = with_cells(filled[feature.column], rows, cells)
    return filled


def cells_of(values: Array, encoding: Encoding, index: int) -> NDArray[Any]:
    """Return the cells of a validated column for encoded values (n,), clipped to the allowed range."""
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

    def tells(self) -> Mask:
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
        tells = self.tells()
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
        remaining = shares[:, ::-1].cumsum(axis=1)[:, ::-1]
        return np.asarray(ndtri(np.clip(shares / np.maximum(remaining, 1e-300), 0.0, 1.0))[:, :-1])

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
        self._known = np.column_stack([column.tells() & ~column.is_missing[:, None] for column in columns])
        self._scores = rng.standard_normal(self._known.shape)
        self._labels = labels
        for column in columns:
            column.move(labels)
            column.draw_margins(rng)
        self._place_values()

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
        low, high = map(np.hstack, zip(*(column.bounds() for column in self.columns), strict=True))
        self._scores = np.clip(self._scores, low, high)
        lowest, highest = map(np.hstack, zip(*(column.limits_of_scores() for column in self.columns), strict=True))
        low, high = np.where(self._known, low, lowest), np.where(self._known, high, highest)
        for rows, precision in self._precisions():
            diagonal = np.diag(precision)
            slopes = precision / diagonal
            scores, least, most = self._scores[rows], low[rows], high[rows]
            for place in range(diagonal.size):
                free = np.flatnonzero(least[:, place] < most[:, place])
                mean = scores[free, place] - scores[free] @ slopes[:, place]
                drawn = between(mean, 1.0 / np.sqrt(diagonal[place]), least[free, place], most[free, place], self._rng)
                scores[free, place] = np.clip(drawn, -_FARTHEST, _FARTHEST)
            self._scores[rows] = scores
        self._place_values()

    def draws(self) -> Iterator[tuple[Labels, Array]]:
        """Yield of each column the rows with a missing value, and the encoded values drawn last for these."""
        for column in self.columns:
            rows = np.flatnonzero(column.is_missing & ~np.isnan(column.completed))
            yield rows, column.completed[rows]

    def _precisions(self) -> list[tuple[Labels, Array]]:
        """Return the subjects of each cluster, and the inverse of its correlations drawn given the scores."""
        weights = self._rng.exponential(size=self._labels.size)
        everybody, precisions = np.arange(self._labels.size), list[tuple[Labels, Array]]()

        def correlate(rows: Labels, target: Array) -> Array:
            is_known = self._known[rows].astype(np.float64)
            return shrunk_correlation(self._scores[rows], weights[rows], is_known.T @ is_known, target)

        pooled = correlate(everybody, np.eye(self._scores.shape[1]))
        for cluster in np.unique(self._labels):
            rows = np.flatnonzero(self._labels == cluster)
            correlation = pooled if rows.size == everybody.size else correlate(rows, pooled)
            precisions.append((rows, np.asarray(np.linalg.inv(nearest_correlation(correlation)), dtype=np.float64)))
        return precisions

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
    (Schäfer and Strimmer 2005, Stat Appl Genet Mol Biol 4, 32). Scores that are not known follow the correlations of
    the last round; so that it comes to s in the end, it is multiplied by s / (s + (1 - s) n / N) in each round.
    """
    share = weights / weights.sum()
    apart = scores - share @ scores
    covariance = apart.T @ (apart * share[:, None])
    spread = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    correlation = with_unit_diagonal(covariance / np.outer(spread, spread))
    away = np.where(n_both > 0.0, correlation - target, 0.0)
    squares = float((away**2).sum())
    variance = float(((1.0 - correlation**2) ** 2 * (n_both > 0.0) / np.maximum(n_both, 1.0)).sum())
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


# Multiple imputations of a cohort.
#
# For each, the subtype of every subject is drawn from its membership; then rounds of a copula draw the margins of the
# subtypes, the correlations inside them, and the missing values of a subject jointly, given what is observed of it
# (Rubin 1987, *Multiple imputation for nonresponse in surveys*).

_FIRST = 5
"""How many times as many rounds precede the first draw."""


def multiple_imputations(
    model: SubtypeModel,
    frame: pd.DataFrame,
    m: int,
    n_sweeps: int,
    rng: np.random.Generator,
    cancelled: Event,
    formula: str | None = None,
) -> list[pd.DataFrame]:
    """Implement `MAPDP.multiple_imputations`; raise SearchCancelled if `cancelled` is set."""
    fit = require_search(model, "multiple_imputations")
    seen, order = validated_cohort(model, frame)
    observed, back, tables = seen.iloc[order], np.argsort(order), list[pd.DataFrame]()
    cohort = fit.adjusted(observed)
    outcome = None if formula is None else _read_outcome(formula, fit.schema_, observed)
    if outcome is not None:
        cohort = cohort.assign(**{outcome.name: cohort[outcome.name].mask(np.full(len(cohort), True))})
    with announcing_compilation():
        scores = fit.clusters_.scores(model_values(cohort, fit.clusters_.encoding.features), coarsened=True)
        membership = fit.subtypes_.summed(probabilities(scores[:, :-1]))
        copula, encoding = _copula(fit, cohort, rng)
        for number in range(m if outcome is None else _N_PROPOSALS):
            up_to = membership.cumsum(axis=1)
            copula.move((up_to[:, :-1] < rng.random((len(up_to), 1)) * up_to[:, -1:]).sum(axis=1))
            for _ in range(n_sweeps * _FIRST if not number else n_sweeps if outcome is None else 1):
                if cancelled.is_set():
                    raise SearchCancelled
                copula.round()
            table = fit.restored(_with_values(cohort, encoding, copula.draws(), rng.choice), observed)
            for name in (feature.name for feature in fit.schema_.reported):
                # A column that says nothing of a subject, such as one with one value, gets observed ones at random.
                rows, observed_cells = np.flatnonzero(table[name].isna()), table[name].dropna()
                if rows.size and len(observed_cells):
                    cells = observed_cells.iloc[rng.integers(len(observed_cells), size=rows.size)].array
                    table[name] = with_cells(table[name], rows, cells)
            tables.append(table.iloc[back])
    if outcome is not None and formula is not None:
        return _draw_by_formula(tables, fit.schema_, outcome, seen[outcome.name], formula, m, rng)
    return tables


# Multiple imputations for one regression, such as pain ~ age + I(age ** 2), whose square the copula does not know.
#
# Bartlett, Seaman, White and Carpenter (2015, Statistical Methods in Medical Research 24, 462-487): the missing values
# of a subject are drawn without the outcome, and accepted in proportion to the density of its outcome given them.

_N_PROPOSALS = 50  # tables drawn without the outcome, one of which each subject's values are from
_N_ROUNDS = 10  # of choices and regressions before each table, and as many times `_FIRST` before the first


def _read_outcome(formula: str, schema: FeatureSchema, observed: pd.DataFrame) -> Feature:
    """Return the feature on the left side of a formula; raise InputError if either side cannot be used."""
    name = formula.partition("~")[0].strip()
    names = [feature.name for feature in schema.described if feature.traits.is_real or feature.traits.is_yes_no]
    names = [name for name in names if not schema[name].point_masses]
    if name not in names:
        there_are = f"; there are {listed(names)}" if names else ""
        raise InputError(f"formula: {name!r} must be a described measurement or yes/no column{there_are}")
    _read_terms(formula, schema, observed, "drop")
    return schema[name]


def _draw_by_formula(
    proposals: Sequence[pd.DataFrame],
    schema: FeatureSchema,
    outcome: Feature,
    column: pd.Series,
    formula: str,
    m: int,
    rng: np.random.Generator,
) -> list[pd.DataFrame]:
    """Return m tables of the subjects' rows in some proposals, and the `column` of the outcome with all values."""
    from statsmodels.api import GLM, families

    y, is_yes_no, tables = outcome.scores(column), outcome.traits.is_yes_no, list[pd.DataFrame]()
    family = families.Binomial() if is_yes_no else families.Gaussian()
    is_known, subjects = ~np.isnan(y), np.arange(len(y))
    rows, chosen = pd.concat(proposals, ignore_index=True), rng.integers(len(proposals), size=len(y))
    terms = _read_terms(formula, schema, rows, "raise").reshape(len(proposals), len(y), -1)
    for round_ in range(1, _N_ROUNDS * (m + _FIRST) + 1):
        fit = GLM(y[is_known], terms[chosen, subjects][is_known], family=family).fit()
        scale = 1.0 if is_yes_no else fit.scale * fit.df_resid / rng.chisquare(fit.df_resid)
        slopes = rng.multivariate_normal(fit.params, fit.normalized_cov_params * scale)
        means = family.fitted(terms @ slopes)
        heights = np.where(is_known, family.loglike_obs(np.where(is_known, y, 0.0), means, scale=scale), 0.0)
        chosen = (heights + rng.gumbel(size=heights.shape)).argmax(axis=0)  # in proportion to the densities
        if round_ > _N_ROUNDS * _FIRST and round_ % _N_ROUNDS == 0:
            table, at = rows.iloc[chosen * len(y) + subjects].set_axis(column.index), means[chosen, subjects]
            drawn = rng.random(len(y)) < at if is_yes_no else at + np.sqrt(scale) * rng.normal(size=len(y))
            cells = np.array(outcome.levels)[drawn.astype(int)] if outcome.levels else drawn * 1
            missing = np.flatnonzero(~is_known)
            tables.append(table.assign(**{outcome.name: with_cells(column, missing, cells[missing])}))
    return tables


def _read_terms(formula: str, schema: FeatureSchema, table: pd.DataFrame, missing: str) -> Array:
    """Return the terms on the right side of a formula, float64 (N, P); rows that miss one are dropped or refused."""
    from statsmodels.api import GLM

    name, _, terms = formula.partition("~")
    columns = {
        feature.name: pd.Categorical(table[feature.name].astype(str), list(map(str, feature.levels or ())))
        if feature.traits.is_nominal
        else feature.scores(table[feature.name])
        for feature in schema.reported
        if feature.name != name.strip()
    }
    try:
        model = GLM.from_formula(f"_y ~ {terms}", pd.DataFrame(columns | {"_y": 0.0}), missing=missing)
    except Exception as error:  # of patsy or formulaic, whichever statsmodels has
        raise InputError(f"formula: {formula!r} cannot be used: {error}") from error
    return np.asarray(model.exog, dtype=np.float64)


def _copula(fit: Fit, cohort: pd.DataFrame, rng: np.random.Generator) -> tuple[Copula, Encoding]:
    """Return the copula of all features with a likelihood, clustered on or described, and their encoding."""
    schema = fit.schema_.with_roles({feature.name: "cluster" for feature in fit.schema_.described})
    problem = pose(cohort, schema, fit.hyperparameters_, fit.concentration_)
    encoding, prior, starts = problem.cohort.encoding, problem.model.prior, problem.cohort.encoding.prior_start
    labels, values = np.asarray(fit.labels_, dtype=np.int64), model_values(cohort, encoding.features)
    is_usual = ~fit.outliers_[:, fit.schema_.places(encoding.features)]
    first_of = {second: first for first, second in pairs_of_parts(encoding.features)}
    columns = []
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        standard = float(encoding.centres[index]), float(encoding.scales[index])
        column = (values[feature.name] - standard[0]) / standard[1]
        theta = likelihood.marginal_prior(prior[starts[index] : starts[index + 1]])
        # The second part of a feature has no value where the first is at a point mass.
        missing = np.isnan(values[encoding.features[first_of.get(index, index)].name])
        # A described feature may differ between the clusters as one that was selected does.
        n_clusters = int(labels.max()) + 1 if fit.differs.get(feature.name, True) else 1
        about = missing, is_usual[:, index], n_clusters, _limits(feature, column, standard)
        columns.append(Column(likelihood.alone, theta, column, *about))
    return Copula(columns, first_of, labels, rng), encoding


def _limits(feature: Feature, column: Array, standard: tuple[float, float]) -> tuple[float, float]:
    """Return between which encoded values a measurement is drawn: at most its range beyond the observed ones.

    Also within the declared range, not below 0 if nothing observed is, and not beyond a limit of detection.
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


# Estimates of several completed tables pooled by Rubin's rules.


@accepting()
def pool_estimates(
    estimates: ArrayLike | Sequence[pd.Series[Any]],
    variances: ArrayLike | Sequence[pd.Series[Any]],
    *,
    df_complete: float | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Pool the estimates of m analyses of multiply imputed tables by Rubin's rules (Rubin 1987).

    With Q the mean of the estimates, U the mean of their variances and B the variance of the estimates (divisor m - 1):

        T = U + (1 + 1/m) B,  lambda = (1 + 1/m) B / T,  degrees of freedom = 1 / (1 / old + 1 / observed),
        old = (m - 1) / lambda^2,  observed = (c + 1) / (c + 3) c (1 - lambda)

    are the total variance, the share of it that is due to what is missing, and Barnard and Rubin's degrees of freedom
    (1999). c are the degrees of freedom of the analysis of a complete table; without c they are `old`. The estimates
    should be about normal: pool log odds ratios, log variances and Fisher's z of correlations. ValueError is raised if
    there are fewer than two imputations, or numbers that cannot be used.

    Parameters
    ----------
    estimates, variances : array, shape (m,) or (m, p), or list of m Series
        p estimates from each imputation, named by the index of a Series or the columns of a DataFrame, and the squared
        standard error of each.
    df_complete, level : float
        Degrees of freedom without missing values, such as n - 1 for a mean, by default of a large sample; and the level
        of the confidence intervals.

    Returns
    -------
    DataFrame
        One row per estimate: ``estimate``, ``se``, ``df``, ``t`` and two-sided ``p`` of the hypothesis 0, ``lower``,
        ``upper``, ``within`` (U), ``between`` (B), ``total`` (T), ``lambda``, ``fmi`` (fraction of missing information,
        (r + 2 / (df + 3)) / (r + 1) with r = (1 + 1/m) B / U), ``m``.

    Examples
    --------
    >>> import clinclust as cc
    >>> pooled = cc.pool_estimates([2.0, 2.2, 1.8], [0.04, 0.05, 0.03], df_complete=99)
    >>> pooled[["estimate", "se", "df", "lower", "upper"]].round(3).to_numpy().tolist()
    [[2.0, 0.306, 5.339, 1.229, 2.771]]
    """
    table = _table(estimates, "estimates")
    q, u = table.to_numpy(), _table(variances, "variances").to_numpy()
    m, are_finite = len(q), bool(np.isfinite(u).all())
    faults = {
        f"estimates and variances must have one shape; they have {q.shape} and {u.shape}": q.shape != u.shape,
        "estimates of at least two imputations are needed; one alone does not tell what is missing": m < 2,
        "estimates must be finite numbers": not np.isfinite(q).all(),
        "variances must be finite numbers": not are_finite,
        "variances must be above 0; give squared standard errors": are_finite and not (u > 0.0).all(),
        f"df_complete must be above 0, not {df_complete!r}": df_complete is not None and not df_complete > 0.0,
        f"level must be above 0 and below 1, such as 0.95, not {level!r}": not 0.0 < level < 1.0,
    }
    refuse(fault for fault, is_so in faults.items() if is_so)
    within, between = u.mean(axis=0), q.var(axis=0, ddof=1)
    added = (1.0 + 1.0 / m) * between
    total = within + added
    share, increase = added / total, added / within
    with np.errstate(divide="ignore"):
        df = (m - 1.0) / share**2  # infinite if all imputations gave the same estimate
    if df_complete is not None and np.isfinite(df_complete):
        df = 1.0 / (1.0 / df + (df_complete + 3.0) / ((df_complete + 1.0) * df_complete * (1.0 - share)))
    information = (increase + 2.0 / (df + 3.0)) / (increase + 1.0)
    estimate, se = q.mean(axis=0), np.sqrt(total)
    t, margin = estimate / se, se * stdtrit(df, (1.0 + level) / 2.0)
    pooled = {"estimate": estimate, "se": se, "df": df, "t": t, "p": 2.0 * stdtr(df, -np.abs(t))}
    pooled |= {"lower": estimate - margin, "upper": estimate + margin}
    pooled |= {"within": within, "between": between, "total": total, "lambda": share, "fmi": information}
    return pd.DataFrame(pooled, index=table.columns).assign(m=m)


def _table(numbers: Any, called: str) -> pd.DataFrame:
    """Return numbers as a table (m, p), whose columns name the p estimates."""
    are_series = isinstance(numbers, list | tuple) and all(isinstance(series, pd.Series) for series in numbers)
    if are_series and any(not series.index.equals(numbers[0].index) for series in numbers):
        raise InputError(f"{called}: the Series of all imputations need the same index, in the same order")
    try:
        table = pd.DataFrame(numbers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{called} must be numbers, of shape (m,) or (m, p), with m imputations") from error
    if table.size == 0:
        raise InputError(f"{called} must have the shape (m,) or (m, p), with m imputations, not {table.shape}")
    return table
