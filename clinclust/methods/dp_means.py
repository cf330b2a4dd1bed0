"""DPMeans: K-means with a penalty for each cluster, the limit of a Dirichlet process mixture of small variance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from clinclust.arrays import Array, Labels, RandomState
from clinclust.engine.search.labels import compact
from clinclust.methods.method import Clustered, Method

if TYPE_CHECKING:
    from clinclust.methods.encoded import Encoded
    from clinclust.schema import FeatureSchema


@dataclass(eq=False, repr=False)
class DPMeans(Method):
    """DP-means (Kulis and Jordan 2012, ICML, Algorithm 1): hard clusters, whose number follows from a penalty.

    It minimises, over partitions of all sizes K,

        sum_k sum_(i in k) |x_i - mu_k|^2 + penalty * K,

    where mu_k is the mean of cluster k: the limit of a Dirichlet process mixture of spherical Gaussians whose variance
    goes to 0. A subject that is farther from all means than the penalty (in squared distance) begins a cluster.

    Parameters
    ----------
    schema, random_state
        As in `MAPDP`.
    penalty : float, optional
        The penalty, a squared distance of standardised columns. Give this or `n_clusters`.
    n_clusters : int, optional
        About how many clusters are wished: the penalty is set by the farthest-first heuristic of the paper.
    n_restarts : int
        Number of runs, the first in the order of the table and others in random ones. That with the lowest objective is
        kept.

    Attributes
    ----------
    penalty_ : float
    objective_ : float
    objective_trace_ : float64 (T,)
        The objective before the first iteration and after each one. It never rises (theorem 3.1).

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> X = np.random.default_rng(1).normal(np.repeat([[0], [9]], [60, 40], axis=0), 1, (100, 4))
    >>> methods.DPMeans(n_clusters=2, random_state=0).fit(X).cluster_sizes_.tolist()
    [60, 40]
    """

    schema: FeatureSchema | None = None
    _: KW_ONLY
    penalty: float | None = None
    n_clusters: int | None = None
    n_restarts: int = 10
    random_state: RandomState = None

    penalty_: float = field(init=False)
    objective_: float = field(init=False)
    objective_trace_: Array = field(init=False)

    _either = (("penalty", "n_clusters"),)

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        penalty = self.penalty if self.n_clusters is None else penalty_for(table.values, self.n_clusters)
        assert penalty is not None  # see `_either`
        orders = orders_of(len(table.values), self.n_restarts, seed)
        best = min((dp_means(table.values, float(penalty), one) for one in orders), key=lambda run: run.trace[-1])
        facts = {"penalty_": float(penalty), "objective_": float(best.trace[-1]), "objective_trace_": best.trace}
        return Clustered(best.labels, facts=facts)

    def _kept_for_refits(self) -> dict[str, Any]:
        # Asked as before: at the penalty set for the whole cohort, hardly a subject of a half-sample leaves its mean.
        return {}

    def _made_by(self) -> str:
        wished = "" if self.n_clusters is None else f", set for about {self.n_clusters} clusters"
        return f"DP-means with a penalty of {self.penalty_:.4g} for each cluster{wished}"


def orders_of(n_subjects: int, n_restarts: int, seed: int) -> list[NDArray[np.int64] | None]:
    """Return the order of the subjects in each run: None for that of the table, then random ones."""
    rng = np.random.default_rng(seed)
    return [None, *(rng.permutation(n_subjects) for _ in range(n_restarts - 1))]


class Run(NamedTuple):
    """One run of DP-means, of the hard HDP, or of the normalised cut."""

    labels: Labels
    """Cluster of each subject, int64 (N,), 0 .. K - 1."""
    trace: Array
    """The objective before the first iteration and after each one, float64 (T,)."""


def alternated(
    values: Array, moved: Callable[[Labels, Array], Labels], objective: Callable[[Labels, Array], float]
) -> Run:
    """Move subjects of `values`, (N, C), and set the means, (K, C), in turns until the objective rests."""
    labels, means = np.zeros(len(values), dtype=np.int64), values.mean(axis=0, keepdims=True)
    trace = [objective(labels, means)]
    while True:
        found = moved(labels, means)
        found_means = means_of(values, found)
        value = objective(found, found_means)
        # Compared as partitions. The objective guards against rounding, by which equal partitions could alternate.
        if np.array_equal(found, labels) or value >= trace[-1]:
            return Run(labels, np.array(trace))
        labels, means = found, found_means
        trace.append(value)


def means_of(values: Array, labels: Labels) -> Array:
    """Return the mean of each cluster 0 .. K - 1, none empty, of values (N, C), float64 (K, C)."""
    return np.stack([values[labels == cluster].mean(axis=0) for cluster in range(int(labels.max()) + 1)])


def dp_means(values: Array, penalty: float, order: Labels | None = None) -> Run:
    """Run DP-means on values (N, C), with subjects assigned in an order, int64 (N,); by default 0 .. N - 1."""
    if order is not None:
        run = dp_means(values[order], penalty)
        return Run(run.labels[np.argsort(order)], run.trace)
    return alternated(
        values,
        lambda labels, means: compact(_assigned(values, means, penalty)),
        lambda labels, means: _objective(values, labels, means, penalty),
    )


def _assigned(values: Array, means: Array, penalty: float) -> Labels:
    """Assign each subject in turn to its nearest mean, or to a new one where all are farther than the penalty.

    No distance depends on a later subject. So all are assigned at once, and those after each new mean are compared with
    it.
    """
    distances = squared_distances(values, means)
    labels: Labels = distances.argmin(axis=1)
    nearest = distances.min(axis=1)
    n_means, place = len(means), 0
    while True:
        far = np.flatnonzero(nearest[place:] > penalty)
        if not far.size:
            return labels
        place += int(far[0])
        rest = slice(place, None)
        to_new = squared_distances(values[rest], values[place : place + 1])[:, 0]
        labels[rest] = np.where(to_new < nearest[rest], n_means, labels[rest])
        nearest[rest] = np.minimum(to_new, nearest[rest])
        n_means += 1
        place += 1


def penalised_sum(values: Array, labels: Labels, penalty: float) -> float:
    """Return the objective of equation (1) of the paper, for clusters 0 .. K - 1 of values (N, C), none empty."""
    return _objective(values, labels, means_of(values, labels), penalty)


def _objective(values: Array, labels: Labels, means: Array, penalty: float) -> float:
    return float(((values - means[labels]) ** 2).sum() + penalty * len(means))


def squared_distances(values: Array, centres: Array) -> Array:
    """Return the squared Euclidean distance of each row (N, C) from each centre (K, C), float64 (N, K)."""
    return cdist(values, centres, "sqeuclidean")


def penalty_for(values: Array, n_clusters: int, groups: Labels | None = None) -> float:
    """Return the penalty for about `n_clusters` of values (N, C), by the farthest-first heuristic of section 6.1.

    With groups, 0 .. J - 1, for the global penalty of the hard HDP, the distance of a group from the chosen subjects is
    the sum of those of its subjects, and the farthest subject of the farthest group is added (of which the paper says
    nothing).
    """
    groups = np.arange(len(values)) if groups is None else groups
    nearest = ((values - values.mean(axis=0)) ** 2).sum(axis=1)
    farthest = 0.0
    for _ in range(n_clusters):
        of_groups = np.bincount(groups, weights=nearest)
        group = int(of_groups.argmax())
        farthest = float(of_groups[group])
        members = np.flatnonzero(groups == group)
        added = members[nearest[members].argmax()]
        nearest = np.minimum(nearest, ((values - values[added]) ** 2).sum(axis=1))
    return farthest
