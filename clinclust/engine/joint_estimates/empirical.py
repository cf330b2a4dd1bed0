"""Empirical Bayes: the hyperparameters that maximise the extended joint of a given partition, feature by feature.

Features do not share hyperparameters. Given a partition, each feature d is therefore a separate problem, with two
(beta, gamma), three (beta with dispersion), four (normal-gamma), L (Dirichlet) or 2 (L - 1) (Dirichlet tree) unknowns:

    maximise over theta    exponent_d sum_k ln m_d(x_kd | theta) + ln hyperprior(theta)

The exponent is the coarsening times the power of the feature.

All features with the same conjugate prior are maximised together. Raykov et al. (2016, appendix G.1) propose maximum
likelihood "by omitting the prior terms" of the updates. Taken literally, this gives a prior as strong as the whole
cohort; empirical Bayes is used instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.joint_estimates.hyperprior import Hyperprior, with_prior
from clinclust.engine.joint_estimates.newton import climb

if TYPE_CHECKING:
    from clinclust.engine.kernels.partition import Partition
    from clinclust.engine.problem.problem import Problem
    from clinclust.priors.conjugate import ConjugatePrior

__all__ = ["maximise_hyperparameters", "objective_by_feature", "objectives"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Objective = Callable[[Array], tuple[Array, Array]]


def objective_by_feature(
    conjugate: type[ConjugatePrior],
    hyperprior: Hyperprior,
    places: Places,
    statistics: Array,
    exponents: Array,
    offsets: Array,
) -> tuple[Array, Array]:
    """Return each feature's term of the extended joint, without constants, and its gradient.

    Parameters
    ----------
    conjugate : class
        The conjugate prior of these F features, a class of `clinclust.priors`.
    hyperprior : Hyperprior
    places : int64 (F, P)
        Indices of their hyperparameters in the flat prior.
    statistics : float64 (K, F, S)
        Sufficient statistics of every cluster and feature.
    exponents : float64 (F,)
        Power of the likelihood of each feature (`Model.exponents`).
    offsets : float64 (F, P)
        Point of evaluation, as `Hyperprior.offsets` returns it.

    Returns
    -------
    values : float64 (F,)
        exponent * sum_k [A(posterior_k) - A(prior)] - sum over P of offsets^2 / 2.
    gradients : float64 (F, P)
        Derivatives of the values with respect to the offsets.
    """
    prior = hyperprior.prior_at(offsets, places)
    marginals = conjugate.log_normalizer(conjugate.posterior(prior, statistics)) - conjugate.log_normalizer(prior)
    slopes = conjugate.log_marginal_gradient(prior, statistics).sum(axis=0) * hyperprior.slopes(prior, places)
    values = exponents * marginals.sum(axis=0) - 0.5 * (offsets**2).sum(axis=-1)
    return values, exponents[:, None] * slopes - offsets


def maximise_hyperparameters(problem: Problem, partition: Partition, hyperprior: Hyperprior) -> Problem:
    """Return the problem with the hyperparameters that maximise the extended joint given a partition.

    Hyperparameters that are not free keep their values. The maximisation begins at the present hyperparameters, and no
    feature's objective ends lower than it began.
    """
    prior = problem.model.prior.copy()
    for places, objective in objectives(problem, partition, hyperprior):
        free = hyperprior.free[places]
        offsets = climb(objective, hyperprior.offsets(prior[places], places), free)
        prior[places] = np.where(free, hyperprior.prior_at(offsets, places), prior[places])
    return with_prior(problem, prior)


def objectives(problem: Problem, partition: Partition, hyperprior: Hyperprior) -> Iterator[tuple[Places, Objective]]:
    """Yield the terms of the extended joint given a partition, for each conjugate prior.

    Yields
    ------
    places : int64 (F, P)
        Indices of the hyperparameters of its features in the flat prior.
    objective : callable
        Takes offsets, float64 (F, P), and returns what `objective_by_feature` returns, with the log base measures of
        features whose base measure depends on the prior.
    """
    sums = partition.statistics[: int(partition.n_clusters[0])]
    for features, conjugate, places, statistics_places in _features_by_prior(problem):
        statistics = sums[:, statistics_places]
        exponents = problem.model.exponents[features]
        objective = partial(objective_by_feature, conjugate, hyperprior, places, statistics, exponents)
        if problem.cohort.encoding.likelihoods[features[0]].base_depends_on_prior:
            objective = partial(_with_base_measures, objective, problem, features, hyperprior, places)
        yield places, objective


def _with_base_measures(
    objective: Objective, problem: Problem, features: list[int], hyperprior: Hyperprior, places: Places, offsets: Array
) -> tuple[Array, Array]:
    """Return an objective and its gradient with the log base measures added.

    This is needed for features whose log base measure depends on the prior. `features` are the indices of these F
    features. The other arguments are those of `objective_by_feature`.
    """
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


def _features_by_prior(problem: Problem) -> list[tuple[list[int], type[ConjugatePrior], Places, Places]]:
    """Return, for each conjugate prior, its features, the prior, and indices into the flat arrays.

    The indices are those of the hyperparameters, int64 (F, P), and of the sufficient statistics, int64 (F, S).
    """
    arrays = problem.cohort.arrays
    groups: dict[tuple[type[ConjugatePrior], int, int], list[int]] = {}
    for index, likelihood in enumerate(problem.cohort.encoding.likelihoods):
        if likelihood.is_chained:
            continue
        shape = (likelihood.prior, likelihood.n_hyperparameters, likelihood.n_statistics)
        groups.setdefault(shape, []).append(index)

    def places(starts: Places, features: list[int]) -> Places:
        first = starts[features]
        return first[:, None] + np.arange(starts[features[0] + 1] - first[0])

    return [
        (features, conjugate, places(arrays.prior_start, features), places(arrays.statistic_start, features))
        for (conjugate, *_), features in groups.items()
    ]
