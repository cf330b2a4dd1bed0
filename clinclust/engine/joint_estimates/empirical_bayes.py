"""Estimated priors, and which likelihood describes a feature in the clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.kernels.moves import Partition
from clinclust.engine.problem.hyperparameters import flat_prior, named_hyperparameters
from clinclust.engine.problem.problem import Clusters, Problem
from clinclust.likelihoods import Likelihood
from clinclust.priors.conjugate import ConjugatePrior

# How well a likelihood describes one feature in the clusters of a tree, and what clusters cost a feature.


class BestLevel(NamedTuple):
    """The level of a tree at which a likelihood describes a feature best."""

    evidence: float
    """The log marginals of the groups there, less the cost of the divisions above, in nats."""
    n_groups: int
    prior: int
    """The place of the prior that was taken."""


class ClusterTree:
    """The J clusters of a fit, and the groups that arise when they are merged one after the other.

    Its nodes are the clusters, 0 .. J - 1, and the group of each join, J .. 2 J - 2; the last holds all subjects. The
    joins, int64 (J - 1, 2), and the evidence, float64 (J - 1,), are those of `merge_tree`.
    """

    def __init__(self, clusters: Clusters, joins: Labels, evidence: Array) -> None:
        self.n_clusters, self._joins = clusters.sizes.size, joins
        sizes, statistics = self.summed_up(clusters.sizes), self.summed_up(clusters.statistics)
        gains = self._gains(replace(clusters, sizes=sizes, statistics=statistics).likelihood_terms().T)
        # What a division gains, less the change of the log joint, is what it costs by the prior of partitions.
        cost, gained = gains.sum(axis=0) - evidence, np.maximum(gains, 0.0).sum(axis=0)
        self._rate = np.clip(cost / np.maximum(gained, 1e-300), 0.0, 1.0)

    def summed_up(self, of_clusters: Array) -> Array:
        """Return the sums over the clusters of each node, float64 (2 J - 1, ...), of terms of the clusters."""
        sums = np.concatenate([of_clusters, np.zeros((self.n_clusters - 1, *of_clusters.shape[1:]))])
        for node, (first, second) in enumerate(self._joins.tolist(), start=self.n_clusters):
            sums[node] = sums[first] + sums[second]
        return sums

    def charges(self, log_marginals: Array) -> Array:
        """Return the cost of each division to a feature with these log marginals (..., 2 J - 1), in nats, (..., J - 1).

        The features that gain by a division pay its cost, minus the change of ln p(z), in proportion to their gains.
        """
        return np.asarray(self._rate * np.maximum(self._gains(log_marginals), 0.0))

    def best_level(self, log_marginals: Array, charges: Array) -> BestLevel:
        """Return the level at which log marginals (P, 2 J - 1) of its groups, less the charges (P, J - 1), are most."""
        net = (self._gains(log_marginals) - charges)[:, ::-1]
        levels = np.cumsum(np.concatenate([log_marginals[:, -1:], net], axis=1), axis=1)
        prior, level = np.unravel_index(int(levels.argmax()), levels.shape)
        return BestLevel(float(levels[prior, level]), int(level) + 1, int(prior))

    def _gains(self, of_nodes: Array) -> Array:
        """Return what each division gains, (..., J - 1), of terms of the nodes, (..., 2 J - 1)."""
        first, second = self._joins.T
        return np.asarray(of_nodes[..., first] + of_nodes[..., second] - of_nodes[..., self.n_clusters :])


def log_marginals_in_tree(
    likelihood: Likelihood, values: Array, labels: Labels, tree: ClusterTree, priors: Array | None = None
) -> Array:
    """Return ln m(values in node | theta) of every node of a tree, in nats, float64 (P, 2 J - 1).

    The observed values (n,) are on the scale of the likelihood, each in a cluster 0 .. J - 1 of `labels`. By default,
    theta are the P `Likelihood.compared_hyperparameters`.
    """
    priors = likelihood.compared_hyperparameters(values) if priors is None else priors
    summed = _of_measurements if likelihood.is_continuous else _of_levels
    priors, statistics, bases = summed(likelihood, values, labels, tree.n_clusters, priors)
    normalizer, theta = likelihood.prior.log_normalizer, priors[:, None, :]
    of_nodes = likelihood.prior.posterior(theta, tree.summed_up(statistics)[None])
    return np.asarray(normalizer(of_nodes) - normalizer(theta) + tree.summed_up(bases.T).T)


def _of_levels(
    likelihood: Likelihood, values: Array, labels: Labels, n_clusters: int, priors: Array
) -> tuple[Array, Array, Array]:
    """Return the priors (P, H), and of each cluster the statistics (J, S) and the log base measures (P, J)."""
    levels, places = np.unique(values, return_inverse=True)
    counts = np.bincount(labels * levels.size + places, minlength=n_clusters * levels.size)
    counts = counts.reshape(n_clusters, levels.size).astype(np.float64)
    bases = np.broadcast_to(likelihood.log_base_measure(levels, priors[:, None]), (len(priors), levels.size))
    # Sums in a fixed order: the last digits of a BLAS product depend on its number of threads.
    return priors, np.einsum("jl,ls->js", counts, likelihood.statistics(levels)), np.einsum("pl,jl->pj", bases, counts)


def _of_measurements(
    likelihood: Likelihood, values: Array, labels: Labels, n_clusters: int, priors: Array
) -> tuple[Array, Array, Array]:
    """Return what `_of_levels` does, of standardised values, with the Jacobian of the standardisation."""
    centre, scale = likelihood.standardisation(values)
    standard = (values - centre) / scale
    encoded = np.array([likelihood.encoded_hyperparameters(theta, centre, scale) for theta in priors])

    def in_clusters(column: Array) -> Array:
        return np.bincount(labels, weights=column, minlength=n_clusters).astype(np.float64)

    statistics = np.column_stack([in_clusters(column) for column in likelihood.statistics(standard).T])
    bases = [in_clusters(likelihood.log_base_measure(standard, theta) - np.log(scale)) for theta in encoded]
    return encoded, statistics, np.array(bases)


# Empirical Bayes: the hyperparameters that maximise the extended joint of a given partition, under a weak hyperprior.
#
# Every hyperparameter theta that the schema does not state has a hyperprior; densities are densities of u:
#
#     u = ln theta, or mean / standard deviation of a Gaussian feature,     u ~ Normal(u of the default, 1)
#
# It weighs about as one cluster, and makes the maximum finite for all data. The prior of a multivariate Gaussian block
# is not estimated. Given a partition, features are separate problems, of which those with the same conjugate prior are
# maximised together. Raykov et al. (2016, appendix G.1) omit the prior terms, which gives a prior as strong as the
# cohort.

Objective = Callable[[Array], tuple[Array, Array]]

_MOST_STEPS = 100
_DIFFERENCE = 1e-5
_LEAST_GAIN = 1e-12
_FARTHEST_STEP = 2.0


@dataclass(frozen=True)
class Hyperprior:
    """The hyperprior of the H hyperparameters of a cohort (the flat prior), on the encoded scale."""

    centre: Array
    """(H,) the default hyperparameters."""
    location: Mask
    """(H,) true for the prior means of Gaussian features, the only hyperparameters that may be 0 or negative."""
    free: Mask
    """(H,) true for hyperparameters that the schema does not state. Only these are estimated."""

    @classmethod
    def of(cls, problem: Problem) -> Hyperprior:
        """Return the hyperprior centred at the present hyperparameters."""
        location, free = [], []
        encoding = problem.cohort.encoding
        for feature, likelihood in zip(encoding.features, encoding.likelihoods, strict=True):
            names = likelihood.hyperparameter_names
            location += [likelihood.is_chained or name == "mean" for name in names]
            free += [not likelihood.is_chained and name not in feature.stated for name in names]
        return cls(problem.model.prior, np.array(location, dtype=bool), np.array(free, dtype=bool))

    def offsets(self, prior: Array, places: Whole | slice = slice(None)) -> Array:
        """Return u minus the u of the default, for all hyperparameters or for those at `places`."""
        location, centre = self.location[places], self.centre[places]
        ratio = np.where(location, 1.0, prior) / np.where(location, 1.0, centre)
        return np.where(location, prior - centre, np.log(ratio))

    def prior_at(self, offsets: Array, places: Whole | slice = slice(None)) -> Array:
        """Return the hyperparameters that have these offsets: the inverse of `offsets`."""
        location, centre = self.location[places], self.centre[places]
        return np.where(location, centre + offsets, centre * np.exp(np.where(location, 0.0, offsets)))

    def slopes(self, prior: Array, places: Whole | slice = slice(None)) -> Array:
        """Return d theta / d u: theta for a positive hyperparameter, 1 for a prior mean."""
        return np.where(self.location[places], 1.0, prior)

    def log_density(self, prior: Array) -> float:
        """Return the log density of u, summed over the free hyperparameters."""
        offsets = self.offsets(prior)[self.free]
        return -0.5 * float((offsets**2).sum()) - 0.5 * math.log(2.0 * math.pi) * offsets.size


def with_prior(problem: Problem, prior: Array) -> Problem:
    """Return the problem with other hyperparameters, float64 (H,). Those that the schema states keep every digit."""
    encoding = problem.cohort.encoding
    named = named_hyperparameters(encoding, prior)
    for feature in encoding.features:
        stated = problem.hyperparameters[feature.name]
        named[feature.name].update({name: stated[name] for name in feature.stated})
    # Users see the hyperparameters by name and may pass them back, so the flat array is computed from those numbers.
    flat = flat_prior(encoding, named)
    return replace(
        problem,
        cohort=problem.cohort.with_prior(flat, problem.model.powers),
        hyperparameters=named,
        model=problem.model._replace(prior=flat),
    )


def maximise_hyperparameters(problem: Problem, partition: Partition, hyperprior: Hyperprior) -> Problem:
    """Return the problem with the free hyperparameters that maximise the extended joint given a partition."""
    prior = problem.model.prior.copy()
    for places, objective in objectives(problem, partition, hyperprior):
        free = hyperprior.free[places]
        offsets = climb(objective, hyperprior.offsets(prior[places], places), free)
        prior[places] = np.where(free, hyperprior.prior_at(offsets, places), prior[places])
    return with_prior(problem, prior)


def objectives(problem: Problem, partition: Partition, hyperprior: Hyperprior) -> Iterator[tuple[Whole, Objective]]:
    """Yield, for each conjugate prior, the indices of its hyperparameters, int64 (F, P), and its objective.

    The objective takes offsets, float64 (F, P), and returns what `objective_by_feature` returns, with the log base
    measures that depend on the prior.
    """
    sums = partition.statistics[: int(partition.n_clusters[0])]
    for features, conjugate, places, statistics_places in _features_by_prior(problem):
        statistics = sums[:, statistics_places]
        exponents = problem.model.exponents[features]
        objective = partial(objective_by_feature, conjugate, hyperprior, places, statistics, exponents)
        if problem.cohort.encoding.likelihoods[features[0]].base_depends_on_prior:
            objective = partial(_with_base_measures, objective, problem, features, hyperprior, places)
        yield places, objective


def objective_by_feature(
    conjugate: type[ConjugatePrior],
    hyperprior: Hyperprior,
    places: Whole,
    statistics: Array,
    exponents: Array,
    offsets: Array,
) -> tuple[Array, Array]:
    """Return each feature's term of the extended joint, without constants, and its gradient in the offsets.

    The values (F,) are exponent * sum_k [A(posterior_k) - A(prior)] - sum over P of offsets^2 / 2; the statistics are
    float64 (K, F, S), and `places` (F, P) are the indices in the flat prior.
    """
    prior = hyperprior.prior_at(offsets, places)
    marginals = conjugate.log_normalizer(conjugate.posterior(prior, statistics)) - conjugate.log_normalizer(prior)
    slopes = conjugate.log_marginal_gradient(prior, statistics).sum(axis=0) * hyperprior.slopes(prior, places)
    values = exponents * marginals.sum(axis=0) - 0.5 * (offsets**2).sum(axis=-1)
    return values, exponents[:, None] * slopes - offsets


def _with_base_measures(
    objective: Objective, problem: Problem, features: list[int], hyperprior: Hyperprior, places: Whole, offsets: Array
) -> tuple[Array, Array]:
    """Add the log base measures of these features, which depend on the prior, to an objective and its gradient."""
    values, gradients = objective(offsets)
    prior = hyperprior.prior_at(offsets, places)
    slopes = hyperprior.slopes(prior, places)
    exponents, cohort = problem.model.exponents, problem.cohort
    for row, feature in enumerate(features):
        likelihood, counts = cohort.encoding.likelihoods[feature], cohort.level_counts(feature).astype(np.float64)
        start, stop = cohort.arrays.level_start[feature : feature + 2]
        levels = cohort.arrays.level_values[start:stop]
        values[row] += exponents[feature] * float((counts * likelihood.log_base_measure(levels, prior[row])).sum())
        gradients[row] += exponents[feature] * likelihood.log_base_gradient(levels, counts, prior[row]) * slopes[row]
    return values, gradients


def _features_by_prior(problem: Problem) -> list[tuple[list[int], type[ConjugatePrior], Whole, Whole]]:
    """Return each conjugate prior with its features, and their indices in the prior (F, P) and statistics (F, S)."""
    arrays = problem.cohort.arrays
    groups: dict[tuple[type[ConjugatePrior], int, int], list[int]] = {}
    for index, likelihood in enumerate(problem.cohort.encoding.likelihoods):
        if likelihood.is_chained:
            continue
        shape = (likelihood.prior, likelihood.n_hyperparameters, likelihood.n_statistics)
        groups.setdefault(shape, []).append(index)

    def places(starts: Whole, features: list[int]) -> Whole:
        first = starts[features]
        return first[:, None] + np.arange(starts[features[0] + 1] - first[0])

    return [
        (features, conjugate, places(arrays.prior_start, features), places(arrays.statistic_start, features))
        for (conjugate, *_), features in groups.items()
    ]


def climb(objective: Callable[[Array], tuple[Array, Array]], start: Array, free: Mask) -> Array:
    """Return where F functions of P variables each are maximal, float64 (F, P); no value ends lower than at `start`.

    Newton's method with a Hessian from differences of the gradient. Each function has its own Levenberg damping, which
    grows until the step goes uphill. Library matrix routines would make the last bits depend on the number of threads.
    `objective` takes points (F, P) and returns values (F,) and gradients (F, P); `free` (F, P) variables change.
    """
    points = start.copy()
    values, gradients = objective(points)
    gradients = np.where(free, gradients, 0.0)
    damping = np.full(values.size, 1e-3)
    active = np.ones(values.size, dtype=bool)
    curvatures = _negative_hessian(objective, points, free)
    for _ in range(_MOST_STEPS):
        steps, uphill = _damped_step(curvatures, gradients, damping)
        steps = np.where(uphill[:, None], steps, 0.0)
        longest = np.abs(steps).max(axis=1, keepdims=True)
        steps *= np.minimum(1.0, _FARTHEST_STEP / np.maximum(longest, 1e-300))
        # The first-order gain of the step. If it is below the rounding error of the value, the function is done.
        promised = (steps * gradients).sum(axis=1)
        active &= ~uphill | (promised > _LEAST_GAIN * np.maximum(1.0, np.abs(values)))
        if not active.any():
            break
        candidates = points + np.where(active[:, None], steps, 0.0)
        after, slopes = objective(candidates)
        rose = active & uphill & (after > values)
        damping = np.where(rose, damping / 10.0, np.minimum(damping * 10.0, 1e12))
        points = np.where(rose[:, None], candidates, points)
        values = np.where(rose, after, values)
        gradients = np.where(rose[:, None] & free, slopes, gradients)
        if rose.any():
            curvatures = _negative_hessian(objective, points, free)
    return points


def _negative_hessian(objective: Callable[[Array], tuple[Array, Array]], points: Array, free: Mask) -> Array:
    """Return the negative Hessian of each function, float64 (F, P, P): identity where variables are not free."""
    n_variables = points.shape[1]
    columns = []
    for variable in range(n_variables):
        difference = np.zeros(n_variables)
        difference[variable] = _DIFFERENCE
        above, below = objective(points + difference)[1], objective(points - difference)[1]
        columns.append((below - above) / (2.0 * _DIFFERENCE))
    hessian = np.stack(columns, axis=-1)
    both = free[:, :, None] & free[:, None, :]
    return np.where(both, 0.5 * (hessian + hessian.transpose(0, 2, 1)), np.eye(n_variables))


def _damped_step(curvatures: Array, gradients: Array, damping: Array) -> tuple[Array, Mask]:
    """Solve (curvature + damping I) step = gradient by Gaussian elimination; return the steps (F, P).

    Also return whether each matrix is positive definite, bool (F,), so that the step is uphill.
    """
    n_variables = gradients.shape[1]
    matrix = curvatures + damping[:, None, None] * np.eye(n_variables)
    right = gradients.copy()
    uphill = np.ones(gradients.shape[0], dtype=bool)
    for column in range(n_variables):
        pivot = matrix[:, column, column]
        uphill &= pivot > 1e-10
        pivot = np.where(pivot > 1e-10, pivot, 1.0)
        for row in range(column + 1, n_variables):
            factor = matrix[:, row, column] / pivot
            matrix[:, row] -= factor[:, None] * matrix[:, column]
            right[:, row] -= factor * right[:, column]
    steps = np.zeros_like(right)
    for row in reversed(range(n_variables)):
        rest = right[:, row] - (matrix[:, row, row + 1 :] * steps[:, row + 1 :]).sum(axis=1)
        steps[:, row] = rest / np.where(uphill, matrix[:, row, row], 1.0)
    return steps, uphill
