"""The collapsed log joint, the one quantity everything else raises, and what it says of each feature.

    ln p(X_obs, z) = ln CRP(z) + sum_k sum_d ln m_d(observed values of feature d in cluster k)
    ln CRP(z)      = K ln N0 + sum_k ln Gamma(n_k) + ln Gamma(N0) - ln Gamma(N0 + N)

The papers stop on a different quantity, a sum of leave-one-out predictives (Raykov et al. 2016, eq. 12), which moves
that raise the joint can worsen; it is here as `leave_one_out_nll`, for reproduction only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from clinclust.priors import beta, dirichlet, gamma, normal_gamma

if TYPE_CHECKING:
    from clinclust.engine.encoding import CohortArrays, EncodedCohort

__all__ = ["feature_relevance", "leave_one_out_nll", "log_crp", "log_joint", "log_marginals"]

Array = NDArray[np.float64]


def log_crp(sizes: Array, concentration: float) -> float:
    """Return the log probability of a partition with these cluster sizes under the Chinese restaurant process."""
    n_subjects = float(sizes.sum())
    return float(
        sizes.size * np.log(concentration)
        + gammaln(sizes).sum()
        + gammaln(concentration)
        - gammaln(concentration + n_subjects)
    )


def log_marginals(cohort: CohortArrays, prior: Array, statistics: Array) -> Array:
    """Return A(posterior) - A(prior) of every cluster and feature, shape (K, D), of statistics of shape (K, S).

    The log base measures are left out: they are the same for every partition (`EncodedCohort.log_base`).
    """
    n_clusters = statistics.shape[0]
    marginals = np.zeros((n_clusters, int(cohort.family_stop[-1])))
    # One prior after the other, all its features at once; the layout keeps them side by side.
    bounds = np.concatenate([[0], cohort.family_stop])
    for family, module in enumerate((beta, gamma, dirichlet, gamma, normal_gamma)):
        first, last = bounds[family], bounds[family + 1]
        if module is dirichlet:
            for feature in range(first, last):  # features differ in their number of levels
                theta = prior[cohort.prior_start[feature] : cohort.prior_start[feature + 1]]
                counts = statistics[:, cohort.statistic_start[feature] : cohort.statistic_start[feature + 1]]
                marginals[:, feature] = dirichlet.log_normalizer(dirichlet.posterior(theta, counts))
                marginals[:, feature] -= dirichlet.log_normalizer(theta)
        elif first < last:
            theta = prior[cohort.prior_start[first] : cohort.prior_start[last]].reshape(last - first, -1)
            sums = statistics[:, cohort.statistic_start[first] : cohort.statistic_start[last]]
            sums = sums.reshape(n_clusters, last - first, -1)
            marginals[:, first:last] = module.log_normalizer(module.posterior(theta, sums))
            marginals[:, first:last] -= module.log_normalizer(theta)
    return marginals


def log_joint(
    cohort: EncodedCohort, prior: Array, concentration: float, sizes: Array, statistics: Array
) -> float:
    """Return ln p(X_obs, z), all constants included, from sizes (K,) and statistics (K, S)."""
    marginals = log_marginals(cohort.arrays, prior, statistics)
    return log_crp(sizes, concentration) + float(marginals.sum()) + cohort.log_base


def feature_relevance(cohort: EncodedCohort, prior: Array, statistics: Array) -> Array:
    """Return, in nats and for each feature, the evidence that it differs between the clusters, shape (D,).

    R_d = sum_k ln m_d(values in cluster k) - ln m_d(all values together); below 0 the data prefer one distribution.
    """
    apart = log_marginals(cohort.arrays, prior, statistics).sum(axis=0)
    together = log_marginals(cohort.arrays, prior, statistics.sum(axis=0, keepdims=True))[0]
    return np.asarray(apart - together, dtype=np.float64)


def leave_one_out_nll(own_log_predictives: Array, sizes: Array, concentration: float) -> float:
    """Return the papers' E (Raykov et al. 2016, eq. 12), C(N0, N) included; for reproduction only.

    Parameters
    ----------
    own_log_predictives : float64 (N,)
        ln p(x_i | own cluster without i).
    sizes : float64 (K,)
    concentration : float
    """
    return -float(own_log_predictives.sum()) - log_crp(sizes, concentration)
