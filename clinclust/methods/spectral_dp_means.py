"""SpectralDPMeans: DP-means relaxed to eigenvectors, which bounds its objective from below."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clinclust.arrays import Array, Labels, RandomState
from clinclust.errors import InputError
from clinclust.methods.dp_means import penalised_sum
from clinclust.methods.method import Clustered, Method, needed, one_thread, seed_for_scikit_learn

if TYPE_CHECKING:
    from clinclust.methods.encoded import Encoded
    from clinclust.schema import FeatureSchema


@dataclass(eq=False, repr=False)
class SpectralDPMeans(Method):
    """Spectral relaxation of DP-means (Kulis and Jordan 2012, ICML, theorem 5.2): clusters from principal components.

    With Z the matrix of indicators, Y = Z (Z' Z)^(-1/2) and the kernel matrix K = X X', the objective of DP-means is tr
    K - tr Y' (K - penalty I) Y (lemma 5.1). Over all matrices with orthonormal columns instead of indicators, the
    eigenvectors of K with eigenvalues above the penalty maximise the last term (as for K-means: Zha et al. 2001, NIPS).
    The columns X have mean 0, and the constant vector, which is a combination of the columns of every Y, is an
    eigenvector with the eigenvalue 0. It is kept, so that the number of clusters is one more than the eigenvalues above
    the penalty, and

        bound = tr K + penalty - sum over eigenvalues e above the penalty of (e - penalty)

    is below the objective of every partition. K-means of the rows of Y gives the clusters, at most one more than
    columns.

    Parameters
    ----------
    schema, random_state
        As in `MAPDP`.
    penalty : float, optional
        The price of a cluster, in squared standard deviations. Give this or `n_clusters`.
    n_clusters : int, optional
        The number of clusters; the penalty is then the middle between the eigenvalues that this divides.
    n_restarts : int
        Starts of K-means.

    Attributes
    ----------
    penalty_ : float
    eigenvalues_ : float64 (E,)
        Those of K that are above 0, in falling order.
    objective_ : float
        The objective of `DPMeans` at the partition.
    bound_ : float
        No partition has a lower one.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> X = np.random.default_rng(1).normal(np.repeat([[0], [9]], [60, 40], axis=0), 1, (100, 4))
    >>> model = methods.SpectralDPMeans(penalty=50.0, random_state=0).fit(X)
    >>> model.cluster_sizes_.tolist(), bool(model.bound_ <= model.objective_)
    ([60, 40], True)
    """

    schema: FeatureSchema | None = None
    _: KW_ONLY
    penalty: float | None = None
    n_clusters: int | None = None
    n_restarts: int = 10
    random_state: RandomState = None

    penalty_: float = field(init=False)
    eigenvalues_: Array = field(init=False)
    objective_: float = field(init=False)
    bound_: float = field(init=False)

    _either = (("penalty", "n_clusters"),)

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        relaxed = relaxed_dp_means(table.values, self.penalty, self.n_clusters)
        n_clusters = relaxed.rows.shape[1] + 1
        weights = np.ones(len(table.values))
        labels = groups_of_rows(relaxed.rows, weights, n_clusters, int(self.n_restarts), seed, "SpectralDPMeans")
        facts = {"penalty_": relaxed.penalty, "eigenvalues_": relaxed.eigenvalues, "bound_": relaxed.bound}
        objective = penalised_sum(table.values, labels, relaxed.penalty)
        return Clustered(labels, facts=facts | {"objective_": objective})

    def _made_by(self) -> str:
        return (
            f"the spectral relaxation of DP-means with a penalty of {self.penalty_:.4g} for each cluster, which gave "
            f"{self._counted()}"
        )


class Relaxed(NamedTuple):
    """The best relaxed indicator."""

    rows: Array
    """Its columns but the constant one, float64 (N, E)."""
    penalty: float
    eigenvalues: Array
    """Of the kernel matrix, those above 0 in falling order."""
    bound: float
    """No partition has a lower objective."""


def relaxed_dp_means(values: Array, penalty: float | None, n_clusters: int | None) -> Relaxed:
    """Return the eigenvectors of X X' above the penalty, or so many that there are `n_clusters` with the constant one.

    X, (N, C), is centred first. Raises InputError if fewer eigenvalues are above 0 than `n_clusters` needs.
    """
    centred = values - values.mean(axis=0)
    vectors, singular, _ = np.linalg.svd(centred, full_matrices=False)
    eigenvalues = singular**2
    if penalty is None:
        assert n_clusters is not None  # see `SpectralDPMeans._either`
        penalty = _price_between(eigenvalues, n_clusters - 1)
    above = eigenvalues > penalty
    bound = float((centred**2).sum() + penalty - (eigenvalues[above] - penalty).sum())
    rank = eigenvalues > 1e-12 * max(float(eigenvalues[0]), 1e-300)
    return Relaxed(vectors[:, above], float(penalty), eigenvalues[rank], bound)


def _price_between(eigenvalues: Array, n_above: int) -> float:
    """Return the middle between two falling eigenvalues, so that a wished number of them is above it."""
    positive = eigenvalues[eigenvalues > 1e-12 * max(float(eigenvalues[0]), 1e-300)]
    if n_above > positive.size:
        raise InputError(f"n_clusters asks for {n_above} eigenvalues above 0, and there are {positive.size}")
    if n_above == 0:
        return float(2.0 * positive[0])
    following = positive[n_above] if n_above < positive.size else 0.0
    return float((positive[n_above - 1] + following) / 2.0)


def groups_of_rows(rows: Array, weights: Array, n_clusters: int, n_restarts: int, seed: int, method: str) -> Labels:
    """Return K-means clusters, without empty ones, of the rows of a relaxed indicator (N, E) with weights (N,)."""
    if n_clusters == 1:
        return np.zeros(len(rows), dtype=np.int64)
    cluster = needed("sklearn.cluster", method)
    with one_thread(method):
        found = cluster.KMeans(n_clusters, n_init=n_restarts, random_state=seed_for_scikit_learn(seed))
        labels = found.fit(rows, sample_weight=weights).labels_
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
