"""Hyperparameters that maximise the joint of a given partition: empirical Bayes, feature by feature.

Given a partition the features do not share hyperparameters, so each feature d has a problem of its own, with two
(beta, gamma), four (normal-gamma) or L (Dirichlet) unknowns:

    maximise over theta    coarsening * sum_k ln m_d(x_kd | theta) + ln hyperprior(theta)

All features that rest on the same prior are maximised at once. Raykov et al. (2016, appendix G.1) propose maximum
likelihood "by omitting the prior terms" of the updates; read literally, that gives a prior as strong as the whole
cohort. This is what empirical Bayes stands for instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.beside.hyperprior import Hyperprior, with_prior
from clinclust.engine.beside.newton import climb

if TYPE_CHECKING:
    from clinclust.engine.kernels.partition import Partition
    from clinclust.engine.problem.problem import Problem

__all__ = ["maximise_hyperparameters", "objective_by_feature"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Objective = Callable[[Array], tuple[Array, Array]]


def objective_by_feature(
    conjugate: ModuleType, hyperprior: Hyperprior, places: Places, statistics: Array, coarsening: float, offsets: Array
) -> tuple[Array, Array]:
    """Return each feature's share of the extended joint, constants aside, and its derivatives.

    Parameters
    ----------
    conjugate : module
        The prior of all these F features, from `clinclust.priors`.
    hyperprior : Hyperprior
    places : int64 (F, P)
        Where their hyperparameters lie in the flat prior.
    statistics : float64 (K, F, S)
        Theirs, in every cluster.
    coarsening : float
    offsets : float64 (F, P)
        Where to evaluate: `Hyperprior.offsets`.

    Returns
    -------
    values : float64 (F,)
        coarsening * sum_k [A(posterior_k) - A(prior)] - sum over P of offsets^2 / 2.
    gradients : float64 (F, P)
        By the offsets.
    """
    prior = hyperprior.prior_at(offsets, places)
    marginals = conjugate.log_normalizer(conjugate.posterior(prior, statistics)) - conjugate.log_normalizer(prior)
    slopes = conjugate.log_marginal_gradient(prior, statistics).sum(axis=0) * hyperprior.slopes(prior, places)
    values = coarsening * marginals.sum(axis=0) - 0.5 * (offsets**2).sum(axis=-1)
    return values, coarsening * slopes - offsets


def maximise_hyperparameters(problem: Problem, partition: Partition, hyperprior: Hyperprior) -> Problem:
    """Return the problem with the hyperparameters that suit a partition best; what is not free stays.

    The search begins at the present hyperparameters, and no feature's objective ends lower than it was.
    """
    sums = partition.statistics[: int(partition.n_clusters[0])]
    coarsening = problem.model.coarsening
    prior = problem.model.prior.copy()
    for features, conjugate, places, statistics_places in _features_by_prior(problem):
        statistics = sums[:, statistics_places]
        objective = partial(objective_by_feature, conjugate, hyperprior, places, statistics, coarsening)
        if problem.cohort.encoding.likelihoods[features[0]].base_depends_on_prior:
            objective = partial(_with_base_measures, objective, problem, features, hyperprior, places)
        free = hyperprior.free[places]
        offsets = climb(objective, hyperprior.offsets(prior[places], places), free)
        prior[places] = np.where(free, hyperprior.prior_at(offsets, places), prior[places])
    return with_prior(problem, prior)


def _with_base_measures(
    objective: Objective, problem: Problem, features: list[int], hyperprior: Hyperprior, places: Places, offsets: Array
) -> tuple[Array, Array]:
    """Return an objective and its derivatives with the log base measures, where these are functions of the prior."""
    values, gradients = objective(offsets)
    prior = hyperprior.prior_at(offsets, places)
    slopes = hyperprior.slopes(prior, places)
    coarsening, cohort = problem.model.coarsening, problem.cohort
    for row, feature in enumerate(features):
        likelihood, counts = cohort.encoding.likelihoods[feature], cohort.level_counts(feature).astype(np.float64)
        start, stop = cohort.arrays.level_start[feature : feature + 2]
        levels = cohort.arrays.level_values[start:stop]
        values[row] += coarsening * float((counts * likelihood.log_base_measure(levels, prior[row])).sum())
        gradients[row] += coarsening * likelihood.log_base_gradient(levels, counts, prior[row]) * slopes[row]
    return values, gradients


def _features_by_prior(problem: Problem) -> list[tuple[list[int], ModuleType, Places, Places]]:
    """Return the features of each prior, and where their hyperparameters (F, P) and statistics (F, S) lie."""
    arrays = problem.cohort.arrays
    groups: dict[tuple[ModuleType, int, int], list[int]] = {}
    for index, likelihood in enumerate(problem.cohort.encoding.likelihoods):
        shape = (likelihood.prior, likelihood.n_hyperparameters, likelihood.n_statistics)
        groups.setdefault(shape, []).append(index)

    def places(starts: Places, features: list[int]) -> Places:
        first = starts[features]
        return first[:, None] + np.arange(starts[features[0] + 1] - first[0])

    return [
        (features, conjugate, places(arrays.prior_start, features), places(arrays.statistic_start, features))
        for (conjugate, *_), features in groups.items()
    ]
