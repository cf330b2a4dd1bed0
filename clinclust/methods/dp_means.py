"""DPMeans: K-means with a penalty for each cluster, the limit of a Dirichlet process mixture of small variance."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.search.labels import compact
from clinclust.methods.encoded import encoded
from clinclust.methods.farthest_first import penalty_for, squared_distances
from clinclust.methods.method import Clustered, Given, Method
from clinclust.methods.rules import N_RESTARTS, PENALTY, WISHED, one_of_two, refuse_too_many

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema

__all__ = ["DPMeans", "dp_means", "penalised_sum"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


class DPMeans(Method):
    """DP-means (Kulis and Jordan 2012, Algorithm 1): hard clusters, whose number follows from a penalty.

    It minimises, over partitions of all sizes K,

        sum_k sum_(i in k) |x_i - mu_k|^2 + penalty * K,

    where mu_k is the mean of cluster k: the limit of a Dirichlet process mixture of spherical Gaussians whose variance
    goes to 0. A subject that is farther from all means than the penalty (in squared distance) begins a cluster. The
    columns are those of `clinclust.methods.encoded`: missing values are filled, and every column counts alike.

    Parameters
    ----------
    schema : FeatureSchema, optional
        As in `MAPDP`.
    penalty : float, optional
        The penalty, a squared distance of standardised columns. Give this or `n_clusters`.
    n_clusters : int, optional
        About how many clusters are wished: the penalty is set by the farthest-first heuristic of the paper. The number
        found can differ.
    n_restarts : int
        Number of runs, of which the one with the lowest objective is kept. The result depends on the order of the
        subjects: the first run takes that of the table, the others random ones.
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    penalty_ : float
    objective_ : float
    objective_trace_ : float64 (T,)
        The objective before the first iteration and after each one. It never rises (theorem 3.1).
    labels_, n_clusters_, cluster_sizes_, membership_, schema_, uninformative_, index_, prepared_, random_seed_ :
        As of `clinclust.methods.method.Method`; `membership_` is None.

    References
    ----------
    Kulis B, Jordan MI. Revisiting k-means: new algorithms via Bayesian nonparametrics. ICML 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> rng = np.random.default_rng(1)
    >>> X = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(9, 1, (40, 4))])
    >>> methods.DPMeans(n_clusters=2, random_state=0).fit(X).cluster_sizes_.tolist()
    [60, 40]
    """

    _rules = MappingProxyType({"penalty": PENALTY, "n_clusters": WISHED, "n_restarts": N_RESTARTS})

    penalty_: float
    objective_: float
    objective_trace_: Array

    def __init__(
        self,
        schema: FeatureSchema | None = None,
        *,
        penalty: float | None = None,
        n_clusters: int | None = None,
        n_restarts: int = 10,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.schema = schema
        self.penalty = penalty
        self.n_clusters = n_clusters
        self.n_restarts = n_restarts
        self.random_state = random_state

    def _problems(self) -> list[str]:
        return one_of_two("penalty", self.penalty, "n_clusters", self.n_clusters, "about how many clusters are wished")

    def _clustered(self, given: Given) -> Clustered:
        numbers = encoded(given.frame, given.features)
        penalty, n_subjects = self._penalty_of(numbers.values), len(numbers.values)
        rng = np.random.default_rng(given.seed)
        orders = [None, *(rng.permutation(n_subjects) for _ in range(self.n_restarts - 1))]
        best = min((dp_means(numbers.values, penalty, order) for order in orders), key=lambda run: run.trace[-1])
        facts = {"penalty_": penalty, "objective_": float(best.trace[-1]), "objective_trace_": best.trace}
        return Clustered(best.labels, numbers.prepared, facts=facts)

    def _penalty_of(self, values: Array) -> float:
        """Return the penalty that is given, or that of the heuristic for the wished number of clusters."""
        if self.penalty is not None:
            return float(self.penalty)
        assert self.n_clusters is not None  # see `_problems`
        refuse_too_many(self.n_clusters, values)
        return penalty_for(values, self.n_clusters)

    def _kept_for_refits(self) -> dict[str, Any]:
        # Asked as before: at the penalty set for the whole cohort, hardly a subject of a half-sample leaves its mean.
        return {}

    def _made_by(self, found: Clustered) -> str:
        wished = "" if self.n_clusters is None else f", set for about {self.n_clusters} clusters"
        return f"DP-means with a penalty of {self.penalty_:.4g} for each cluster{wished} ({found.prepared})"


class Run(NamedTuple):
    """One run of DP-means."""

    labels: Labels
    """Cluster of each subject, int64 (N,), 0 .. K - 1."""
    trace: Array
    """The objective before the first iteration and after each one, float64 (T,)."""


def dp_means(values: Array, penalty: float, order: NDArray[np.intp] | None = None) -> Run:
    """Run DP-means from one cluster, until no subject changes.

    Parameters
    ----------
    values : float64 (N, C)
    penalty : float
        At least 0.
    order : int (N,), optional
        The order in which subjects are assigned; by default 0 .. N - 1.
    """
    ordered = values if order is None else values[order]
    labels = np.zeros(len(values), dtype=np.int64)
    means = ordered.mean(axis=0, keepdims=True)
    trace = [_objective(ordered, labels, means, penalty)]
    while True:
        found = compact(_assigned(ordered, means, penalty))
        found_means = np.stack([ordered[found == cluster].mean(axis=0) for cluster in range(int(found.max()) + 1)])
        objective = _objective(ordered, found, found_means, penalty)
        # Compared as partitions. The objective guards against rounding, by which equal partitions could alternate.
        if np.array_equal(found, labels) or objective >= trace[-1]:
            break
        labels, means = found, found_means
        trace.append(objective)
    if order is not None:
        labels = labels[np.argsort(order)]
    return Run(labels, np.array(trace))


def _assigned(values: Array, means: Array, penalty: float) -> Labels:
    """Assign each subject in turn to its nearest mean, or to a new one where all are farther than the penalty.

    Nobody's distance depends on a later subject. So all are assigned at once, and after each new mean those that
    follow are compared with it.
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
    means = np.stack([values[labels == cluster].mean(axis=0) for cluster in range(int(labels.max()) + 1)])
    return _objective(values, labels, means, penalty)


def _objective(values: Array, labels: Labels, means: Array, penalty: float) -> float:
    """Return the objective of equation (1) of the paper."""
    return float(((values - means[labels]) ** 2).sum() + penalty * len(means))
