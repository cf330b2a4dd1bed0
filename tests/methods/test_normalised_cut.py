"""The penalised normalised cut beside all partitions of small graphs, and beside weighted kernel K-means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import partitions
from scipy import sparse

from clinclust import methods
from clinclust.errors import InputError
from clinclust.methods.normalised_cut import _graph, lowered_cut, penalised_cut


def graph_of(seed, n):
    """A weighted graph in which every node has a neighbour."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.5), 1)
    weights[np.arange(n - 1), np.arange(1, n)] += 0.1
    return weights + weights.T


def cut(adjacency, labels):
    """Sum over clusters of the links to others over the degree, as the paper writes it."""
    total = 0.0
    for cluster in set(labels.tolist()):
        inside = labels == cluster
        total += adjacency[inside][:, ~inside].sum() / adjacency[inside].sum()
    return total


def weighted_kernel_k_means(kernel, weights, labels):
    """J(K, W): each node's squared distance from the weighted mean of its cluster, by the kernel alone."""
    total = 0.0
    for cluster in set(labels.tolist()):
        members = np.flatnonzero(labels == cluster)
        shares = weights[members] / weights[members].sum()
        inside = kernel[np.ix_(members, members)]
        squared = np.diag(inside) - 2.0 * inside @ shares + shares @ inside @ shares
        total += (weights[members] * squared).sum()
    return total


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 3.0), st.floats(0.05, 0.95))
def test_theorem_5_3(seed, sigma, penalty):
    adjacency, n = graph_of(seed, 7), 7
    labels = np.unique(np.random.default_rng(seed).integers(0, 3, n), return_inverse=True)[1]
    degrees, k = adjacency.sum(axis=1), int(labels.max()) + 1
    kernel = sigma * np.diag(1.0 / degrees) + adjacency / np.outer(degrees, degrees)
    found = weighted_kernel_k_means(kernel, degrees, labels)
    constant = sigma * n + np.trace(adjacency / np.sqrt(np.outer(degrees, degrees)))
    assert found == pytest.approx(constant - (sigma + 1.0) * k + cut(adjacency, labels))
    # DP-means with lambda = penalty + sigma has our objective, up to the constant.
    ours = penalised_cut(sparse.csr_array(adjacency), labels, penalty)
    assert found + (penalty + sigma) * k == pytest.approx(constant + ours)
    assert ours == pytest.approx(cut(adjacency, labels) + (penalty - 1.0) * k)


@pytest.mark.parametrize(
    ("n", "seed"), [(5, 0), (6, 1), *(pytest.param(7, seed, marks=pytest.mark.simulation) for seed in range(6))]
)
def test_beside_all_partitions(n, seed):
    adjacency, penalty = graph_of(seed, n), 0.4
    graph, degrees = sparse.csr_array(adjacency), adjacency.sum(axis=1)
    every = [np.array(one) for one in partitions(n)]
    objectives = [penalised_cut(graph, labels, penalty) for labels in every]
    eigenvalues = np.linalg.eigvalsh(adjacency / np.sqrt(np.outer(degrees, degrees)))
    assert min(objectives) >= -np.maximum(eigenvalues - penalty, 0.0).sum() - 1e-12  # the relaxation is a bound
    found = [lowered_cut(graph, labels, penalty) for labels in every]
    assert min(run.trace[-1] for run in found) == pytest.approx(min(objectives))
    for run in found:
        assert (np.diff(run.trace) < 0.0).all()
        assert run.trace[-1] == pytest.approx(penalised_cut(graph, run.labels, penalty))
        # Nobody can move to another cluster, and no two clusters can join.
        for node in range(n):
            for cluster in range(int(run.labels.max()) + 1):
                moved = run.labels.copy()
                moved[node] = cluster
                moved = np.unique(moved, return_inverse=True)[1]
                assert penalised_cut(graph, moved, penalty) >= run.trace[-1] - 1e-9


def test_a_price_of_one_is_worth_one_cluster_only():
    """The paper's lambda' = 0, from which on every graph is one cluster."""
    graph = sparse.csr_array(graph_of(1, 7))
    objectives = {len(set(one)): penalised_cut(graph, np.array(one), 1.0) for one in partitions(7)}
    assert objectives[1] == pytest.approx(0.0)
    assert min(value for k, value in objectives.items() if k > 1) > 0.0


def test_it_finds_curved_groups():
    """Two half circles, which K-means cuts across; above 400 subjects only the largest eigenvalues are computed."""
    rng, n = np.random.default_rng(0), 500
    angle, upper = rng.uniform(0.0, np.pi, n), np.arange(n) % 2 == 0
    x = np.where(upper, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.3 - np.sin(angle))
    values = np.column_stack([x, y]) + rng.normal(0.0, 0.04, (n, 2))
    model = methods.NormalisedCut(n_clusters=2, n_neighbours=8, random_state=0).fit(values)
    assert (model.labels_ == model.labels_[0]).tolist() == upper.tolist()
    assert model.eigenvalues_[0] == pytest.approx(1.0)


def test_the_penalty_of_a_wished_number_is_where_two_clusters_join():
    rng = np.random.default_rng(0)
    values = rng.normal(3.0 * np.eye(3)[np.arange(90) % 3], 1.0)
    model = methods.NormalisedCut(n_clusters=3, random_state=0).fit(values)
    assert model.n_clusters_ == 3
    assert model.objective_ == pytest.approx(model.cut_ + (model.penalty_ - 1.0) * 3)
    graph = _graph(((values - values.mean(axis=0)) / values.std(axis=0)), 10)
    assert lowered_cut(graph, model.labels_, model.penalty_ - 1e-9).labels.max() == 2
    assert lowered_cut(graph, model.labels_, model.penalty_ + 1e-9).labels.max() == 1
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scaled = graph.toarray() / np.sqrt(np.outer(degrees, degrees))
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(scaled)[::-1][:21], atol=1e-9)


def test_what_cannot_be_used_is_refused():
    values = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(InputError, match="give either penalty or n_clusters"):
        methods.NormalisedCut().fit(values)
    with pytest.raises(InputError, match="penalty must be a number above 0 and below 1"):
        methods.NormalisedCut(penalty=1.0).fit(values)
    with pytest.raises(InputError, match="n_clusters is 30, above max_clusters, 20"):
        methods.NormalisedCut(n_clusters=30).fit(values)
    with pytest.raises(InputError, match=r"n_neighbours must be below the number of subjects \(12\)"):
        methods.NormalisedCut(n_clusters=2, n_neighbours=12).fit(values)
