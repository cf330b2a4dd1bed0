"""The clusters of a relaxed indicator: eigenvectors in the place of the columns that say who is in a cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clinclust.methods.installed import needed, one_thread, seed_for_scikit_learn

__all__ = ["groups_of_rows"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


def groups_of_rows(rows: Array, weights: Array, n_clusters: int, n_restarts: int, seed: int, method: str) -> Labels:
    """Return K-means clusters of the rows of a relaxed indicator, int64 (N,), without numbers that nobody has.

    Parameters
    ----------
    rows : float64 (N, E)
    weights : float64 (N,)
    n_clusters, n_restarts, seed : int
    method : str
        Name of the method, for the error where scikit-learn is not installed.
    """
    if n_clusters == 1:
        return np.zeros(len(rows), dtype=np.int64)
    cluster = needed("sklearn.cluster", method)
    with one_thread(method):
        found = cluster.KMeans(n_clusters, n_init=n_restarts, random_state=seed_for_scikit_learn(seed))
        labels = found.fit(rows, sample_weight=weights).labels_
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
