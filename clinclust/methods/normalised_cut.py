"""NormalisedCut: clusters of a graph of nearest neighbours, with a price for each cluster."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from clinclust.arguments import Rule, is_number
from clinclust.arrays import Array, Labels, RandomState
from clinclust.errors import InputError
from clinclust.methods.dp_means import Run
from clinclust.methods.encoded import Encoded
from clinclust.methods.method import Clustered, Method, needed, one_thread
from clinclust.methods.spectral_dp_means import groups_of_rows
from clinclust.schema import FeatureSchema

_DENSE, _LEAST_GAIN = 400, 1e-12  # up to so many subjects all eigenvectors are computed
_PRICE = Rule("a number above 0 and below 1", lambda value: is_number(value) and 0.0 < value < 1.0).or_none()


@dataclass(eq=False, repr=False)
class NormalisedCut(Method):
    """Penalised normalised cut of a graph (Kulis and Jordan 2012, ICML, section 5.2): DP-means for graphs.

    The graph A joins subjects of whom one is a nearest neighbour of the other. With links(c, c) the edges inside
    cluster c, each counted twice, and degree(c) all edges of its members, the method lowers

        Cut(A) + (penalty - 1) K = penalty * K - sum over clusters c of links(c, c) / degree(c),

    the objective of weighted kernel DP-means with K = sigma D^-1 + D^-1 A D^-1, W = D and lambda = penalty + sigma, up
    to a constant (theorem 5.3; Dhillon, Guan and Kulis 2007, IEEE TPAMI 29:1944-1957). A cluster is worth its price if
    the share of its members' edges that stay inside is above it. The paper's lambda' is penalty - 1; from 0 on, one
    cluster is best. The start is K-means of the eigenvectors of D^(-1/2) A D^(-1/2) with eigenvalues above the penalty.
    Subjects then move one by one, and pairs of clusters join, while this lowers the objective.

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
    penalty_, objective_ : float
    eigenvalues_ : float64 (E,)
        The largest ones of D^(-1/2) A D^(-1/2), in falling order; the first is 1.
    cut_ : float
        Cut(A): the sum over clusters of links to other clusters, over degree.
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
    random_state: RandomState = None

    penalty_: float = field(init=False)
    eigenvalues_: Array = field(init=False)
    cut_: float = field(init=False)
    objective_: float = field(init=False)
    objective_trace_: Array = field(init=False)

    _either = (("penalty", "n_clusters"),)
    _rules: ClassVar = MappingProxyType({"penalty": _PRICE})

    def _problems(self) -> list[str]:
        too_many = self.n_clusters is not None and self.n_clusters > self.max_clusters
        said = [f"n_clusters is {self.n_clusters}, above max_clusters, {self.max_clusters}"] if too_many else []
        return super()._problems() + said

    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        n_subjects, most, penalty = len(table.values), int(self.max_clusters), self.penalty
        if self.n_neighbours >= n_subjects:
            raise InputError(f"n_neighbours must be below the number of subjects ({n_subjects})")
        graph = _graph(table.values, int(self.n_neighbours))
        eigenvalues, vectors = _largest(graph, min(most, n_subjects - 1) + 1, seed)
        above = self.n_clusters or min(max(int((eigenvalues > (penalty or 0.0)).sum()), 1), most)
        degrees = graph @ np.ones(n_subjects)
        rows = vectors[:, :above] / np.sqrt(degrees)[:, None]
        start = groups_of_rows(rows, degrees, above, int(self.n_restarts), seed, "NormalisedCut")
        labels, trace = lowered_cut(graph, start, penalty)
        n_clusters = int(labels.max()) + 1
        if penalty is None:
            penalty = _cheapest_join(graph, labels)[0]
            trace = trace + penalty * n_clusters
        cut = trace[-1] - (penalty - 1.0) * n_clusters
        facts = {"penalty_": float(penalty), "cut_": float(cut), "objective_": float(trace[-1])}
        return Clustered(labels, facts=facts | {"objective_trace_": trace, "eigenvalues_": eigenvalues})

    def _made_by(self) -> str:
        graph = f"a graph of {self.n_neighbours} nearest neighbours"
        return f"the penalised normalised cut of {graph}, with a penalty of {self.penalty_:.4g} for each cluster"


def _graph(values: Array, n_neighbours: int) -> sparse.csr_array:
    with one_thread("NormalisedCut"):
        found = needed("sklearn.neighbors", "NormalisedCut").kneighbors_graph(values, n_neighbours, include_self=False)
    return sparse.csr_array(found.maximum(found.T))


def _largest(graph: sparse.csr_array, n_wanted: int, seed: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues of D^(-1/2) A D^(-1/2) in falling order, and their vectors as columns."""
    roots = sparse.diags_array(1.0 / np.sqrt(graph.sum(axis=1)))
    scaled, n_subjects = roots @ graph @ roots, graph.shape[0]
    if n_subjects <= _DENSE:
        values, vectors = np.linalg.eigh(scaled.toarray())
    else:
        values, vectors = eigsh(scaled, n_wanted, which="LA", v0=np.random.default_rng(seed).normal(size=n_subjects))
    order = np.argsort(-values, kind="stable")[:n_wanted]
    return values[order], vectors[:, order]


def penalised_cut(graph: sparse.csr_array, labels: Labels, penalty: float) -> float:
    """Return Cut(A) + (penalty - 1) K of clusters 0 .. K - 1, none empty, of a symmetric graph (N, N)."""
    links, degrees = _between(graph, labels)
    return float(penalty * degrees.size - (np.diag(links) / degrees).sum())


def _between(graph: sparse.csr_array, labels: Labels) -> tuple[Array, Array]:
    """Return the links between clusters, (K, K), each inside a cluster twice, and the degrees of clusters, (K,)."""
    members = sparse.csr_array((np.ones(labels.size), (np.arange(labels.size), labels)))
    links = (members.T @ graph @ members).toarray()
    return links, links.sum(axis=1)


def lowered_cut(graph: sparse.csr_array, labels: Labels, penalty: float | None) -> Run:
    """Move subjects, and join clusters, from `labels` on until the penalised cut falls no more.

    The graph (N, N) is symmetric and not negative, without isolated nodes or loops. Without a penalty the number of
    clusters stays, and the trace is that of a penalty of 0.
    """
    trace = [penalised_cut(graph, labels, penalty or 0.0)]
    while True:
        moved = _nodes_moved(graph, labels, penalty)
        while penalty is not None and (join := _cheapest_join(graph, moved))[0] < penalty - _LEAST_GAIN:
            moved = np.unique(np.where(moved == join[2], join[1], moved), return_inverse=True)[1].astype(np.int64)
        objective = penalised_cut(graph, moved, penalty or 0.0)
        if objective >= trace[-1] - _LEAST_GAIN:
            return Run(labels, np.array(trace))
        labels, trace = moved, [*trace, objective]


def _nodes_moved(graph: sparse.csr_array, labels: Labels, penalty: float | None) -> Labels:
    """Return labels after each node went where the objective is lowest; without a penalty no cluster is left empty."""
    moved, of_node = labels.copy(), graph.sum(axis=1)
    links, degrees = _between(graph, labels)
    sums = np.stack([np.diag(links), degrees, np.bincount(labels)])  # of each cluster: links inside, degree, size
    for node in range(labels.size):
        own = moved[node]
        if sums[2, own] == 1.0 and penalty is None:
            continue
        row = slice(graph.indptr[node], graph.indptr[node + 1])
        more_inside = 2.0 * np.bincount(moved[graph.indices[row]], weights=graph.data[row], minlength=degrees.size)
        sums[:, own] -= more_inside[own], of_node[node], 1.0
        inside, degrees, sizes = sums
        gain = (inside + more_inside) / (degrees + of_node[node]) - inside / np.maximum(degrees, 1e-300)
        gain[sizes == 0.0] = -np.inf
        if sizes[own] == 0.0:  # alone, the node pays for its cluster
            sums[:, own], gain[own] = 0.0, -(penalty or 0.0)
        best = int(gain.argmax()) if gain.max() > gain[own] + _LEAST_GAIN else own
        sums[:, best] += more_inside[best], of_node[node], 1.0
        moved[node] = best
    return np.unique(moved, return_inverse=True)[1].astype(np.int64)


def _cheapest_join(graph: sparse.csr_array, labels: Labels) -> tuple[float, int, int]:
    """Return the share of links inside clusters that the cheapest join loses, and which two; 1 for one cluster."""
    links, degrees = _between(graph, labels)
    inside, worth = np.diag(links), np.diag(links) / degrees
    loss = np.add.outer(worth, worth) - (np.add.outer(inside, inside) + 2.0 * links) / np.add.outer(degrees, degrees)
    np.fill_diagonal(loss, np.inf)
    return min(float(loss.min()), 1.0), *divmod(int(loss.argmin()), len(loss))
