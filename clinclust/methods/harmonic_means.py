"""KHarmonicMeans: K-means with the harmonic mean of the distances from all centres."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from clinclust.arrays import Array, RandomState
from clinclust.methods.dp_means import squared_distances
from clinclust.methods.method import AT_LEAST_ONE, Clustered, Method

if TYPE_CHECKING:
    from clinclust.methods.encoded import Encoded
    from clinclust.schema import FeatureSchema


_MOST_ITERATIONS = 1000
_LEAST_GAIN = 1e-9  # the last iteration is the first that lowers the objective by a smaller share


@dataclass(eq=False, repr=False)
class KHarmonicMeans(Method):
    """K-harmonic means (Zhang, Hsu and Dayal 1999, HP Labs HPL-1999-124): every subject pulls at every centre.

    It minimises, over K centres, the sum of the harmonic means of the squared distances,

        sum_i K / sum_k 1 / |x_i - c_k|^2,

    where the subjects that no centre is near count most, so that centres that start in one place spread. Each iteration
    sets c_k to the mean of all subjects with the weights 1 / (d_ik^4 (sum_l 1 / d_il^2)^2), where d_ik = |x_i - c_k|:
    the derivative of the objective is 0 there. The harmonic mean is a concave function of the squared distances, so
    that the objective never rises. The label of a subject is its nearest centre; empty clusters are left out.

    Parameters
    ----------
    schema, random_state
        As in `MAPDP`.
    n_clusters : int
        K.
    n_restarts : int
        Starts from K random subjects, of which the one with the lowest objective is kept.

    Attributes
    ----------
    centres_ : float64 (K, C)
        In the standardised columns, in the order of the labels.
    objective_ : float
    objective_trace_ : float64 (T,)
        The objective before the first iteration and after each one.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> X = np.random.default_rng(1).normal(np.repeat([[0], [9]], [60, 40], axis=0), 1, (100, 4))
    >>> methods.KHarmonicMeans(None, 2, random_state=0).fit(X).cluster_sizes_.tolist()
    [60, 40]
    """

    schema: FeatureSchema | None = None
    n_clusters: int | None = None
    _: KW_ONLY
    n_restarts: int = 10
    random_state: RandomState = None

    centres_: Array = field(init=False)
    objective_: float = field(init=False)
    objective_trace_: Array = field(init=False)

    _rules: ClassVar = MappingProxyType({"n_clusters": AT_LEAST_ONE})

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        assert self.n_clusters is not None  # see `_rules`
        rng = np.random.default_rng(seed)
        different = np.unique(table.values, axis=0)
        starts = [different[rng.choice(len(different), self.n_clusters, replace=False)] for _ in range(self.n_restarts)]
        best = min((harmonic_means(table.values, start) for start in starts), key=lambda run: run.trace[-1])
        labels = squared_distances(table.values, best.centres).argmin(axis=1).astype(np.int64)
        facts = {"objective_": float(best.trace[-1]), "objective_trace_": best.trace}
        return Clustered(labels, facts=facts, by_cluster={"centres_": best.centres})

    def _made_by(self) -> str:
        return f"K-harmonic means with {self._counted()}, a number given"


class Run(NamedTuple):
    """One run of K-harmonic means."""

    centres: Array
    """float64 (K, C)."""
    trace: Array
    """The objective before the first iteration and after each one, float64 (T,)."""


def harmonic_means(values: Array, centres: Array) -> Run:
    """Run K-harmonic means on values (N, C) from these centres (K, C), until the objective falls no more."""
    distances = squared_distances(values, centres)
    trace = [_objective(distances)]
    for _ in range(_MOST_ITERATIONS):
        weights = _weights(distances)
        totals = weights.sum(axis=0)
        # A centre that no subject pulls at, because all are on other ones, stays where it is.
        means = weights.T @ values / np.where(totals > 0.0, totals, 1.0)[:, None]
        moved = np.where(totals[:, None] > 0.0, means, centres)
        distances_moved = squared_distances(values, moved)
        objective = _objective(distances_moved)
        if objective >= trace[-1]:  # by rounding
            break
        gain = trace[-1] - objective
        centres, distances = moved, distances_moved
        trace.append(objective)
        if gain <= _LEAST_GAIN * objective:
            break
    return Run(centres, np.array(trace))


def _shares(distances: Array) -> tuple[Array, Array]:
    """Return the squared distance (N, 1) of the nearest centre, and its ratio to that of each centre, (N, K).

    All ratios lie from 0 to 1, also where a subject lies on a centre: there they are 1 or 0.
    """
    nearest = distances.min(axis=1, keepdims=True)
    is_nearest = distances == nearest
    return nearest, np.where(is_nearest, 1.0, nearest / np.where(is_nearest, 1.0, distances))


def _weights(distances: Array) -> Array:
    _, ratios = _shares(distances)
    return np.asarray((ratios / ratios.sum(axis=1, keepdims=True)) ** 2, dtype=np.float64)


def _objective(distances: Array) -> float:
    nearest, ratios = _shares(distances)
    return float((distances.shape[1] * nearest[:, 0] / ratios.sum(axis=1)).sum())
