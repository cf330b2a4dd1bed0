"""NormalisedCut: clusters of a graph of nearest neighbours, with a price for each cluster."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import eigsh

from clinclust.errors import InputError
from clinclust.estimators.parameters import Rule, is_number
from clinclust.methods.method import Clustered, Method, needed, one_thread
from clinclust.methods.spectral_dp_means import groups_of_rows

if TYPE_CHECKING:
    from clinclust.methods.encoded import Encoded
    from clinclust.schema import FeatureSchema

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_DENSE = 400  # up to so many subjects all eigenvectors are computed at once
_LEAST_GAIN = 1e-12
_PRICE = Rule("a number above 0 and below 1", lambda value: is_number(value) and 0.0 < value < 1.0).or_none()


@dataclass(eq=False, repr=False)
class NormalisedCut(Method):
    """Penalised normalised cut of a graph (Kulis and Jordan 2012, ICML, section 5.2): DP-means for graphs.

    The graph joins each subject to its nearest neighbours (and they to it); its adjacency matrix is A. It lowers

        Cut(A) + (penalty - 1) K = penalty * K - sum over clusters c of links(c, c) / degree(c),

    where links(c, c) counts the edges inside a cluster, each twice, and degree(c) all of its members: the objective of
    weighted kernel DP-means with K = sigma D^-1 + D^-1 A D^-1, W = D and lambda = penalty + sigma, up to a constant
    (theorem 5.3; Dhillon, Guan and Kulis 2007, IEEE TPAMI 29:1944-1957). A cluster is worth its price if the share of
    its members' edges that stay inside is above the penalty. The paper's lambda' = penalty - 1 is below 0: at 0 and
    above, one cluster is best in every graph.

    It begins with K-means of the eigenvectors of D^(-1/2) A D^(-1/2) whose eigenvalues are above the penalty. Subjects
    then move one by one, and pairs of clusters join, while this lowers the objective.

    Parameters
    ----------
    schema, random_state
        As in `MAPDP`.
    penalty : float, optional
        The price of a cluster, above 0 and below 1. Give this or `n_clusters`.
    n_clusters : int, optional
        K. Clusters then do not join, and `penalty_` is the highest at which no two of them would.
    n_neighbours : int
        Nearest neighbours of a subject, in the standardised columns of `clinclust.methods.encoded`.
    max_clusters : int
        Most clusters; eigenvectors beyond are not computed.
    n_restarts : int
        Starts of K-means.

    Attributes
    ----------
    penalty_ : float
    eigenvalues_ : float64 (E,)
        The largest ones of D^(-1/2) A D^(-1/2), in falling order; the first is 1.
    cut_ : float
        Cut(A): the sum over clusters of links to other clusters, over degree.
    objective_ : float
    objective_trace_ : float64 (T,)
        The objective of the relaxation's clusters, and after each round of moves; it never rises.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> X = np.random.default_rng(1).normal(np.repeat([[0], [9]], [60, 40], axis=0), 1, (100, 4))
    >>> methods.NormalisedCut(n_clusters=2, random_state=0).fit(X).cluster_sizes_.tolist()
    [60, 40]
    """

    schema: FeatureSchema | None = None
    _: KW_ONLY
    penalty: float | None = None
    n_clusters: int | None = None
    n_neighbours: int = 10
    max_clusters: int = 20
    n_restarts: int = 10
    random_state: int | np.random.Generator | None = None

    penalty_: float = field(init=False)
    eigenvalues_: Array = field(init=False)
    cut_: float = field(init=False)
    objective_: float = field(init=False)
    objective_trace_: Array = field(init=False)

    _either = (("penalty", "n_clusters"),)
    _rules: ClassVar = MappingProxyType({"penalty": _PRICE})

    def _problems(self) -> list[str]:
        problems = super()._problems()
        if self.n_clusters is not None and self.n_clusters > self.max_clusters:
            problems.append(f"n_clusters is {self.n_clusters}, above max_clusters, {self.max_clusters}")
        return problems

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        n_subjects = len(table.values)
        if self.n_neighbours >= n_subjects:
            raise InputError(f"n_neighbours must be below the number of subjects ({n_subjects})")
        graph = _graph(table.values, int(self.n_neighbours))
        eigenvalues, vectors = _largest(graph, min(int(self.max_clusters), n_subjects - 1) + 1, seed)
        above = self.n_clusters
        if above is None:
            assert self.penalty is not None  # see `_either`
            above = min(max(int((eigenvalues > self.penalty).sum()), 1), int(self.max_clusters))
        degrees = _degrees(graph)
        rows = vectors[:, :above] / np.sqrt(degrees)[:, None]
        start = groups_of_rows(rows, degrees, above, int(self.n_restarts), seed, "NormalisedCut")
        run = lowered_cut(graph, start, self.penalty)
        objective = float(run.trace[-1])
        cut = float(run.trace[-1] - (run.penalty - 1.0) * (int(run.labels.max()) + 1))
        facts: dict[str, Any] = {"penalty_": run.penalty, "eigenvalues_": eigenvalues, "cut_": cut}
        return Clustered(run.labels, facts=facts | {"objective_": objective, "objective_trace_": run.trace})

    def _kept_for_refits(self) -> dict[str, Any]:
        return {"n_clusters": self.n_clusters_, "penalty": None}

    def _made_by(self) -> str:
        return (
            f"the penalised normalised cut of a graph of {self.n_neighbours} nearest neighbours, with a penalty of "
            f"{self.penalty_:.4g} for each cluster"
        )


class Run(NamedTuple):
    """Clusters of a graph after all moves."""

    labels: Labels
    """Cluster of each subject, int64 (N,), 0 .. K - 1."""
    trace: Array
    """The objective before the first round of moves and after each one, float64 (T,)."""
    penalty: float
    """The one that was given, or the highest at which no two of the clusters would join."""


def _graph(values: Array, n_neighbours: int) -> sparse.csr_array:
    neighbours = needed("sklearn.neighbors", "NormalisedCut")
    with one_thread("NormalisedCut"):
        found = neighbours.kneighbors_graph(values, n_neighbours, mode="connectivity", include_self=False)
    return sparse.csr_array(found.maximum(found.T))


def _degrees(graph: sparse.csr_array) -> Array:
    return np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()


def _largest(graph: sparse.csr_array, n_wanted: int, seed: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues of D^(-1/2) A D^(-1/2) in falling order, and their vectors as columns."""
    roots = sparse.diags_array(1.0 / np.sqrt(_degrees(graph)))
    scaled = roots @ graph @ roots
    n_subjects = graph.shape[0]
    if n_subjects <= _DENSE:
        values, vectors = np.linalg.eigh(scaled.toarray())
    else:
        start = np.random.default_rng(seed).normal(size=n_subjects)
        values, vectors = eigsh(scaled, k=n_wanted, which="LA", v0=start)
    order = np.argsort(-values, kind="stable")[:n_wanted]
    return values[order], vectors[:, order]


def penalised_cut(graph: sparse.csr_array, labels: Labels, penalty: float) -> float:
    """Return Cut(A) + (penalty - 1) K of clusters 0 .. K - 1, none empty, of a symmetric graph (N, N)."""
    links, degrees = _between(graph, labels)
    return float(penalty * degrees.size - (np.diag(links) / degrees).sum())


def _between(graph: sparse.csr_array, labels: Labels) -> tuple[Array, Array]:
    n_subjects, n_clusters = labels.size, int(labels.max()) + 1
    members = sparse.csr_array((np.ones(n_subjects), (np.arange(n_subjects), labels)), (n_subjects, n_clusters))
    links = np.asarray((members.T @ graph @ members).toarray(), dtype=np.float64)
    return links, links.sum(axis=1)


def lowered_cut(graph: sparse.csr_array, labels: Labels, penalty: float | None) -> Run:
    """Move subjects, and join clusters, from `labels` on until the penalised cut falls no more.

    The graph (N, N) is symmetric and not negative, without isolated nodes. Without a penalty the number of clusters
    stays.
    """
    price = 0.0 if penalty is None else penalty
    trace = [penalised_cut(graph, labels, price)]
    while True:
        moved = _nodes_moved(graph, labels, penalty)
        moved = moved if penalty is None else _joined(graph, moved, price)
        objective = penalised_cut(graph, moved, price)
        if objective >= trace[-1] - _LEAST_GAIN:
            break
        labels = moved
        trace.append(objective)
    if penalty is None:
        price = _cheapest_join(graph, labels)[0]
        trace = [one + price * (int(labels.max()) + 1) for one in trace]
    return Run(labels, np.array(trace), float(price))


def _nodes_moved(graph: sparse.csr_array, labels: Labels, penalty: float | None) -> Labels:
    """Return labels after each node went where the objective is lowest; without a penalty no cluster is left empty."""
    moved = labels.copy()
    links, degrees = _between(graph, labels)
    inside = np.diag(links).copy()
    of_node = _degrees(graph)
    starts, ends, neighbours, weights = graph.indptr[:-1], graph.indptr[1:], graph.indices, graph.data
    sizes = np.bincount(labels, minlength=degrees.size)
    for node in range(labels.size):
        own = moved[node]
        is_alone = sizes[own] == 1
        if is_alone and penalty is None:
            continue
        row = slice(starts[node], ends[node])
        to = np.bincount(moved[neighbours[row]], weights=weights[row], minlength=degrees.size)
        own_loop = weights[row][neighbours[row] == node].sum()
        to[own] -= own_loop
        rest_inside, rest_degree = inside[own] - 2.0 * to[own] - own_loop, degrees[own] - of_node[node]
        # A cluster that the node leaves empty gives its price back.
        rest = (penalty or 0.0) if is_alone else rest_inside / rest_degree
        # What each cluster is worth with the node less without it; its own cluster is compared without it.
        worth = np.where(sizes > 0, inside / np.maximum(degrees, 1e-300), 0.0)
        gain = (inside + 2.0 * to + own_loop) / (degrees + of_node[node]) - worth
        gain[sizes == 0] = -np.inf
        stay = inside[own] / degrees[own] - rest
        gain[own] = stay
        best = int(gain.argmax())
        if gain[best] <= stay + _LEAST_GAIN:
            continue
        inside[own], degrees[own] = (0.0, 0.0) if is_alone else (rest_inside, rest_degree)
        inside[best] += 2.0 * to[best] + own_loop
        degrees[best] += of_node[node]
        sizes[own] -= 1
        sizes[best] += 1
        moved[node] = best
    return np.unique(moved, return_inverse=True)[1].astype(np.int64)


def _joined(graph: sparse.csr_array, labels: Labels, penalty: float) -> Labels:
    """Return labels after pairs of clusters joined, the best pair first, while this lowers the objective."""
    while labels.max() > 0:
        loss, first, second = _cheapest_join(graph, labels)
        if loss >= penalty - _LEAST_GAIN:
            break
        labels = np.unique(np.where(labels == second, first, labels), return_inverse=True)[1].astype(np.int64)
    return labels


def _cheapest_join(graph: sparse.csr_array, labels: Labels) -> tuple[float, int, int]:
    """Return the share of links inside clusters that the cheapest join loses, and which two; 1 for one cluster."""
    if labels.max() == 0:
        return 1.0, 0, 0
    links, degrees = _between(graph, labels)
    inside = np.diag(links)
    worth = inside / degrees
    together = (inside[:, None] + inside[None, :] + 2.0 * links) / (degrees[:, None] + degrees[None, :])
    loss = worth[:, None] + worth[None, :] - together
    np.fill_diagonal(loss, np.inf)
    first, second = sorted(int(one) for one in np.unravel_index(int(loss.argmin()), loss.shape))
    return float(loss[first, second]), first, second
