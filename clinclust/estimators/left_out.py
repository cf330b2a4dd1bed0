"""What the clusters of a fit say of its own subjects, each judged by all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.predictives import log_predictives

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.engine.problem.posterior import Clusters
    from clinclust.estimators.fit import Fit

__all__ = ["held_values", "left_out_scores", "log_weights", "own_log_weights"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def left_out_scores(fit: Fit, cohort: pd.DataFrame) -> Array:
    """Return ln p(z = j) + ln p(x | cluster j) of the subjects of a fit, each left out of its own cluster.

    Parameters
    ----------
    fit : Fit
    cohort : DataFrame, N rows
        As `cohort_of` returns it.

    Returns
    -------
    float64 (N, J + 1)
        In nats, up to a constant for each subject; the last column is that of a new cluster. New subjects are judged in
        the same way (`Clusters.scores`), outlying values included, so that both can be compared. If a subject is alone
        in its cluster, the score of that cluster is the one of a new cluster.
    """
    clusters, labels = fit.clusters_, fit.cluster_labels_
    values = model_values(cohort, clusters.encoding.features)
    without = log_predictives(clusters, values, labels, held_values(fit))
    change = clusters.model.exponents @ (without - log_predictives(clusters, values, labels))
    change += own_log_weights(clusters, labels) - log_weights(clusters)[labels]
    scores = clusters.scores(values, coarsened=True)
    scores[np.arange(labels.size), labels] += change
    return scores


def held_values(fit: Fit) -> NDArray[np.bool_]:
    """Return which values the statistics of the clusters hold, bool (D, N): those that were not set aside."""
    places = fit.schema_.places(fit.clusters_.encoding.features)
    return np.asarray(~fit.outliers_[:, places].T)


def log_weights(clusters: Clusters) -> Array:
    """Return the log prior weight of each cluster and of a new one, up to a constant, float64 (J + 1,)."""
    model = clusters.model
    new = model.concentration + clusters.sizes.size * model.discount
    return np.asarray(np.log(np.append(clusters.sizes - model.discount, new)), dtype=np.float64)


def own_log_weights(clusters: Clusters, labels: Labels) -> Array:
    """Return the log prior weight of the cluster of each subject without it, float64 (N,): that of a new one if empty.

    The constant is that of `log_weights`.
    """
    model = clusters.model
    others = clusters.sizes[labels] - 1.0
    new = model.concentration + (clusters.sizes.size - 1) * model.discount
    return np.asarray(np.log(np.where(others > 0.0, others - model.discount, new)), dtype=np.float64)
