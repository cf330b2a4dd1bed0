"""The collapsed log joint, which is the objective of every search, and the relevance of each feature.

    ln p(X_obs, z) = ln p(z) + coarsening * sum_d power_d sum_k ln m_d(observed values of feature d in cluster k)
    ln p(z)        = sum_{j<K} ln(N0 + j discount) + sum_k [ln Gamma(n_k - discount) - ln Gamma(1 - discount)]
                     + ln Gamma(N0) - ln Gamma(N0 + N)

With discount 0 the prior is the Chinese restaurant process of the papers. The power of a feature is below 1 where it
shares its information with other features of its block.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from clinclust.arrays import Array, Labels
from clinclust.engine.kernels.partition import CohortArrays, Partition, add_up, log_marginals
from clinclust.priors.conjugate import log_gamma_ratio

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem


def log_joint(problem: Problem, partition: Partition) -> float:
    """Return ln p(X_obs, z) of a partition, in nats, with the powers of the model and all constants."""
    k = int(partition.n_clusters[0])
    return joint_of_sums(problem, partition.sizes[:k], partition.statistics[:k])


def joint_of(problem: Problem, labels: Labels) -> float:
    """Return the log joint of the partition with these labels, 0 .. K - 1, int64 (N,), in nats."""
    arrays, n_clusters = problem.cohort.arrays, int(labels.max()) + 1
    sizes, statistics = np.zeros(n_clusters), np.zeros((n_clusters, int(arrays.statistic_start[-1])))
    add_up(arrays, np.ascontiguousarray(labels, dtype=np.int64), sizes, statistics)
    return joint_of_sums(problem, sizes, statistics)


def joint_of_sums(problem: Problem, sizes: Array, statistics: Array) -> float:
    """Return the log joint of clusters with these sizes (K,) and statistics (K, S), in nats."""
    model = problem.model
    marginals = log_marginals(problem.cohort.arrays, model.prior, statistics)
    log_likelihood = float((marginals * model.powers).sum()) + problem.cohort.log_base
    return log_crp(sizes, model.concentration, model.discount) + model.coarsening * log_likelihood


def log_crp(sizes: Array, concentration: float, discount: float = 0.0) -> float:
    """Return the log probability of a partition with these cluster sizes (K,) under the Chinese restaurant process.

    With a discount above 0 it is the two-parameter process (Pitman 1995), the partition law of a Pitman-Yor process.
    """
    return float(
        np.log(concentration + discount * np.arange(sizes.size)).sum()
        + (gammaln(sizes - discount) - gammaln(1.0 - discount)).sum()
        - _log_of_all(concentration, float(sizes.sum()))
    )


@lru_cache
def _log_of_all(concentration: float, n_subjects: float) -> float:
    return float(log_gamma_ratio(concentration, n_subjects))


def feature_relevance(problem: Problem, partition: Partition) -> Array:
    """Return the evidence that each encoded feature differs between the clusters, in nats, float64 (D,).

    R_d = sum_k ln m_d(values in cluster k) - ln m_d(all values together), without coarsening and block weights.
    Below 0, the data favour one distribution for all clusters.
    """
    statistics = partition.statistics[: int(partition.n_clusters[0])]
    return relevance_of(problem.cohort.arrays, problem.model.prior, statistics)


def relevance_of(arrays: CohortArrays, prior: Array, statistics: Array) -> Array:
    """Return the `feature_relevance` of clusters with these statistics, float64 (K, S); no subject is needed."""
    apart = log_marginals(arrays, prior, statistics).sum(axis=0)
    together = log_marginals(arrays, prior, statistics.sum(axis=0, keepdims=True))[0]
    return np.asarray(apart - together, dtype=np.float64)


def leave_one_out_nll(problem: Problem, partition: Partition, scores: Array) -> float:
    """Return the papers' objective E (Raykov et al. 2016, eq. 12), including C(N0, N); for reproduction only.

    It is a sum of leave-one-out predictives, from the `leave_one_out_scores` (N, K) of a problem without block
    weights; a move that raises the log joint can worsen it.
    """
    labels, sizes, model = partition.labels, partition.sizes[: int(partition.n_clusters[0])], problem.model
    others = sizes[labels] - 1.0
    new = model.concentration + model.discount * (sizes.size - 1)
    weights = np.log(np.where(others > 0.0, others - model.discount, new))
    densities = (scores[np.arange(labels.size), labels] - weights) / model.coarsening
    densities += problem.cohort.encoding.log_jacobian(problem.cohort.arrays)
    return -float(densities.sum()) - log_crp(sizes, model.concentration, model.discount)
