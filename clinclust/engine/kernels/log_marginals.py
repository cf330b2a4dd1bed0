"""The log marginals of every cluster and feature. The log joint is their sum plus the log prior of the partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, kernel
from clinclust.engine.kernels.arrays import CohortArrays
from clinclust.engine.kernels.likelihood_kernels import log_marginal

__all__ = ["log_marginals"]

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


def log_marginals(cohort: CohortArrays, prior: Array, statistics: Array) -> Array:
    """Return A(posterior) - A(prior) of every cluster and feature, in nats, float64 (K, D).

    The log base measures are not included, because they are the same for every partition (`EncodedCohort.log_base`).

    Parameters
    ----------
    cohort : CohortArrays
    prior : float64 (H,)
        Hyperparameters of all features.
    statistics : float64 (K, S)
        Sufficient statistics of every cluster.
    """
    marginals = np.zeros((statistics.shape[0], cohort.kinds.size))
    _fill_log_marginals(
        cohort.kinds,
        cohort.prior_start,
        cohort.statistic_start,
        prior,
        np.ascontiguousarray(statistics),
        marginals,
    )
    return marginals


@kernel
def _fill_log_marginals(
    all_kinds: Whole, prior_start: Whole, statistic_start: Whole, prior: Array, statistics: Array, marginals: Array
) -> None:
    kinds, starts, places = flat(all_kinds, 0), flat(prior_start, 0), flat(statistic_start, 0)
    work = np.empty(3 * statistics.shape[1])
    for k in range(statistics.shape[0]):
        here, out = flat(statistics, k * statistics.shape[1]), flat(marginals, k * marginals.shape[1])
        for feature in range(all_kinds.shape[0]):
            theta, sums = flat(prior, starts[feature]), flat(here, places[feature])
            out[feature] = log_marginal(
                kinds[feature], theta, sums, places[feature + 1] - places[feature], flat(work, 0)
            )
