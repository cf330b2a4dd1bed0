"""KMeans: K-means++, with the number of clusters by the BIC of X-means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from clinclust.arrays import Array, Labels, RandomState
from clinclust.methods.dp_means import means_of
from clinclust.methods.method import needed, one_thread, seed_for_scikit_learn
from clinclust.methods.number_of_clusters import BIC, Candidate, NumberFound, separation

if TYPE_CHECKING:
    from clinclust.methods.encoded import Encoded
    from clinclust.schema import FeatureSchema


@dataclass(eq=False, repr=False)
class KMeans(NumberFound):
    """K-means with the starts of K-means++ (Arthur and Vassilvitskii 2007, SODA), through scikit-learn; K by BIC.

    It minimises sum_i |x_i - mu_(z_i)|^2 over partitions into K clusters. K is that with the lowest BIC = -2 log L + p
    log N of X-means (Pelleg and Moore 2000, ICML), with p = K C + K for C columns and

        log L = sum_k N_k log(N_k / N) - N C / 2 log(2 pi s^2) - C (N - K) / 2,
        s^2 = sum_i |x_i - mu_(z_i)|^2 / (C (N - K)),

    the likelihood of spherical Gaussians of one variance, in which each subject belongs to its cluster. (The paper
    leaves C out of s^2.) Columns of few different values are no Gaussians, and BIC tends to find too many clusters in
    them.

    Parameters
    ----------
    schema, random_state
        As in `MAPDP`.
    n_clusters : int, optional
        K; by default it is found by `choose_by`.
    max_clusters : int
        The largest K that is tried.
    choose_by : {"bic", "silhouette", "calinski_harabasz"}
        The criterion that chooses K. The last two are not defined for one cluster, so they find at least two.
    n_restarts : int
        Starts for each K, of which the one with the lowest sum of squares is kept.

    Attributes
    ----------
    sum_of_squares_ : float
        The minimised sum, within clusters.
    tried_ : DataFrame
        One row for each K that was tried, with its BIC, average silhouette width and Calinski-Harabasz index.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> X = np.random.default_rng(1).normal(np.repeat([[0], [9]], [60, 40], axis=0), 1, (100, 4))
    >>> methods.KMeans(random_state=0).fit(X).cluster_sizes_.tolist()
    [60, 40]
    """

    schema: FeatureSchema | None = None
    _: KW_ONLY
    n_clusters: int | None = None
    max_clusters: int = 10
    choose_by: str = BIC
    n_restarts: int = 10
    random_state: RandomState = None

    sum_of_squares_: float = field(init=False)

    def _candidates(self, table: Encoded, n_clusters: int, seed: int) -> Iterable[Candidate]:
        cluster = needed("sklearn.cluster", "KMeans")
        with one_thread("KMeans"):
            found = cluster.KMeans(
                n_clusters, init="k-means++", n_init=int(self.n_restarts), random_state=seed_for_scikit_learn(seed)
            ).fit(table.values)
        labels = found.labels_.astype(np.int64)
        yield Candidate(
            n_clusters=n_clusters,
            log_likelihood=spherical_log_likelihood(table.values, labels),
            n_parameters=n_clusters * table.values.shape[1] + n_clusters,
            labels=labels,
            facts={"sum_of_squares": float(found.inertia_), **separation(table.values, labels, seed)},
        )

    def _facts_of(self, chosen: Candidate) -> dict[str, Any]:
        return {"sum_of_squares_": chosen.facts["sum_of_squares"]}

    def _made_by(self) -> str:
        return f"K-means with {self._counted()}, {self._how_chosen()}"


def spherical_log_likelihood(values: Array, labels: Labels) -> float:
    """Return log L of the class description, in nats, of values (N, C) in clusters 0 .. K - 1, none empty."""
    sizes = np.bincount(labels).astype(np.float64)
    n_subjects, n_columns, n_clusters = *values.shape, sizes.size
    means = means_of(values, labels)
    freedom = n_columns * (n_subjects - n_clusters)
    variance = ((values - means[labels]) ** 2).sum() / freedom
    of_shares = float((sizes * np.log(sizes / n_subjects)).sum())
    return float(of_shares - n_subjects * n_columns / 2.0 * np.log(2.0 * np.pi * variance) - freedom / 2.0)
