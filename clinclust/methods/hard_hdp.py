"""HardHDP: DP-means of several centres at once, which share clusters."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.errors import InputError
from clinclust.estimators.parameters import Rule
from clinclust.methods.encoded import encoded
from clinclust.methods.farthest_first import penalty_for, penalty_for_groups, squared_distances
from clinclust.methods.method import Clustered, Given, Method
from clinclust.methods.rules import N_RESTARTS, PENALTY, WISHED, one_of_two
from clinclust.schema import FeatureSchema

__all__ = ["HardHDP", "hard_hdp"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_A_NAME = Rule("the name of a column", lambda value: isinstance(value, str) and bool(value))


class HardHDP(Method):
    """Hard Gaussian hierarchical Dirichlet process (Kulis and Jordan 2012, Algorithm 2), for several centres at once.

    Each centre has local clusters, and each of these belongs to a global one, which several centres may share. With g
    global clusters with the means c_p, and k local ones in all, it lowers

        sum over p and its members x of |x - c_p|^2, plus local_penalty * k plus global_penalty * g (eq. 2)

    in turns: every subject moves to the nearest mean, one that its centre does not use yet costing the local penalty
    more, or opens a cluster if all cost more than both penalties together; every local cluster moves to the global
    cluster that serves it best, or opens one; each mean becomes that of its members. It begins with one cluster. The
    result depends on the order of subjects, and on how features are scaled: they are standardised. Few large centres
    can stay one cluster where two would have a lower objective: a subject opens one only if it alone pays for it.

    Parameters
    ----------
    schema : FeatureSchema, optional
        As in `MAPDP`.
    centre : str
        The column that names the centre of each subject, none missing. It is not clustered on.
    local_penalty, global_penalty : float, optional
        The prices of a local and of a global cluster, in squared standard deviations, above 0.
    n_local : int, optional
        About how many clusters are wished in each centre: the local penalty is then the mean over centres of what
        farthest-first gives for it (`DPMeans`).
    n_clusters : int, optional
        About how many global clusters are wished: the global penalty is then what farthest-first gives for centres,
        with the sum of the squared distances of its subjects as the distance of a centre; the farthest subject of the
        farthest centre is added in each round (section 6 of the paper, where it is not said what is added).
    n_restarts : int
        Number of runs, of which the one with the lowest objective is kept: the first takes the subjects in the order of
        the table, the others in random ones.
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    n_local_ : Series
        Number of clusters of each centre, by its name.
    local_penalty_, global_penalty_ : float
        The penalties that were used.
    objective_trace_ : float64 (T,)
        Eq. 2 before the first round and after each; it never rises.
    labels_, n_clusters_, cluster_sizes_, schema_, uninformative_, index_, prepared_, random_seed_, made_by :
        As of `clinclust.methods.method.Method`; the clusters are the global ones.

    References
    ----------
    Kulis B, Jordan MI. Revisiting k-means: new algorithms via Bayesian nonparametrics. ICML 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import clinclust as cc
    >>> from clinclust import methods
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"x": np.r_[rng.normal(0, 1, 60), rng.normal(9, 1, 40)], "hospital": ["A", "B"] * 50})
    >>> schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")])
    >>> model = methods.HardHDP(schema, centre="hospital", local_penalty=0.5, global_penalty=2.0).fit(frame)
    >>> model.n_local_.tolist()
    [2, 2]
    """

    _rules = MappingProxyType(
        {
            "centre": _A_NAME,
            "local_penalty": PENALTY,
            "global_penalty": PENALTY,
            "n_local": WISHED,
            "n_clusters": WISHED,
            "n_restarts": N_RESTARTS,
        }
    )

    n_local_: pd.Series[int]
    local_penalty_: float
    global_penalty_: float
    objective_trace_: Array

    def __init__(
        self,
        schema: FeatureSchema | None = None,
        *,
        centre: str = "centre",
        local_penalty: float | None = None,
        global_penalty: float | None = None,
        n_local: int | None = None,
        n_clusters: int | None = None,
        n_restarts: int = 10,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.schema = schema
        self.centre = centre
        self.local_penalty = local_penalty
        self.global_penalty = global_penalty
        self.n_local = n_local
        self.n_clusters = n_clusters
        self.n_restarts = n_restarts
        self.random_state = random_state

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Find the clusters of the centres; see `Method.fit`. `X` is a DataFrame with the column `centre`.

        Raises
        ------
        ValueError
            Also if there is no such column, a centre is missing, or the column is one to cluster on.
        """
        if not isinstance(X, pd.DataFrame) or list(X.columns).count(self.centre) != 1:
            raise InputError(f"X must be a DataFrame with one column {self.centre!r}, which names the centres")
        if self.schema is not None and self.centre in [feature.name for feature in self.schema.clustered]:
            raise InputError(f"{self.centre!r} names the centres, and cannot be clustered on: give it another role")
        codes, names = pd.factorize(X[self.centre], sort=True)
        if (codes < 0).any():
            raise InputError(f"{self.centre!r}: the centre of {int((codes < 0).sum())} subject(s) is missing")
        self._centres = codes.astype(np.int64), names
        is_described = self.schema is not None and self.centre in self.schema
        return super().fit(X if is_described else X.drop(columns=[self.centre]))

    def _problems(self) -> list[str]:
        what = "about how many clusters are wished"
        return [
            *one_of_two("local_penalty", self.local_penalty, "n_local", self.n_local, what),
            *one_of_two("global_penalty", self.global_penalty, "n_clusters", self.n_clusters, what),
        ]

    def _clustered(self, given: Given) -> Clustered:
        numbers, (centres, names) = encoded(given.frame, given.features), self._centres
        values: Array = numbers.values  # noqa: PD011
        parts = [values[centres == centre] for centre in range(len(names))]
        local, whole = self.local_penalty, self.global_penalty
        if self.n_local is not None:
            local = float(np.mean([penalty_for(part, self.n_local) for part in parts]))
        if self.n_clusters is not None:
            whole = penalty_for_groups(values, centres, self.n_clusters)
        assert local is not None  # see `_problems`
        assert whole is not None
        rng = np.random.default_rng(given.seed)
        orders = [None, *(rng.permutation(len(values)) for _ in range(self.n_restarts - 1))]
        runs = (hard_hdp(values, centres, float(local), float(whole), order) for order in orders)
        found = min(runs, key=lambda run: run.trace[-1])
        n_local = [np.unique(found.labels[centres == centre]).size for centre in range(len(names))]
        facts: dict[str, Any] = {
            "local_penalty_": float(local),
            "global_penalty_": float(whole),
            "objective_trace_": found.trace,
            "n_local_": pd.Series(n_local, index=pd.Index(names, name=self.centre), name="n_local"),
        }
        return Clustered(found.labels, numbers.prepared, facts=facts)

    def _kept_for_refits(self) -> dict[str, Any]:
        # Asked as before, as `DPMeans` is.
        return {}

    def _made_by(self, found: Clustered) -> str:
        return (
            f"the hard Gaussian HDP of the centres in {self.centre}, with penalties of {self.local_penalty_:.4g} for "
            f"each cluster of a centre and {self.global_penalty_:.4g} for each cluster ({found.prepared})"
        )


class Run(NamedTuple):
    """One run of the hard Gaussian HDP."""

    labels: Labels
    """Global cluster of each subject, int64 (N,), 0 .. g - 1."""
    trace: Array
    """The objective before the first round and after each one, float64 (T,)."""


def hard_hdp(
    values: Array,
    centres: Labels,
    local_penalty: float,
    global_penalty: float,
    order: NDArray[np.intp] | None = None,
) -> Run:
    """Run the hard Gaussian HDP from one cluster, until the objective falls no more.

    Parameters
    ----------
    values : float64 (N, C)
    centres : int64 (N,)
        Centre of each subject, 0 .. J - 1, none empty.
    local_penalty, global_penalty : float
        At least 0.
    order : int (N,), optional
        The order in which subjects move; by default 0 .. N - 1.
    """
    if order is not None:
        run = hard_hdp(values[order], centres[order], local_penalty, global_penalty)
        return Run(run.labels[np.argsort(order)], run.trace)
    prices = local_penalty, global_penalty
    labels, means = np.zeros(len(values), dtype=np.int64), values.mean(axis=0, keepdims=True)
    trace = [_objective(values, centres, labels, means, *prices)]
    while True:
        moved, moved_means = _subjects_moved(values, centres, labels, means, *prices)
        moved, moved_means = _clusters_moved(values, centres, moved, moved_means, global_penalty)
        moved = np.unique(moved, return_inverse=True)[1].astype(np.int64)
        moved_means = np.stack([values[moved == cluster].mean(axis=0) for cluster in range(int(moved.max()) + 1)])
        objective = _objective(values, centres, moved, moved_means, *prices)
        if np.array_equal(moved, labels) or objective >= trace[-1]:  # the latter by rounding
            return Run(labels, np.array(trace))
        labels, means = moved, moved_means
        trace.append(objective)


def _subjects_moved(
    values: Array, centres: Labels, labels: Labels, means: Array, local_penalty: float, global_penalty: float
) -> tuple[Labels, Array]:
    """Return labels and means after each subject moved once (step 4); a centre may hold one cluster for each."""
    moved = labels.copy()
    used = [set(labels[centres == centre].tolist()) for centre in range(int(centres.max()) + 1)]
    for subject, value in enumerate(values):
        of_centre = used[centres[subject]]
        cost = ((means - value) ** 2).sum(axis=1) + local_penalty
        cost[list(of_centre)] -= local_penalty
        if cost.min() > local_penalty + global_penalty:
            moved[subject] = len(means)
            means = np.vstack([means, value])
        else:
            moved[subject] = int(cost.argmin())
        of_centre.add(int(moved[subject]))
    return moved, means


def _clusters_moved(
    values: Array, centres: Labels, labels: Labels, means: Array, global_penalty: float
) -> tuple[Labels, Array]:
    """Return labels and means after each local cluster moved once to its best global one (step 5)."""
    moved = labels.copy()
    for centre in range(int(centres.max()) + 1):
        for cluster in np.unique(labels[centres == centre]).tolist():
            members = np.flatnonzero((centres == centre) & (labels == cluster))
            part, own = values[members], values[members].mean(axis=0)
            cost = squared_distances(part, means).sum(axis=0)
            if cost.min() > global_penalty + ((part - own) ** 2).sum():
                moved[members] = len(means)
                means = np.vstack([means, own])
            else:
                moved[members] = int(cost.argmin())
    return moved, means


def _objective(
    values: Array, centres: Labels, labels: Labels, means: Array, local_penalty: float, global_penalty: float
) -> float:
    """Return the objective of equation (2) of the paper."""
    n_local = np.unique(centres * len(means) + labels).size
    return float(((values - means[labels]) ** 2).sum() + local_penalty * n_local + global_penalty * len(means))
