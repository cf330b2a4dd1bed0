"""Cohorts of one continuous population: normal scores, their smoothed density, and draws."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.ndimage import gaussian_filter, label, maximum_filter
from scipy.special import entr, ndtr, ndtri

from clinclust.arrays import Array, Labels, Whole, mid_ranks
from clinclust.engine.kernels.compiled import Number
from clinclust.engine.kernels.modes import dip
from clinclust.engine.kernels.moves import relabel
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.encoding import EncodedCohort, encoded_table, nominal_features, principal_axis
from clinclust.engine.problem.problem import Problem
from clinclust.schema.feature import pairs_of_parts

# Normal scores of the features of given subjects, their correlations, and the subjects' first principal score.
#
# The normal score of a value with mid-rank r among the n observed ones is Phi^-1((r - 1/2) / n), after nominal levels
# are ordered by their mean position on the principal axis. The first principal score is that of Hotelling (1933).

_STEPS = 2.0**20
"""Normal draws are whole multiples of its inverse, so that sums of 16,000 of their products are exact in any order."""
_LEAST_EIGENVALUE = 0.02
_LARGEST_STACK = 2**21  # numbers in the matrices that are solved together: 16 MB
_FEWEST_PAIRS = 5.0
"""A correlation of n pairs counts n / (n + this)."""
SCORE_STEPS = 1024.0
"""Normal scores are whole multiples of its inverse, so that sums of their products are exact."""


def normal_scores(table: Array) -> Array:
    """Return the normal score of the mid-rank of each value in its column (N, D), in whole steps; NaN = missing."""
    n_seen = np.maximum((~np.isnan(table)).sum(axis=0), 1)
    return in_score_steps(ndtri((mid_ranks(table) - 0.5) / n_seen))


def scores_of(cohort: EncodedCohort) -> Array:
    """Return the normal scores of the features of a cohort, float64 (N, D), NaN = missing."""
    return normal_scores(whole_columns(cohort))


def in_score_steps(scores: Array) -> Array:
    """Return scores counted in whole steps."""
    return np.asarray(np.rint(SCORE_STEPS * scores))


def parts_of_columns(cohort: EncodedCohort) -> list[tuple[int, ...]]:
    """Return the places of the encoded features of each column of `whole_columns`."""
    pairs, n_features = dict(pairs_of_parts(cohort.encoding.features)), len(cohort.encoding.features)
    first = [place for place in range(n_features) if place not in pairs.values()]
    return [(place, pairs[place]) if place in pairs else (place,) for place in first]


def are_nominal(cohort: EncodedCohort) -> NDArray[np.bool_]:
    """Return whether each of the `whole_columns` is nominal, (D,)."""
    return nominal_features(cohort.arrays)[[first for first, *_ in parts_of_columns(cohort)]]


def whole_columns(cohort: EncodedCohort) -> Array:
    """Return columns whose order means something, float64 (N, D), NaN = missing.

    The levels of a nominal feature are numbered by their mean position on the first principal axis. Both parts of a
    feature have one column: a value at a point mass has the place of the point mass among the other values.
    """
    table, nominal = encoded_table(cohort.arrays), np.flatnonzero(nominal_features(cohort.arrays))
    along = principal_axis(cohort.arrays) if nominal.size else np.empty(0)
    for feature in nominal:
        column = table[:, feature]
        seen = ~np.isnan(column)
        _, level = np.unique(column[seen], return_inverse=True)
        position = np.bincount(level, along[seen]) / np.maximum(np.bincount(level), 1)
        column[seen] = np.argsort(np.argsort(position, kind="stable"), kind="stable")[level]
    pairs = pairs_of_parts(cohort.encoding.features)
    for first, second in pairs:
        table[:, first] = _with_point_masses(cohort, first, second)
    return np.take(table, [first for first, *_ in parts_of_columns(cohort)], axis=1) if pairs else table


def _with_point_masses(cohort: EncodedCohort, first: int, second: int) -> Array:
    """Return a feature in two parts as one column."""
    arrays, encoding, n_table = cohort.arrays, cohort.encoding, cohort.arrays.codes.shape[1]
    codes = arrays.codes[:, first]
    if second < n_table:
        others = np.where(arrays.codes[:, second] > 0, arrays.level_values[arrays.codes[:, second]], np.nan)
    else:
        others = arrays.values[:, second - n_table]
    with np.errstate(all="ignore"):
        masses, _ = encoding.features[second].on_model_scale(np.array(encoding.features[first].whole.point_masses))
        masses = encoding.likelihoods[second].encoded((masses - encoding.centres[second]) / encoding.scales[second])
    masses = np.where(np.isnan(masses), -np.inf, masses)  # the logarithm of no value at no point mass is below it
    place = arrays.level_values[codes].astype(np.int64)
    values = np.where(place > 0, np.concatenate([[np.nan], masses])[place], others)
    return np.where(codes > 0, values, np.nan)


def with_expectations(scores: Array, correlation: Array) -> Array:
    """Return scores (N, D) with missing ones (NaN) at their expectation given the observed ones, R_mo R_oo^-1 z_o."""
    return conditional_draws(scores, correlation, np.zeros_like(scores))


def conditional_draws(scores: Array, correlation: Array, drawn: Array) -> Array:
    """Return scores (N, D) with draws where they are missing (NaN), given the observed ones; by N(0, R).

    A draw y ~ N(0, R) of `drawn`, (N, D), becomes y_m + R_mo R_oo^-1 (z_o - y_o) (Journel and Huijbregts 1978, *Mining
    Geostatistics*), in place, with R_mo R_oo^-1 = -P_mm^-1 P_mo of the precisions P = R^-1.
    """
    observed = ~np.isnan(scores)
    if observed.all():
        return scores
    precision, off = np.linalg.inv(correlation), scores - drawn
    np.copyto(off, 0.0, where=~observed)
    pull = np.einsum("ij,jk->ik", off, precision)
    n_missing = (~observed).sum(axis=1)
    for number in range(1, n_missing.max() + 1):  # subjects who lack as many features are solved together
        subjects, at_once = np.flatnonzero(n_missing == number), 1 + _LARGEST_STACK // number**2
        for start in range(0, subjects.size, at_once):
            rows = subjects[start : start + at_once]
            absent = np.nonzero(~observed[rows])[1].reshape(-1, number)
            stack, at = precision[absent[:, :, None], absent[:, None, :]], (rows[:, None], absent)
            drawn[at] -= np.linalg.solve(stack, pull[at][:, :, None])[:, :, 0]
    np.copyto(drawn, scores, where=observed)
    return drawn


def reliable_correlations(scores: Array) -> Array:
    """Return the correlations of columns in pairs, each drawn towards 0 where few subjects have both; (D, D)."""
    shrunk, n_both = correlations(scores)
    shrunk *= n_both / (n_both + _FEWEST_PAIRS)
    return shrunk


def correlations(scores: Array) -> tuple[Array, Array]:
    """Return the correlations of columns (N, D) in pairs, and in how many rows both are observed, float64 (D, D) each.

    A column that does not vary has correlation 0 with others. Sums of whole numbers are exact.
    """
    observed = ~np.isnan(scores)
    seen, scores = observed.astype(np.float64), np.where(observed, scores, 0.0)
    n_both = np.maximum(seen.T @ seen, 1.0)
    mean = scores.T @ seen / n_both  # of the column of the row, where that of the column is observed
    variance = (scores**2).T @ seen / n_both - mean**2
    covariance = scores.T @ scores / n_both - mean * mean.T
    product = variance * variance.T
    varying = np.minimum(variance, variance.T) > 1e-9
    correlation = np.where(varying, covariance / np.sqrt(np.where(varying, product, 1.0)), 0.0)
    return with_unit_diagonal(np.clip(correlation, -1.0, 1.0)), n_both


def nearest_correlation(matrix: Array) -> Array:
    """Return a correlation matrix near a symmetric matrix with diagonal 1: eigenvalues raised to at least .02."""
    values, vectors = np.linalg.eigh(with_unit_diagonal(matrix))
    raised = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
    scale = 1.0 / np.sqrt(np.diag(raised))
    nearest = raised * scale * scale[:, None]
    return with_unit_diagonal(0.5 * (nearest + nearest.T))


def with_unit_diagonal(matrix: Array) -> Array:
    """Return a copy of a square matrix with ones on the diagonal."""
    return np.where(np.eye(len(matrix), dtype=np.bool_), 1.0, matrix)


def standard_normals(n_rows: int, n_columns: int, rng: np.random.Generator) -> Array:
    """Return independent standard normal draws in exact steps, float64 (n_rows, n_columns)."""
    return _in_exact_steps(rng.standard_normal((n_rows, n_columns)))


def _in_exact_steps(values: Array) -> Array:
    return np.asarray(np.rint(values * _STEPS) / _STEPS)


def with_correlation(normals: Array, correlation: Array) -> Array:
    """Return independent normal draws (N, D) transformed to have these correlations, float64 (N, D)."""
    factor = _in_exact_steps(np.asarray(np.linalg.cholesky(correlation), dtype=np.float64))
    return normals @ factor.T


# Statistics of a cohort that tell groups from degrees: the gap in a division, and main axes in two halves.
#
# A gap is the dip of Hartigan and Hartigan (1985, *The dip test of unimodality*, Annals of Statistics 13, 70-84), of
# the log odds of the best division into two.
#
# The halves of an axis are the mean log likelihood ratio of two normal distributions of equal weight, at a distance of
# 2 delta, to one normal, of standardised principal scores x:
#
#     log cosh(x delta / v) - (x^2 + delta^2) / (2 v) + x^2 / 2 - log(v) / 2,   v = 1 - delta^2
#
# This is the most powerful statistic against these two (Neyman and Pearson 1933, *On the problem of the most efficient
# tests of statistical hypotheses*, Philosophical Transactions A 231, 289-337); the axis that parts two groups of
# similar size is among the principal ones.

_MOST_AXES = 3
_APART = (0.7, 0.9)
"""Distances delta of the halves from the middle, in standard deviations of the whole."""
_LEAST = 1e-4
"""Least dip, of which the logarithm is taken."""


def shape_of(part: Problem, scores: Array, halves: Labels) -> Array:
    """Return the log dip of a division (N,), and the halves of the A main axes at both distances, float64 (1 + 2 A,).

    The axes are the first min(D, 3) principal components of normal scores, float64 (N, D), NaN = missing.
    """
    of_odds = dip(np.sort(log_odds(part, halves))) if 0 < halves.sum() < halves.size else _LEAST
    return np.concatenate([[np.log(max(of_odds, _LEAST))], axes_in_halves(scores).ravel()])


def log_odds(part: Problem, halves: Labels) -> Array:
    """Return the log odds of the second of two halves for each subject, without itself, float64 (N,)."""
    logs = np.empty((halves.size, 3))
    relabel(part.cohort.arrays, part.work_space, halves)
    write_scores(part.cohort.arrays, part.model, part.work_space, logs)
    return np.asarray(logs[:, 1] - logs[:, 0])


def axes_in_halves(scores: Array) -> Array:
    """Return the mean log likelihood ratios, in nats, of the first A principal components of scores (N, D); (2, A).

    A missing value (NaN) has the mean, 0.
    """
    size, matrix = scores.shape[1], correlations(scores)[0]
    _, axes = eigh(matrix, subset_by_index=[max(size - _MOST_AXES, 0), size - 1], check_finite=False)
    if axes.shape[1] < min(size, _MOST_AXES):  # LAPACK leaves out equal eigenvalues, as of columns that do not vary
        axes = eigh(matrix)[1][:, -_MOST_AXES:]
    along = np.where(np.isnan(scores), 0.0, scores) @ axes[:, ::-1]
    along = along - along.mean(axis=0)
    spread = along.std(axis=0)
    x = along / np.maximum(spread, 1e-9 * max(spread.max(), 1e-9))  # the axis of a constant column is rounding errors
    delta = np.array(_APART)[:, None, None]
    v = 1.0 - delta**2
    log_cosh = np.logaddexp(x * delta / v, -x * delta / v) - np.log(2.0)
    ratios = log_cosh - (x**2 + delta**2) / (2.0 * v) + x**2 / 2.0 - np.log(v) / 2.0
    return np.asarray(ratios.mean(axis=1))


# Nominal levels have an order only along an axis, and a copula in this order loses how one nominal column depends on
# another: of languages and regions, or of occupations and qualifications. Each is therefore drawn given the group of
# another column, with which it has most mutual information: a tree of columns (Chow and Liu 1968, *Approximating
# discrete probability distributions with dependence trees*, IEEE Transactions on Information Theory 14, 462-467). In
# tables of ten such columns, each drawn given another, 500 subjects were called two or more kinds in 18 of 32 without.

_N_GROUPS = 5  # of the subjects by a column of numbers


@dataclass(frozen=True)
class NominalColumn:
    """A column of levels without order, whose levels are drawn given the group of a subject by another column."""

    place: int
    parent: int
    groups: Whole
    """(M,) the group of each subject by the other column; those without a value of it are in none, -1."""
    ordered: Whole
    """The subjects with both values, by group, and in a group by level."""
    ends: Whole
    """(G + 1,) where each group begins among these."""
    share: float
    """What the other column tells of this one, as a share of its entropy."""

    def choose(self, shares: Array, chosen: Whole) -> None:
        """Replace the subjects chosen for the column by those at these shares (N,) of their group, in place."""
        if not self.ordered.size:
            return
        groups = self.groups[chosen[:, self.parent]]
        first, sizes = self.ends[groups], self.ends[groups + 1] - self.ends[groups]
        at = np.minimum(first + (shares * sizes).astype(np.int64), self.ordered.size - 1)
        chosen[:, self.place] = np.where(sizes > 0, self.ordered[at], chosen[:, self.place])


def _nominal_columns(cohort: EncodedCohort, wholes: Array) -> tuple[NominalColumn, ...]:
    """Return the nominal columns among these (D, N), each after the one whose groups it is drawn given.

    Columns of numbers are drawn before all of them; without any, the column that tells most of the others is.
    """
    waiting = np.flatnonzero(are_nominal(cohort)).tolist()
    if not waiting:
        return ()
    places, groups = range(len(wholes)), list[Whole]()
    for place, column in enumerate(wholes):
        seen, group = ~np.isnan(column), column
        if place not in waiting:
            group = _N_GROUPS * (mid_ranks(column) - 0.5) / max(int(seen.sum()), 1)
        groups.append(np.where(seen, group, -1.0).astype(np.int64))
    shared = {(place, other): mutual_information(groups[place], groups[other]) for place in waiting for other in places}
    if len(waiting) == len(wholes):
        waiting.remove(max(waiting, key=lambda place: sum(shared[place, other] for other in places if other != place)))
    columns = list[NominalColumn]()
    while waiting:
        ready = [place for place in places if place not in waiting]
        place, parent = max(product(waiting, ready), key=shared.__getitem__)
        share = shared[place, parent] / max(shared[place, place], 1e-12)
        ordered = np.lexsort((wholes[place], groups[parent]))
        ordered = ordered[(groups[parent][ordered] >= 0) & ~np.isnan(wholes[place][ordered])]
        ends = np.searchsorted(groups[parent][ordered], np.arange(groups[parent].max() + 2))
        columns.append(NominalColumn(place, parent, groups[parent], ordered, ends, share))
        waiting.remove(place)
    return tuple(columns)


def mutual_information(first: Whole, second: Whole) -> float:
    """Return the mutual information of two columns of groups (N,), -1 = none, in nats, less its mean if independent."""
    both = (first >= 0) & (second >= 0)
    if not both.any():
        return 0.0
    shape = first.max() + 1, second.max() + 1
    counts = np.bincount(np.ravel_multi_index((first[both], second[both]), shape), minlength=shape[0] * shape[1])
    of_each = [counts.reshape(shape).sum(axis=axis) for axis in (0, 1)]
    chance = np.prod([float((sizes > 0).sum() - 1) for sizes in of_each]) / (2.0 * both.sum())
    entropies = [float(entr(sizes / both.sum()).sum()) for sizes in (*of_each, counts)]
    return entropies[0] + entropies[1] - entropies[2] - float(chance)


def _of_subjects(table: NDArray[Number], chosen: Whole) -> NDArray[Number]:
    """Return the values of chosen rows of each column of a table (N, D), (n, D): a faster `np.take_along_axis`."""
    return np.asarray(np.take(table, chosen * table.shape[1] + np.arange(table.shape[1])))


@dataclass(frozen=True)
class OnePopulation:
    """One continuous population with the margins and correlations of the subjects of a problem."""

    part: Problem
    scores: Array
    """(M, D) the subjects' normal scores; NaN = missing."""
    ascending: Whole
    """(M, D) the subjects in ascending order of each feature, those without a value last."""
    columns: Whole
    """The column of each encoded feature: the two parts of a feature have the same one, in the order of both."""
    correlation: Array
    """(D, D) correlations R of the latent normal scores."""
    nominal: tuple[NominalColumn, ...] = ()

    def draw(self, rng: np.random.Generator) -> tuple[Problem, Array]:
        """Return the problem with a cohort of the same size drawn from the population, with the same values missing.

        Also the normal scores of its features, float64 (N, D), NaN = missing.
        """
        arrays = self.part.cohort.arrays
        latent, observed = self.subjects(rng)
        chosen = self.at(self.shares(latent))
        of_codes, of_values = np.split(self.columns, [arrays.codes.shape[1]])
        # Both parts of a feature are those of one subject: at a point mass, there is no other value.
        codes = _of_subjects(arrays.codes, np.take(chosen, of_codes, axis=1))
        codes[~np.take(observed, of_codes, axis=1)] = 0
        values = _of_subjects(arrays.values, np.take(chosen, of_values, axis=1))
        values[~np.take(observed, of_values, axis=1)] = np.nan
        cohort = replace(self.part.cohort, arrays=arrays._replace(codes=codes, values=values))
        scores = np.where(observed, _of_subjects(self.scores, chosen), np.nan)
        return replace(self.part, cohort=cohort), scores

    def at(self, shares: Array) -> Whole:
        """Return the subjects whose values have these shares of the observed ones below them, int64 (N, D)."""
        n_values = (~np.isnan(self.scores)).sum(axis=0)
        ranks = np.minimum((shares * n_values).astype(np.int64), np.maximum(n_values - 1, 0))
        chosen = _of_subjects(self.ascending, ranks)
        for column in self.nominal:
            column.choose(shares[:, column.place], chosen)
        return chosen

    def subjects(self, rng: np.random.Generator) -> tuple[Array, NDArray[np.bool_]]:
        """Return latent scores of as many subjects, float64 (N, D), and whether each is observed, (N, D)."""
        normals = standard_normals(len(self.scores), self.scores.shape[1], rng)
        return with_correlation(normals, self.correlation), ~np.isnan(self.scores)

    def shares(self, latent: Array) -> Array:
        """Return the share of the population below each latent score, float64 (N, D)."""
        return np.asarray(ndtr(latent))


def one_population(part: Problem, rng: np.random.Generator) -> OnePopulation:
    """Return the one population of the subjects of a problem."""
    table = whole_columns(part.cohort)
    columns = np.empty(len(part.cohort.encoding.features), dtype=np.int64)
    for place, parts in enumerate(parts_of_columns(part.cohort)):
        columns[list(parts)] = place
    scores, ascending = normal_scores(table), np.argsort(table, axis=0, kind="stable")
    wanted = reliable_correlations(scores)
    correlation = nearest_correlation(wanted)
    nominal = _nominal_columns(part.cohort, table.T)
    population = OnePopulation(part, scores, ascending, columns, correlation, nominal)
    normals, filled = standard_normals(DRAWS_OF_A_ROUND, scores.shape[1], rng), np.nan_to_num(scores)
    for _ in range(_ROUNDS):
        straight = with_correlation(normals, correlation)
        drawn = _of_subjects(filled, population.at(population.shares(straight)))
        # The correlations of what is drawn of these normals, less what they have by chance.
        present = correlations(drawn)[0] - (correlations(in_score_steps(straight))[0] - correlation)
        moved = np.clip(correlation + _STEP * (wanted - present), -_LARGEST_CORRELATION, _LARGEST_CORRELATION)
        correlation = nearest_correlation(moved)
        population = replace(population, correlation=correlation)
    return population


# One continuous population of any shape: the subjects' own distribution, smoothed until it has one peak.
#
# With z_i the normal scores of subject i, R their correlations and e ~ N(0, R), its latent scores are draws of the
# smoothed bootstrap (Silverman and Young 1987, *The bootstrap: to smooth or not to smooth?*, Biometrika 74, 469-479)
#
#     z = (z_i + h e) / (1 + h^2)^(1/2),   i drawn with replacement,
#
# with another h in the plane of the first two principal axes than at right angles to it. What is missing of subject i
# is missing in its draw; for its place on the axes, it is drawn given what is observed. Of subjects with one level of a
# scale, each has a latent score inside the level, drawn given its other scores (Hoff 2007, *Extending the rank
# likelihood for semiparametric copula estimation*, Annals of Applied Statistics 1, 265-283): a severity that is cut
# into levels and moved by the blur would otherwise be cut twice, and lose dependence. In the plane, h is the critical
# bandwidth (Silverman 1981, *Using kernel density estimates to investigate multimodality*, Journal of the Royal
# Statistical Society B 43, 97-99): the smallest at which the density has one peak. A further one counts if the density
# falls below .7 of it on every way to a higher one. At right angles, h is N^(-1/(D+4)) (Scott 1992, *Multivariate
# Density Estimation*), and e is on the scale of the subject: times the root mean square of its scores there over that
# of all.

_FARTHEST, _CELLS = 5.0, 80
"""The plane, in standard deviations from its middle, and its cells along each axis."""
_VALLEY, _LOWEST = 0.7, 0.05
"""Share of a peak below which a valley parts it from a higher one, and of the highest below which it is not counted."""
_LEVELS = np.geomspace(_LOWEST * _VALLEY, _VALLEY, 40)
_NARROWEST, _WIDEST = 0.1, 3.0
"""Bounds of the bandwidth, in standard deviations."""
_HALVINGS = 10
_PASSES, _TAIL = 2, 1e-9
"""How often each latent score is drawn inside its level (ten times change no p), and the least share of a tail."""
_LARGEST_SCORE, _CELLS_OF_A_SCORE = 8, 256
"""Range of latent scores whose shares of the population are counted, and cells in one standard deviation."""


@dataclass(frozen=True, kw_only=True)
class SmoothedPopulation(OnePopulation):
    """The subjects' own distribution, smoothed."""

    axes: Array
    """(D, A) the first two principal axes, or one where there is one feature."""
    within: Array
    """(N, A) the subjects' scores along these axes."""
    beside: Array
    """(N, D) what is left of their scores."""
    bandwidth: float
    """h in the plane of the axes."""
    below: Array
    """(C, D) share of the population below each cell of latent scores."""

    def shares(self, latent: Array) -> Array:
        """Return the share of the observed values of the population below each latent score, float64 (N, D)."""
        cells = np.clip((latent + _LARGEST_SCORE) * _CELLS_OF_A_SCORE, 0, len(self.below) - 1).astype(np.int64)
        return _of_subjects(self.below, cells)

    def subjects(self, rng: np.random.Generator) -> tuple[Array, NDArray[np.bool_]]:
        """Return latent scores of as many subjects, float64 (N, D), and whether each is observed, (N, D)."""
        normals = standard_normals(len(self.scores), self.scores.shape[1], rng)
        chosen = rng.integers(len(self.scores), size=len(self.scores))
        return self.blurred(chosen, normals), ~np.isnan(self.scores[chosen])

    def blurred(self, chosen: Labels, normals: Array) -> Array:
        """Return the latent scores of chosen subjects (n,), blurred by independent normal draws (n, D); (n, D)."""
        n_subjects, n_features = self.beside.shape
        noise = with_correlation(normals, self.correlation)
        within = noise @ self.axes
        scale = np.sqrt((self.beside**2).mean(axis=1) / max(float((self.beside**2).mean()), 1e-12))
        beside = scale[chosen, None] * (noise - within @ self.axes.T)
        h, beside_h = self.bandwidth, n_subjects ** (-1.0 / (n_features + 4.0))
        beside = (self.beside[chosen] + beside_h * beside) / np.sqrt(1.0 + beside_h**2)
        return np.asarray(beside + (self.within[chosen] + h * within) / np.sqrt(1.0 + h**2) @ self.axes.T)


def drawn_within_levels(scores: Array, latent: Array, correlation: Array, rng: np.random.Generator) -> Array:
    """Return latent scores (N, D), with those of equal normal scores, (N, D), drawn between the ranks of their level.

    Each is drawn given those of the other features, in turn (Gibbs sampling); NaN = missing keeps its latent score.
    """
    latent, precision = latent.copy(), np.linalg.inv(correlation)
    levels = [np.unique(column[~np.isnan(column)], return_inverse=True, return_counts=True) for column in scores.T]
    for feature in [place for place, (_, _, counts) in enumerate(levels) if counts.max(initial=0) > 1] * _PASSES:
        subjects, (_, level, counts) = np.flatnonzero(~np.isnan(scores[:, feature])), levels[feature]
        spread = precision[feature, feature] ** -0.5
        pull = np.einsum("ij,j->i", latent[subjects], precision[feature])  # with the score itself
        mean = latent[subjects, feature] - pull * spread**2
        ends = ndtri(np.concatenate([[0.0], np.cumsum(counts)]) / subjects.size)
        low, high = ndtr((ends[level] - mean) / spread), ndtr((ends[level + 1] - mean) / spread)
        drawn = mean + spread * ndtri(np.clip(low + (high - low) * rng.random(subjects.size), _TAIL, 1.0 - _TAIL))
        latent[subjects, feature] = np.clip(drawn, ends[level], ends[level + 1])
    return latent


def smoothed_population(straight: OnePopulation, rng: np.random.Generator) -> SmoothedPopulation:
    """Return the population of any shape of the subjects of a straight one."""
    scores = straight.scores / SCORE_STEPS
    normals = standard_normals(len(scores), scores.shape[1], rng)
    scores = conditional_draws(scores, straight.correlation, with_correlation(normals, straight.correlation))
    scores = drawn_within_levels(straight.scores, scores, straight.correlation, rng)
    axes = np.linalg.eigh(straight.correlation)[1][:, :-3:-1]
    within = scores @ axes
    population = SmoothedPopulation(
        **{item.name: getattr(straight, item.name) for item in fields(straight)},
        axes=axes,
        within=within,
        beside=scores - within @ axes.T,
        bandwidth=one_peak_bandwidth(within),
        below=scores,
    )
    normals = standard_normals(DRAWS_OF_A_ROUND, scores.shape[1], rng)
    chosen = rng.integers(len(scores), size=len(normals))
    latent = np.where(np.isnan(straight.scores[chosen]), np.nan, population.blurred(chosen, normals))
    edges = np.arange(2 * _LARGEST_SCORE * _CELLS_OF_A_SCORE) / _CELLS_OF_A_SCORE - _LARGEST_SCORE
    columns = zip(np.sort(latent, axis=0).T, (~np.isnan(latent)).sum(axis=0), strict=True)
    shares = [(np.searchsorted(column[:n], edges) + 0.5) / (n + 1) for column, n in columns]
    return replace(population, below=np.column_stack(shares))


def one_peak_bandwidth(plane: Array) -> float:
    """Return the smallest bandwidth at which the density estimate of points, (N, 2) or (N, 1), has one peak.

    It is in standard deviations of each coordinate.
    """
    spread = plane.std(axis=0)
    standard = (plane - plane.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    edges = np.linspace(-_FARTHEST, _FARTHEST, _CELLS + 1)
    counts = np.histogramdd(np.clip(standard, -_FARTHEST, _FARTHEST), bins=[edges] * plane.shape[1])[0]
    low, high = _NARROWEST, _WIDEST
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        smoothed = gaussian_filter(counts, middle * _CELLS / (2.0 * _FARTHEST), mode="constant", truncate=5.0)
        low, high = (low, middle) if has_one_peak(smoothed) else (middle, high)
    return high


def has_one_peak(density: Array) -> bool:
    """Return whether no valley of a density on a grid parts two peaks that count."""
    levels, tops = density.max() * _LEVELS, np.sort(density[density == maximum_filter(density, 3)])
    # Peaks that a valley parts at one level are parted at higher ones: the last at which a peak counts is enough.
    n_levels = np.unique(np.searchsorted(levels, tops[:-1] * _VALLEY))
    for level in levels[n_levels[n_levels > 0] - 1]:
        parts, n_parts = label(density > level, structure=np.ones((3,) * density.ndim))
        if n_parts > 1:
            peaks = np.zeros(n_parts + 1)
            np.maximum.at(peaks, parts.ravel(), density.ravel())
            if (peaks[1:] * _VALLEY > level).sum() > 1:
                return False
    return True


# Cohorts drawn from one continuous population with the margins and the correlations of given subjects.
#
# A Gaussian copula: a score z is mapped to the observed value at the same quantile,
#
#     z ~ N(0, R),   x_j = the observed value of feature j at rank floor(Phi(z_j) n_j),
#
# with R such that the drawn values have the subjects' correlations.

_ROUNDS, _STEP = 2, 1.4
"""How often the correlations are moved, and by how many times their error: ties shrink what a move changes."""
DRAWS_OF_A_ROUND = 3000
_LARGEST_CORRELATION = 0.97
