"""The small-variance limits of Kulis and Jordan (2012, ICML): K-means whose number of clusters follows from a penalty.

`DPMeans` is the limit of a Dirichlet process mixture of Gaussians, and `HardHDP` that of a hierarchical one.
`SpectralDPMeans` relaxes the objective of DP-means to eigenvectors, and `NormalisedCut` is this objective for graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist

from clinclust.arguments import Rule, in_pandas, is_number
from clinclust.arrays import Array, Labels
from clinclust.engine.search.settle import compact
from clinclust.errors import InputError
from clinclust.estimators.parameters import as_in, documented, parameter
from clinclust.methods.method import AT_LEAST_1, PRICE, WISHED, Encoded, RestartedMethod, means_of

Run = tuple[Labels, Array]
"""Clusters 0 .. K - 1 of the subjects, (N,), and the objective before the first iteration and after each one, (T,)."""


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class DPMeans(RestartedMethod):
    """DP-means (Kulis and Jordan 2012, ICML, Algorithm 1): hard clusters, whose number follows from a penalty.

    It minimises, over partitions of all sizes K,

        sum_k sum_(i in k) |x_i - mu_k|^2 + penalty * K,

    where mu_k is the mean of cluster k: the limit of a Dirichlet process mixture of spherical Gaussians whose variance
    goes to 0. A subject that is farther from all means than the penalty (in squared distance) begins a cluster. The
    first start takes the subjects in the order of the table, others in random ones.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    penalty_, objective_ : float
    objective_trace_ : float64 (T,)
        The objective before the first iteration and after each one. It never rises (theorem 3.1).

    Examples
    --------
    >>> from clinclust.methods import DPMeans
    >>> DPMeans(n_clusters=2, random_state=0).fit([[0, 1], [1, 0], [1, 1], [0, 0], [8, 9], [9, 8]]).labels_.tolist()
    [0, 0, 0, 0, 1, 1]
    """

    penalty: float | None = parameter(
        None, PRICE, "Price of a cluster, in squared SDs of the columns; or `n_clusters`."
    )
    n_clusters: int | None = parameter(None, WISHED, "About how many: the farthest-first heuristic sets the penalty.")
    _refit_with = ()  # at the penalty of the whole cohort, hardly a subject of a half-sample leaves its mean
    _words = "DP-means with a penalty of {self.penalty_:.4g} for each cluster{self._wish}"

    def _cluster(self, table: Encoded, seed: int) -> tuple[Labels, None]:
        values = table.matrix
        penalty = penalty_for(values, self.n_clusters) if self.n_clusters else float(self.penalty or 0.0)
        labels, trace = _run_best(len(values), self, seed, lambda order: dp_means(values[order], penalty))
        self.penalty_, self.objective_, self.objective_trace_ = penalty, float(trace[-1]), trace
        self._wish = f", set for about {self.n_clusters} clusters" if self.n_clusters else ""
        return labels, None


def dp_means(values: Array, penalty: float) -> Run:
    """Run DP-means on values (N, C), with subjects assigned in their order."""

    def move(labels: Labels, means: Array) -> Labels:
        # Each subject in turn joins its nearest mean, or a new one where all are farther than the penalty. No distance
        # depends on a later subject. So all are assigned at once, and those after each new mean are compared with it.
        distances = cdist(values, means, "sqeuclidean")
        labels, nearest = distances.argmin(axis=1), distances.min(axis=1)
        n_means, place = len(means), 0
        while (far := np.flatnonzero(nearest[place:] > penalty)).size:
            place += int(far[0])
            distance = cdist(values[place:], values[place : place + 1], "sqeuclidean")[:, 0]
            labels[place:] = np.where(distance < nearest[place:], n_means, labels[place:])
            nearest[place:] = np.minimum(distance, nearest[place:])
            n_means, place = n_means + 1, place + 1
        return compact(labels)

    return _alternate(values, move, lambda labels, means: penalised_sum(values, labels, penalty, means))


def penalised_sum(values: Array, labels: Labels, penalty: float, means: Array | None = None) -> float:
    """Return the objective of equation (1) of the paper, for clusters 0 .. K - 1 of values (N, C), none empty."""
    means = means_of(values, labels) if means is None else means
    return float(((values - means[labels]) ** 2).sum() + penalty * len(means))


def _alternate(
    values: Array, move: Callable[[Labels, Array], Labels], objective: Callable[[Labels, Array], float]
) -> Run:
    """Move subjects of `values`, (N, C), and set the means, (K, C), in turns until the objective rests."""
    labels, means = np.zeros(len(values), dtype=np.int64), values.mean(axis=0, keepdims=True)
    trace = [objective(labels, means)]
    while True:
        clusters = move(labels, means)
        means = means_of(values, clusters)
        value = objective(clusters, means)
        # Compared as partitions. The objective guards against rounding, by which equal partitions could alternate.
        if np.array_equal(clusters, labels) or value >= trace[-1]:
            return labels, np.array(trace)
        labels, trace = clusters, [*trace, value]


def _run_best(n_subjects: int, method: RestartedMethod, seed: int, run: Callable[[Labels], Run]) -> Run:
    """Run with subjects in the order of the table and in random ones; return the run with the lowest objective."""
    rng = np.random.default_rng(seed)
    orders = [np.arange(n_subjects), *(rng.permutation(n_subjects) for _ in range(method.n_restarts - 1))]
    (labels, trace), order = min(((run(order), order) for order in orders), key=lambda pair: float(pair[0][1][-1]))
    return labels[np.argsort(order)], trace


def penalty_for(values: Array, n_clusters: int, groups: Labels | None = None) -> float:
    """Return the penalty for about `n_clusters` of values (N, C), by the farthest-first heuristic of section 6.1.

    With groups, 0 .. J - 1, for the global penalty of the hard HDP, the distance of a group is the sum of those of its
    subjects, and the farthest subject of the farthest group is added (of which the paper says nothing).
    """
    groups = np.arange(len(values)) if groups is None else groups
    nearest = ((values - values.mean(axis=0)) ** 2).sum(axis=1)
    farthest = 0.0
    for _ in range(n_clusters):
        sums = np.bincount(groups, weights=nearest)
        farthest = float(sums.max())
        members = np.flatnonzero(groups == sums.argmax())
        centre = values[members[nearest[members].argmax()]]
        nearest = np.minimum(nearest, ((values - centre) ** 2).sum(axis=1))
    return farthest


_COLUMN = Rule("the name of a column", lambda value: isinstance(value, str) and bool(value))


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class HardHDP(RestartedMethod):
    """Hard Gaussian hierarchical Dirichlet process, for several centres (Kulis and Jordan 2012, ICML, Algorithm 2).

    Each centre has local clusters, and each of these belongs to a global one, which several centres may share. With g
    global clusters of the means c_p, and k local ones in all, it lowers

        sum over p and its members x of |x - c_p|^2, plus local_penalty * k plus global_penalty * g (eq. 2)

    in turns, from one cluster: every subject moves to the nearest mean, where one that its centre does not use yet
    costs the local penalty more, or opens a cluster; every local cluster moves to the best global one, or opens one.
    Few large centres can stay one cluster where two would be better: a subject opens one only if it alone pays for it.
    For a number of clusters, the local penalty is the mean over centres of the farthest-first heuristic of the paper,
    and the global one that of the heuristic with centres in the place of subjects.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_local_ : Series
        Number of clusters of each centre, by its name.
    local_penalty_, global_penalty_ : float
    objective_trace_ : float64 (T,)
        Eq. 2 before the first round and after each; it never rises.

    Examples
    --------
    >>> import pandas as pd
    >>> import clinclust as cc
    >>> frame = pd.DataFrame({"gait": [0.8, 1.3, 0.9, 1.2], "hospital": ["A", "A", "B", "B"]})
    >>> schema = cc.FeatureSchema([cc.Feature(name="gait", likelihood="gaussian")])
    >>> model = cc.methods.HardHDP(schema, centre="hospital", local_penalty=0.1, global_penalty=0.5).fit(frame)
    >>> model.labels_.tolist(), model.n_local_.to_dict()
    ([0, 1, 0, 1], {'A': 2, 'B': 2})
    """

    centre: str = parameter("centre", _COLUMN, "It names the centre of each subject, and is not clustered on.")
    local_penalty: float | None = parameter(None, PRICE, "The price of a local cluster; or `n_local`.")
    global_penalty: float | None = parameter(None, PRICE, "The price of a global cluster; or `n_clusters`.")
    n_local: int | None = parameter(None, WISHED, "About how many clusters in a centre, instead of `local_penalty`.")
    n_clusters: int | None = parameter(None, WISHED, "About how many clusters in all, instead of `global_penalty`.")
    _refit_with = ()
    _words = (
        "the hard Gaussian HDP of the centres in {self.centre}, with penalties of {self.local_penalty_:.4g} for each "
        "cluster of a centre and {self.global_penalty_:.4g} for each cluster"
    )

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Find the clusters of the centres, which a column of the DataFrame X names; else as `Method.fit`."""
        X = in_pandas(X)
        if not isinstance(X, pd.DataFrame) or list(X.columns).count(self.centre) != 1:
            raise InputError(f"X must be a DataFrame with one column {self.centre!r}, which names the centres")
        if self.schema is not None and self.centre in [feature.name for feature in self.schema.clustered]:
            raise InputError(f"{self.centre!r} names the centres, and cannot be clustered on: give it another role")
        codes, names = pd.factorize(X[self.centre], sort=True)
        if (codes < 0).any():
            raise InputError(f"{self.centre!r}: the centre of {int((codes < 0).sum())} subject(s) is missing")
        self._centres = codes.astype(np.int64), names
        is_in_schema = self.schema is not None and self.centre in self.schema
        return super().fit(X if is_in_schema else X.drop(columns=[self.centre]))

    def _cluster(self, table: Encoded, seed: int) -> tuple[Labels, None]:
        values, (centres, names) = table.matrix, self._centres
        rows = [np.flatnonzero(centres == centre) for centre in range(len(names))]
        local, whole = float(self.local_penalty or 0.0), float(self.global_penalty or 0.0)
        if self.n_local:
            local = float(np.mean([penalty_for(values[members], self.n_local) for members in rows]))
        if self.n_clusters:
            whole = penalty_for(values, self.n_clusters, centres)
        labels, trace = _run_best(
            len(values), self, seed, lambda order: hard_hdp(values[order], centres[order], local, whole)
        )
        n_local = [np.unique(labels[members]).size for members in rows]
        self.n_local_ = pd.Series(n_local, index=pd.Index(names, name=self.centre), name="n_local")
        self.local_penalty_, self.global_penalty_, self.objective_trace_ = local, whole, trace
        return labels, None


def hard_hdp(values: Array, centres: Labels, local_penalty: float, global_penalty: float) -> Run:
    """Run the hard Gaussian HDP on values (N, C) in centres 0 .. J - 1, none empty, until the objective rests."""
    rows = [np.flatnonzero(centres == centre) for centre in range(int(centres.max()) + 1)]

    def move(labels: Labels, means: Array) -> Labels:
        clusters, used = labels.copy(), [set(labels[members].tolist()) for members in rows]
        for subject, value in enumerate(values):  # step 4; a centre may hold one cluster for each
            in_centre = used[centres[subject]]
            cost = ((means - value) ** 2).sum(axis=1) + local_penalty
            cost[list(in_centre)] -= local_penalty
            if cost.min() > local_penalty + global_penalty:
                clusters[subject], means = len(means), np.vstack([means, value])
            else:
                clusters[subject] = cost.argmin()
            in_centre.add(int(clusters[subject]))
        labels = clusters.copy()
        for members in rows:  # step 5: each local cluster moves once to its best global one
            for cluster in np.unique(labels[members]):
                local = members[labels[members] == cluster]
                mean = values[local].mean(axis=0)
                cost = cdist(values[local], means, "sqeuclidean").sum(axis=0)
                if cost.min() > global_penalty + ((values[local] - mean) ** 2).sum():
                    clusters[local], means = len(means), np.vstack([means, mean])
                else:
                    clusters[local] = cost.argmin()
        return compact(clusters)

    def objective(labels: Labels, means: Array) -> float:
        n_local = np.unique(centres * len(means) + labels).size
        within = ((values - means[labels]) ** 2).sum()
        return float(within + local_penalty * n_local + global_penalty * len(means))

    return _alternate(values, move, objective)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class SpectralDPMeans(RestartedMethod):
    """Spectral relaxation of DP-means (Kulis and Jordan 2012, ICML, theorem 5.2): clusters from principal components.

    With Z the matrix of indicators, Y = Z (Z' Z)^(-1/2), columns X of mean 0 and K = X X', the objective of DP-means is

        tr K - tr Y' (K - penalty I) Y (lemma 5.1).

    Of all Y with orthonormal columns, the eigenvectors of K with eigenvalues above the penalty minimise it (as for
    K-means: Zha et al. 2001, NIPS). The constant vector, a combination of the columns of every Y of indicators, is kept
    with its eigenvalue 0: there is one more cluster than eigenvalues above the penalty. No partition has an objective
    below the bound, tr K + penalty - sum over these eigenvalues e of (e - penalty). K-means of the rows of Y gives the
    clusters.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    penalty_, bound_, objective_ : float
        The objective is that of `DPMeans` at the partition.
    eigenvalues_ : float64 (E,)
        Those of K that are above 0, in falling order.

    Examples
    --------
    >>> from clinclust.methods import SpectralDPMeans
    >>> model = SpectralDPMeans(penalty=2.0, random_state=0).fit([[0, 1], [1, 0], [1, 1], [8, 9], [9, 8]])
    >>> model.labels_.tolist(), bool(model.bound_ <= model.objective_)
    ([0, 0, 0, 1, 1], True)
    """

    penalty: float | None = as_in(DPMeans, "penalty")
    n_clusters: int | None = parameter(None, WISHED, "K; the penalty is then the middle of two eigenvalues.")
    _words = (
        "the spectral relaxation of DP-means with a penalty of {self.penalty_:.4g} for each cluster, which gave "
        "{self._number}"
    )

    def _cluster(self, table: Encoded, seed: int) -> tuple[Labels, None]:
        centred, penalty = table.matrix - table.matrix.mean(axis=0), self.penalty
        vectors, singular, _ = np.linalg.svd(centred, full_matrices=False)
        eigenvalues = singular**2
        positive = eigenvalues[eigenvalues > 1e-12 * max(float(eigenvalues[0]), 1e-300)]
        if penalty is None:
            n_above = (self.n_clusters or 1) - 1
            if n_above > positive.size:
                raise InputError(f"n_clusters asks for {n_above} eigenvalues above 0, and there are {positive.size}")
            pair = np.append(positive, 0.0)[n_above - 1 : n_above + 1] if n_above else 2.0 * positive[:1]
            penalty = pair.mean()  # the middle between two eigenvalues
        rows, above = vectors[:, eigenvalues > penalty], eigenvalues[eigenvalues > penalty]
        labels = np.zeros(len(rows), dtype=np.int64)
        if above.size:
            labels = compact(self._run_k_means(rows, above.size + 1, seed).labels_)
        self.penalty_, self.eigenvalues_ = float(penalty), positive
        self.bound_ = float((centred**2).sum() + penalty - (above - penalty).sum())
        self.objective_ = penalised_sum(table.matrix, labels, self.penalty_)
        return labels, None


_SHARE = Rule("a number above 0 and below 1", lambda value: is_number(value) and 0.0 < value < 1.0)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class NormalisedCut(RestartedMethod):
    """Penalised normalised cut of a graph (Kulis and Jordan 2012, ICML, section 5.2): DP-means for graphs.

    The graph A joins subjects of whom one is a nearest neighbour of the other. With links(c, c) the edges inside
    cluster c, each counted twice, and degree(c) all edges of its members, the method lowers

        Cut(A) + (penalty - 1) K = penalty * K - sum over clusters c of links(c, c) / degree(c),

    the objective of weighted kernel DP-means with K = sigma D^-1 + D^-1 A D^-1, W = D and lambda = penalty + sigma, up
    to a constant (theorem 5.3; Dhillon, Guan and Kulis 2007, IEEE TPAMI 29:1944-1957). A cluster pays if the share of
    its members' edges that stay inside is above the penalty, which is lambda' + 1 of the paper. The start is K-means of
    the eigenvectors of D^(-1/2) A D^(-1/2) with eigenvalues above it. Subjects then move one by one, and pairs of
    clusters join, while this lowers the objective.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    penalty_, objective_, cut_ : float
        Cut(A) is the sum over clusters of links to other clusters, over degree.
    eigenvalues_ : float64 (E,)
        The largest ones of D^(-1/2) A D^(-1/2), in falling order; the first is 1.
    objective_trace_ : float64 (T,)
        The objective of the relaxation's clusters, and after each round of moves; it never rises.

    Examples
    --------
    >>> from clinclust.methods import NormalisedCut
    >>> X = [[0, 1], [1, 0], [1, 1], [8, 9], [9, 8], [9, 9]]
    >>> NormalisedCut(penalty=0.5, n_neighbours=2, random_state=0).fit(X).labels_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    penalty: float | None = parameter(None, _SHARE, "The price of a cluster: the least share of edges inside one.")
    n_neighbours: int = parameter(10, AT_LEAST_1, "Nearest neighbours of a subject, in the standardised columns.")
    max_clusters: int = parameter(20, AT_LEAST_1, "Most clusters; eigenvectors beyond are not computed.")
    _refit_with = ()
    _words = (
        "the penalised normalised cut of a graph of {self.n_neighbours} nearest neighbours, with a penalty of "
        "{self.penalty_:.4g} for each cluster"
    )

    def _cluster(self, table: Encoded, seed: int) -> tuple[Labels, None]:
        n_subjects, penalty = len(table.matrix), float(self.penalty or 0.0)
        if self.n_neighbours >= n_subjects:
            raise InputError(f"n_neighbours must be below the number of subjects ({n_subjects})")
        with self._library("sklearn.neighbors") as neighbors:
            graph = neighbors.kneighbors_graph(table.matrix, int(self.n_neighbours), include_self=False)
        graph = sparse.csr_array(graph.maximum(graph.T))
        roots, degrees = sparse.diags_array(1.0 / np.sqrt(graph.sum(axis=1))), graph @ np.ones(n_subjects)
        n_vectors = min(int(self.max_clusters), n_subjects - 1)  # eigsh computes all but one at most
        first = np.random.default_rng(seed).normal(size=n_subjects)
        eigenvalues, vectors = eigsh(roots @ graph @ roots, n_vectors, which="LA", v0=first)
        rows = vectors[:, eigenvalues > penalty] / np.sqrt(degrees)[:, None]
        start = self._run_k_means(rows, max(rows.shape[1], 1), seed, degrees).labels_
        labels, trace = lower_cut(graph, compact(start), penalty)
        self.penalty_, self.cut_ = penalty, float(trace[-1] - (penalty - 1.0) * (int(labels.max()) + 1))
        self.objective_, self.objective_trace_, self.eigenvalues_ = float(trace[-1]), trace, eigenvalues[::-1]
        return labels, None


_LEAST_GAIN = 1e-12  # above rounding errors


def penalised_cut(graph: sparse.csr_array, labels: Labels, penalty: float) -> float:
    """Return Cut(A) + (penalty - 1) K of clusters 0 .. K - 1, none empty, of a symmetric graph (N, N)."""
    links, degrees = _count_links(graph, labels)
    return float(penalty * degrees.size - (np.diag(links) / degrees).sum())


def _count_links(graph: sparse.csr_array, labels: Labels) -> tuple[Array, Array]:
    """Return the links between clusters, (K, K), each inside a cluster twice, and the degrees of clusters, (K,)."""
    members = sparse.csr_array((np.ones(labels.size), (np.arange(labels.size), labels)))
    links = (members.T @ graph @ members).toarray()
    return links, links.sum(axis=1)


def lower_cut(graph: sparse.csr_array, labels: Labels, penalty: float) -> Run:
    """Move subjects, and join clusters, of a symmetric graph (N, N) without loops until the penalised cut rests."""
    trace = [penalised_cut(graph, labels, penalty)]
    while True:
        clusters = _move_nodes(graph, labels, penalty)
        while (join := _find_cheapest_join(graph, clusters))[0] < penalty - _LEAST_GAIN:
            clusters = compact(np.where(clusters == join[2], join[1], clusters))
        objective = penalised_cut(graph, clusters, penalty)
        if objective >= trace[-1] - _LEAST_GAIN:
            return labels, np.array(trace)
        labels, trace = clusters, [*trace, objective]


def _move_nodes(graph: sparse.csr_array, labels: Labels, penalty: float) -> Labels:
    """Return labels after each node went where the objective is lowest."""
    clusters, node_degrees = labels.copy(), graph.sum(axis=1)
    links, degrees = _count_links(graph, labels)
    sums = np.stack([np.diag(links), degrees, np.bincount(labels)])  # of each cluster: links inside, degree, size
    for node in range(labels.size):
        old = clusters[node]
        row = slice(graph.indptr[node], graph.indptr[node + 1])
        more_inside = 2.0 * np.bincount(clusters[graph.indices[row]], weights=graph.data[row], minlength=degrees.size)
        sums[:, old] -= more_inside[old], node_degrees[node], 1.0
        inside, degrees, sizes = sums
        gain = (inside + more_inside) / (degrees + node_degrees[node]) - inside / np.maximum(degrees, 1e-300)
        gain[sizes == 0.0] = -np.inf
        if sizes[old] == 0.0:  # alone, the node pays for its cluster
            sums[:, old], gain[old] = 0.0, -penalty
        best = int(gain.argmax()) if gain.max() > gain[old] + _LEAST_GAIN else old
        sums[:, best] += more_inside[best], node_degrees[node], 1.0
        clusters[node] = best
    return compact(clusters)


def _find_cheapest_join(graph: sparse.csr_array, labels: Labels) -> tuple[float, int, int]:
    """Return the share of links inside clusters that the cheapest join loses, and which two; 1 for one cluster."""
    links, degrees = _count_links(graph, labels)
    inside, worth = np.diag(links), np.diag(links) / degrees
    loss = np.add.outer(worth, worth) - (np.add.outer(inside, inside) + 2.0 * links) / np.add.outer(degrees, degrees)
    np.fill_diagonal(loss, np.inf)
    return min(float(loss.min()), 1.0), *divmod(int(loss.argmin()), len(loss))
