"""Hyperparameters that the values in the clusters contradict, such as a dispersion taken from all subjects together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clinclust.engine.joint_estimates.likelihoods_in_clusters import ClusterTree, log_marginals_in_tree
from clinclust.engine.problem.encoding import model_values

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.fit import Fit

__all__ = ["better_priors"]

_CLEAR = 5.0
"""Nats by which another value must describe the clusters better."""


def better_priors(fit: Fit, cohort: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return hyperparameters that describe the values in the clusters clearly better, by feature.

    Only those that `Likelihood.compared_hyperparameters` varies are looked at: those that must be known in clusters,
    and whose default, taken from all subjects together, holds the differences between clusters too.

    Parameters
    ----------
    fit : Fit
    cohort : DataFrame, N rows
        As `cohort_of` returns it.
    """
    clusters = fit.clusters_
    tree = ClusterTree(clusters, fit.tree_.joins, fit.tree_.evidence)
    values = model_values(cohort, clusters.encoding.features)
    found = {}
    features, likelihoods = clusters.encoding.features, clusters.encoding.likelihoods
    for feature, likelihood, place in zip(features, likelihoods, fit.schema_.places(features), strict=True):
        column = values[feature.name]
        kept = ~np.isnan(column) & ~fit.outliers_[:, place]
        tried = likelihood.compared_hyperparameters(column[kept])
        if len(tried) < 2:
            continue
        own = fit.hyperparameters_[feature.name]
        names = likelihood.hyperparameter_names
        priors = np.vstack([[own[name] for name in names], tried])
        of_nodes = log_marginals_in_tree(likelihood, column[kept], fit.cluster_labels_[kept], tree, priors)
        evidence = of_nodes[:, : tree.n_clusters].sum(axis=1)
        best = int(evidence.argmax())
        if evidence[best] - evidence[0] >= _CLEAR:
            # The others follow: they say where the values lie.
            stated = {name: float(f"{value:.2g}") for name, value in zip(names, priors[best], strict=True)}
            found[feature.column] = {name: value for name, value in stated.items() if name in likelihood.bounds}
    return found
