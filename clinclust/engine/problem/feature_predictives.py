"""The log predictive of every single value under every cluster, of which the score of a subject is the sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clinclust.engine.problem.posterior import Clusters

__all__ = ["log_predictives"]

Array = NDArray[np.float64]


def log_predictives(clusters: Clusters, values: Mapping[str, Array]) -> Array:
    """Return ln p(x_d | cluster k) of new subjects, float64 (D, n, K + 1); 0 where a value is missing.

    Features are in the order of `Encoding.features`; the last cluster is the empty one. With A the log normaliser of
    the conjugate prior and theta_k the posterior of the cluster, it is A(theta_k + T(x)) - A(theta_k) + ln h(x) on the
    encoded scale; the Jacobian of the standardisation is the same in all clusters, and is left out.

    Where values may be outlying, it is the mixture with the prior predictive, as in `Clusters.scores`.

    Parameters
    ----------
    clusters : Clusters
    values : mapping
        Columns of `model_values`, float64 (n,) each.
    """
    encoding, found = clusters.encoding, []
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        column = (values[feature.name] - encoding.centres[index]) / encoding.scales[index]
        posteriors = clusters.posteriors(index)
        prior = likelihood.prior
        after = prior.posterior(posteriors[None, :, :], likelihood.statistics(column)[:, None, :])
        rise = prior.log_normalizer(after) - prior.log_normalizer(posteriors)[None, :]
        logs = rise + likelihood.log_base_measure(column, posteriors[-1])[:, None]
        if clusters.outlying_share > 0.0:
            share = clusters.outlying_share
            logs = np.logaddexp(np.log1p(-share) + logs, np.log(share) + logs[:, -1:])
        found.append(np.where(np.isnan(column)[:, None], 0.0, logs))
    return np.array(found)
