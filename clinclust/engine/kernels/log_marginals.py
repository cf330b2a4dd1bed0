"""The log marginals of every cluster and feature, of which the log joint is made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.compiled import flat, kernel
from clinclust.engine.kernels.arrays import CohortArrays
from clinclust.priors import beta, dirichlet, gamma, normal_gamma

__all__ = ["log_marginals"]

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

_beta, _gamma = beta.log_marginal, gamma.log_marginal
_dirichlet, _normal_gamma = dirichlet.log_marginal, normal_gamma.log_marginal


def log_marginals(cohort: CohortArrays, prior: Array, statistics: Array) -> Array:
    """Return A(posterior) - A(prior) of every cluster and feature, shape (K, D), of statistics of shape (K, S).

    The log base measures are left out: they are the same for every partition (`EncodedCohort.log_base`).
    """
    marginals = np.zeros((statistics.shape[0], int(cohort.family_stop[-1])))
    _fill_log_marginals(
        cohort.family_stop,
        cohort.prior_start,
        cohort.statistic_start,
        prior,
        np.ascontiguousarray(statistics),
        marginals,
    )
    return marginals


@kernel
def _fill_log_marginals(
    family_stop: Whole, prior_start: Whole, statistic_start: Whole, prior: Array, statistics: Array, marginals: Array
) -> None:
    stop, starts, places = flat(family_stop, 0), flat(prior_start, 0), flat(statistic_start, 0)
    for k in range(statistics.shape[0]):
        here, out = flat(statistics, k * statistics.shape[1]), flat(marginals, k * marginals.shape[1])
        for feature in range(stop[4]):
            theta, sums = flat(prior, starts[feature]), flat(here, places[feature])
            if feature < stop[0]:
                out[feature] = _beta(theta, sums)
            elif stop[1] <= feature < stop[2]:
                out[feature] = _dirichlet(theta, sums, starts[feature + 1] - starts[feature])
            elif feature < stop[3]:
                out[feature] = _gamma(theta, sums)
            else:
                out[feature] = _normal_gamma(theta, sums)
