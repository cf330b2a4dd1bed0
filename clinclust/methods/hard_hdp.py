"""HardHDP: DP-means of several centres at once, which share clusters."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clinclust.arguments import Rule
from clinclust.arrays import Array, Labels, RandomState
from clinclust.data_frames import in_pandas
from clinclust.errors import InputError
from clinclust.methods.dp_means import Run, alternated, orders_of, penalty_for, squared_distances
from clinclust.methods.encoded import Encoded
from clinclust.methods.method import Clustered, Method
from clinclust.schema import FeatureSchema


@dataclass(eq=False, repr=False)
class HardHDP(Method):
    """Hard Gaussian hierarchical Dirichlet process, for several centres (Kulis and Jordan 2012, ICML, Algorithm 2).

    Each centre has local clusters, and each of these belongs to a global one, which several centres may share. With g
    global clusters of the means c_p, and k local ones in all, it lowers

        sum over p and its members x of |x - c_p|^2, plus local_penalty * k plus global_penalty * g (eq. 2)

    in turns, from one cluster: every subject moves to the nearest mean, where one that its centre does not use yet
    costs the local penalty more, or opens a cluster; every local cluster moves to the global cluster that serves it
    best, or opens one. Few large centres can stay one cluster where two would have a lower objective: a subject opens
    one only if it alone pays for it.

    Parameters
    ----------
    schema, random_state
        As in `MAPDP`.
    centre : str
        The column that names the centre of each subject, none missing. It is not clustered on.
    local_penalty, global_penalty : float, optional
        The prices of a local and of a global cluster, in squared standard deviations, above 0.
    n_local : int, optional
        About how many clusters are wished in each centre: the local penalty is the mean over centres of `penalty_for`.
    n_clusters : int, optional
        About how many global clusters are wished: the global penalty is that of `penalty_for` with centres as groups.
    n_restarts : int
        As in `DPMeans`.

    Attributes
    ----------
    n_local_ : Series
        Number of clusters of each centre, by its name.
    local_penalty_, global_penalty_ : float
        The penalties that were used.
    objective_trace_ : float64 (T,)
        Eq. 2 before the first round and after each; it never rises.

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

    schema: FeatureSchema | None = None
    _: KW_ONLY
    centre: str = "centre"
    local_penalty: float | None = None
    global_penalty: float | None = None
    n_local: int | None = None
    n_clusters: int | None = None
    n_restarts: int = 10
    random_state: RandomState = None

    n_local_: pd.Series[int] = field(init=False)
    local_penalty_: float = field(init=False)
    global_penalty_: float = field(init=False)
    objective_trace_: Array = field(init=False)

    _either = (("local_penalty", "n_local"), ("global_penalty", "n_clusters"))
    _rules: ClassVar = MappingProxyType(
        {"centre": Rule("the name of a column", lambda value: isinstance(value, str) and bool(value))}
    )

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Find the clusters of the centres; see `Method.fit`. `X` is a DataFrame with the column `centre`.

        Raises
        ------
        ValueError
            Also if there is no such column, a centre is missing, or the column is one to cluster on.
        """
        X = in_pandas(X)
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

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        values, (centres, names) = table.values, self._centres  # noqa: PD011
        local, whole = self.local_penalty, self.global_penalty
        if self.n_local is not None:
            parts = (values[centres == centre] for centre in range(len(names)))
            local = float(np.mean([penalty_for(part, self.n_local) for part in parts]))
        if self.n_clusters is not None:
            whole = penalty_for(values, self.n_clusters, centres)
        assert local is not None  # see `_either`
        assert whole is not None
        orders = orders_of(len(values), self.n_restarts, seed)
        runs = (hard_hdp(values, centres, float(local), float(whole), order) for order in orders)
        found = min(runs, key=lambda run: run.trace[-1])
        n_local = [np.unique(found.labels[centres == centre]).size for centre in range(len(names))]
        facts: dict[str, Any] = {"local_penalty_": float(local), "global_penalty_": float(whole)}
        facts["objective_trace_"] = found.trace
        facts["n_local_"] = pd.Series(n_local, index=pd.Index(names, name=self.centre), name="n_local")
        return Clustered(found.labels, facts=facts)

    def _kept_for_refits(self) -> dict[str, Any]:
        return {}  # asked as before, as `DPMeans` is

    def _made_by(self) -> str:
        return (
            f"the hard Gaussian HDP of the centres in {self.centre}, with penalties of {self.local_penalty_:.4g} for "
            f"each cluster of a centre and {self.global_penalty_:.4g} for each cluster"
        )


def hard_hdp(
    values: Array, centres: Labels, local_penalty: float, global_penalty: float, order: Labels | None = None
) -> Run:
    """Run the hard Gaussian HDP on values (N, C) in centres 0 .. J - 1, none empty, until the objective falls no more.

    `order`, int (N,), is that in which subjects move; by default 0 .. N - 1.
    """
    if order is not None:
        run = hard_hdp(values[order], centres[order], local_penalty, global_penalty)
        return Run(run.labels[np.argsort(order)], run.trace)

    def moved(labels: Labels, means: Array) -> Labels:
        labels, means = _subjects_moved(values, centres, labels, means, local_penalty, global_penalty)
        labels = _clusters_moved(values, centres, labels, means, global_penalty)
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)

    def objective(labels: Labels, means: Array) -> float:
        """Return equation (2) of the paper."""
        n_local = np.unique(centres * len(means) + labels).size
        within = ((values - means[labels]) ** 2).sum()
        return float(within + local_penalty * n_local + global_penalty * len(means))

    return alternated(values, moved, objective)


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


def _clusters_moved(values: Array, centres: Labels, labels: Labels, means: Array, global_penalty: float) -> Labels:
    """Return labels after each local cluster moved once to its best global one (step 5)."""
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
    return moved
