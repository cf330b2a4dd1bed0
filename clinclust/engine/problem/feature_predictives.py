"""The log predictive of every single value under one cluster, of which the score of a subject is the sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clinclust.engine.problem.posterior import Clusters
    from clinclust.likelihoods.likelihood import Likelihood

__all__ = ["log_predictives"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def log_predictives(
    clusters: Clusters, values: Mapping[str, Array], labels: Labels, left_out: NDArray[np.bool_] | None = None
) -> Array:
    """Return ln p(x_d | a cluster) of subjects, float64 (D, n); 0 where a value is missing.

    Features are in the order of `Encoding.features`. With A the log normaliser of the conjugate prior and theta_k the
    posterior of the cluster, it is A(theta_k + T(x)) - A(theta_k) + ln h(x) on the encoded scale; the Jacobian of the
    standardisation is the same in all clusters, and is left out.

    Where values may be outlying, it is the mixture with the prior predictive, as in `Clusters.scores`.

    Parameters
    ----------
    clusters : Clusters
    values : mapping
        Columns of `model_values`, float64 (n,) each.
    labels : int64 (n,)
        The cluster under which each subject is judged; K is the empty one.
    left_out : bool (D, n), optional
        The values to take from the statistics of that cluster first, because these hold them: the cluster then judges
        a value by all others.
    """
    encoding, found = clusters.encoding, []
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        before = encoding.features[index - likelihood.n_before : index]
        centres, scales = encoding.standards_of(index, likelihood.n_before)
        columns = (np.column_stack([values[one.name] for one in (*before, feature)]) - centres) / scales
        # Given features one of which is missing, the value takes no part.
        column = np.where(np.isnan(columns).any(axis=1), np.nan, columns[:, -1])
        theta, sums = clusters.factor_of(index)
        held = np.vstack([sums, np.zeros(sums.shape[1])])[labels]
        # Of a feature that is the same in all clusters, one value of N counts for nothing, and in every cluster alike.
        if left_out is not None and clusters.included[index]:
            held -= likelihood.statistics_of_block(columns) * left_out[index][:, None]
        logs = _logs(likelihood, columns, likelihood.prior.posterior(theta[None, :], held), theta)
        if clusters.outlying_share > 0.0 and not likelihood.is_chained:
            share = clusters.outlying_share
            of_prior = _logs(likelihood, columns, theta[None, :], theta)
            logs = np.logaddexp(np.log1p(-share) + logs, np.log(share) + of_prior)
        found.append(np.where(np.isnan(column), 0.0, logs))
    return np.array(found).reshape(len(found), labels.size)


def _logs(likelihood: Likelihood, values: Array, posteriors: Array, theta: Array) -> Array:
    """Return the log predictives of values (n, l + 1), the feature's own last, under posteriors (n, P) or (1, P).

    `theta` (P,) is the prior.
    """
    prior = likelihood.prior
    after = prior.posterior(posteriors, likelihood.statistics_of_block(values))
    rise: Array = prior.log_normalizer(after) - prior.log_normalizer(posteriors)
    return rise + likelihood.log_base_measure(values[:, -1], theta)
