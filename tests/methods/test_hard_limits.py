"""The limits of Kulis and Jordan by plain copies of their algorithms, their lemmas, and all partitions of points."""

import numpy as np
import pandas as pd
import pytest
from cohorts import schema_of
from hypothesis import given
from hypothesis import strategies as st
from oracles import partitions
from scipy import sparse
from scored import few
from sklearn.neighbors import kneighbors_graph

import clinclust as cc
from clinclust.errors import InputError
from clinclust.methods import DPMeans, HardHDP, NormalisedCut, SpectralDPMeans
from clinclust.methods.hard_limits import dp_means, lower_cut, penalised_cut, penalised_sum, penalty_for

from .clear_groups import SCHEMA, cohort

EVERY = list(partitions(6))


def points(seed, n, n_groups):
    rng = np.random.default_rng(seed)
    return rng.normal(3.0 * rng.integers(n_groups, size=(n, 1)), 1.0, (n, 2))


def squared(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def algorithm_1(values, penalty):
    """Kulis and Jordan 2012, Algorithm 1, line by line, in plain Python."""
    rows = values.tolist()
    means, labels = [[sum(column) / len(rows) for column in zip(*rows, strict=True)]], [0] * len(rows)
    while True:
        moved = []
        for row in rows:
            distances = [squared(row, mean) for mean in means]
            if min(distances) > penalty:
                means.append(row)
                moved.append(len(means) - 1)
            else:
                moved.append(distances.index(min(distances)))
        in_use = sorted(set(moved), key=moved.index)
        moved = [in_use.index(label) for label in moved]
        if moved == labels:
            return labels
        labels, means = moved, []
        for cluster in range(len(in_use)):
            members = [row for row, label in zip(rows, labels, strict=True) if label == cluster]
            means.append([sum(column) / len(members) for column in zip(*members, strict=True)])


def objective(values, labels, penalty):
    clusters = [values[labels == label] for label in np.unique(labels)]
    return sum(((members - members.mean(axis=0)) ** 2).sum() + penalty for members in clusters)


@pytest.mark.parametrize(("seed", "penalty"), few([(seed, (0.3, 2.0, 9.0, 200.0)[seed % 4]) for seed in range(48)], 8))
def test_dp_means_is_the_algorithm_of_the_paper(seed, penalty):
    values = points(seed, 40, 3)
    labels, trace = dp_means(values, penalty)
    assert labels.tolist() == algorithm_1(values, penalty)
    assert trace[-1] == pytest.approx(objective(values, labels, penalty))
    assert (np.diff(trace) < 0.0).all()


@pytest.mark.parametrize("seed", few(range(5), 2))
def test_several_starts_come_near_the_best_of_all_partitions_of_a_few_points(seed):
    values = points(seed, 8, 3)
    model = DPMeans(penalty=0.8, n_restarts=100, random_state=0).fit(values)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    best = min(objective(standard, labels, 0.8) for labels in partitions(8))
    assert model.objective_ == pytest.approx(objective(standard, model.labels_, 0.8))
    assert best - 1e-9 <= model.objective_ <= 1.2 * best
    one_start = DPMeans(penalty=0.8, n_restarts=1).fit(values)
    assert model.objective_ <= one_start.objective_


def test_the_farthest_first_heuristic_by_hand():
    line = np.array([[0.0], [1.0], [10.0], [13.0]])  # mean 6: distances 36, 25, 16, 49
    assert [penalty_for(line, k) for k in (1, 2, 3, 4)] == [49.0, 36.0, 9.0, 1.0]


def test_a_larger_penalty_gives_fewer_clusters_at_its_ends():
    frame, _ = cohort(0, 0.0)
    assert DPMeans(SCHEMA, penalty=1e6).fit(frame).n_clusters_ == 1
    assert DPMeans(SCHEMA, penalty=1e-9, n_restarts=1).fit(frame).n_clusters_ == 90


OF_TWO = schema_of("xy", hospital={"role": "ignore", "likelihood": None})


def centres_cohort(seed=0, n_centres=4, each=40):
    """Centres that hold two of three groups each, the same for all."""
    rng = np.random.default_rng(seed)
    centre = np.repeat(np.arange(n_centres), each)
    group = (centre + rng.integers(2, size=centre.size)) % 3
    means = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    frame = pd.DataFrame(means[group] + rng.normal(size=(centre.size, 2)), columns=["x", "y"])
    frame["hospital"] = np.array([f"hospital {name}" for name in "ABCDEF"])[centre]
    return frame, OF_TWO, group


def objective_of_hdp(model, values, centres):
    pairs = {*zip(centres, model.labels_.tolist(), strict=True)}
    within = sum(
        ((values[model.labels_ == k] - values[model.labels_ == k].mean(axis=0)) ** 2).sum()
        for k in range(model.n_clusters_)
    )
    return within + model.local_penalty_ * len(pairs) + model.global_penalty_ * model.n_clusters_


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5.0), st.floats(0.05, 20.0))
def test_the_objective_of_the_hard_hdp_never_rises(seed, local, shared):
    rng = np.random.default_rng(seed)
    frame, schema = pd.DataFrame(rng.normal(size=(24, 2)) * 2.0, columns=["x", "y"]), OF_TWO
    frame["hospital"] = rng.choice(list("abc"), 24)
    model = HardHDP(schema, centre="hospital", local_penalty=local, global_penalty=shared).fit(frame)
    assert (np.diff(model.objective_trace_) <= 1e-9).all()
    values = frame[["x", "y"]].to_numpy()
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    assert model.objective_trace_[-1] == pytest.approx(objective_of_hdp(model, values, frame["hospital"].tolist()))
    n_local = [np.unique(model.labels_[frame["hospital"] == name]).size for name in model.n_local_.index]
    assert model.n_local_.tolist() == n_local


def test_centres_share_their_clusters_and_it_is_reported(tmp_path):
    frame, schema, group = centres_cohort()
    prices = {"local_penalty": 0.5, "global_penalty": 4.0, "random_state": 0}
    model = HardHDP(schema, centre="hospital", **prices).fit(frame)
    assert cc.comparisons.compare_partitions(model, group)["adjusted_rand"] > 0.9
    assert model.n_local_.to_dict() == {f"hospital {name}": 2 for name in "ABCD"}
    page = cc.write_report(model, frame, tmp_path / "x.html", associations=None, progress=False).read_text("utf-8")
    assert "the hard Gaussian HDP of the centres in hospital" in page
    again = HardHDP(schema, centre="hospital", **prices).fit_predict(frame)
    assert (again == model.labels_).all()


def test_one_centre_is_dp_means_of_both_penalties():
    frame, schema, _ = centres_cohort(n_centres=1, each=80)
    alone = HardHDP(schema, centre="hospital", local_penalty=0.2, global_penalty=0.8, n_restarts=1).fit(frame)
    together = DPMeans(schema, penalty=1.0, n_restarts=1).fit(frame)
    assert cc.comparisons.compare_partitions(alone, together)["adjusted_rand"] == 1.0
    assert alone.n_local_.tolist() == [together.n_clusters_]


def test_penalties_for_wished_numbers_by_hand():
    """One feature: A holds 0 and 2, B 10 and 12; the mean is 6, and the spread 26 in squared units."""
    frame = pd.DataFrame({"x": [0.0, 2.0, 10.0, 12.0], "hospital": ["A", "A", "B", "B"]})
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian"), cc.Feature(name="hospital", role="ignore")])
    model = HardHDP(schema, centre="hospital", n_local=2, n_clusters=2).fit(frame)
    # From each centre's mean both lie 1 away; when one of them is added, the other stays 1 away.
    assert model.local_penalty_ == pytest.approx(1.0 / 26.0)
    # From 6, A is 36 + 16 away and so is B; when 0, the farthest of A, is added, B stays as far.
    assert model.global_penalty_ == pytest.approx(52.0 / 26.0)
    model = HardHDP(schema, centre="hospital", n_local=2, n_clusters=3).fit(frame)
    # When 12 is added too, 2 is 4 away from 0, and 10 from 12.
    assert model.global_penalty_ == pytest.approx(4.0 / 26.0)


@pytest.mark.simulation
def test_wished_numbers_find_shared_clusters_of_many_small_centres():
    """The experiment of section 6.3 of the paper: the penalties of the heuristics are of the size of the clusters."""
    rng = np.random.default_rng(0)
    means = rng.uniform(0.0, 1.0, (15, 2))
    group = np.concatenate([np.repeat(rng.choice(15, 5, replace=False), 5) for _ in range(50)])
    frame = pd.DataFrame(rng.normal(means[group], 0.1), columns=["x", "y"])
    frame["hospital"] = np.repeat([f"h{number:02d}" for number in range(50)], 25)
    model = HardHDP(OF_TWO, centre="hospital", n_local=5, n_clusters=15, random_state=0).fit(frame)
    assert 8 <= model.n_clusters_ <= 20
    assert 3.0 < model.n_local_.mean() < 6.0


def test_what_the_hard_hdp_cannot_use_is_refused():
    frame, schema, _ = centres_cohort()
    for parameters, problem in (
        ({}, r"give either local_penalty or n_local .*; give either global_penalty or n_clusters"),
        ({"local_penalty": 0, "n_clusters": 0}, "local_penalty must be a number above 0.*n_clusters must be"),
    ):
        with pytest.raises(InputError, match=problem):
            HardHDP(schema, centre="hospital", **parameters).fit(frame)
    prices = {"local_penalty": 1.0, "global_penalty": 1.0}
    with pytest.raises(InputError, match="one column 'clinic'"):
        HardHDP(schema, centre="clinic", **prices).fit(frame)
    with pytest.raises(InputError, match="cannot be clustered on"):
        HardHDP(schema, centre="x", **prices).fit(frame)
    with pytest.raises(InputError, match=r"the centre of 1 subject\(s\) is missing"):
        HardHDP(schema, centre="hospital", **prices).fit(
            frame.assign(hospital=frame["hospital"].where(frame.index > 0))
        )


def standard_values(seed, n):
    rng = np.random.default_rng(seed)
    values = rng.normal(3.0 * rng.integers(3, size=(n, 1)), 1.0, (n, 3))
    return (values - values.mean(axis=0)) / values.std(axis=0)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 30.0))
def test_no_partition_is_below_the_bound_and_theorem_5_2(seed, penalty):
    values = standard_values(seed, 6)
    model = SpectralDPMeans(penalty=penalty, n_restarts=1, random_state=0).fit(values)
    assert model.bound_ <= min(penalised_sum(values, labels, penalty) for labels in EVERY) + 1e-9
    eigenvalues, vectors = np.linalg.eigh(values @ values.T)
    np.testing.assert_allclose(model.eigenvalues_, eigenvalues[::-1][: model.eigenvalues_.size], atol=1e-9)
    y = np.column_stack([np.full(6, 6.0**-0.5), vectors[:, eigenvalues > penalty]])
    np.testing.assert_allclose(y.T @ y, np.eye(y.shape[1]), atol=1e-9)
    assert model.n_clusters_ <= y.shape[1]
    kernel = values @ values.T
    assert model.bound_ == pytest.approx(np.trace(kernel) - np.trace(y.T @ (kernel - penalty * np.eye(6)) @ y))


def test_wished_numbers_of_eigenvectors_and_what_cannot_be_had():
    rng = np.random.default_rng(0)
    values = rng.normal(6.0 * np.eye(3)[np.repeat(np.arange(3), 30)], 1.0)
    for k in (1, 2, 3):
        model = SpectralDPMeans(n_clusters=k, random_state=0).fit(values)
        assert model.n_clusters_ == k
        assert model.bound_ <= model.objective_
        peer = DPMeans(penalty=model.penalty_, random_state=0).fit(values)
        assert model.bound_ <= peer.objective_
    assert model.cluster_sizes_.tolist() == [30, 30, 30]
    with pytest.raises(InputError, match="n_clusters asks for 4 eigenvalues above 0, and there are 3"):
        SpectralDPMeans(n_clusters=5).fit(values)


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


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95))
def test_the_objective_is_that_of_theorem_5_3(seed, penalty):
    adjacency = graph_of(seed, 7)
    labels = np.unique(np.random.default_rng(seed).integers(0, 3, 7), return_inverse=True)[1]
    expected = cut(adjacency, labels) + (penalty - 1.0) * (labels.max() + 1)
    assert penalised_cut(sparse.csr_array(adjacency), labels, penalty) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "seed"), few([(5, 0), (6, 1), *((7, seed) for seed in range(6))], 1))
def test_beside_all_partitions(n, seed):
    adjacency, penalty = graph_of(seed, n), 0.4
    graph, degrees = sparse.csr_array(adjacency), adjacency.sum(axis=1)
    every = list(partitions(n))
    objectives = [penalised_cut(graph, labels, penalty) for labels in every]
    eigenvalues = np.linalg.eigvalsh(adjacency / np.sqrt(np.outer(degrees, degrees)))
    assert min(objectives) >= -np.maximum(eigenvalues - penalty, 0.0).sum() - 1e-12  # the relaxation is a bound
    runs = [lower_cut(graph, labels, penalty) for labels in every]
    assert min(trace[-1] for _, trace in runs) == pytest.approx(min(objectives))
    for labels, trace in runs:
        assert (np.diff(trace) < 0.0).all()
        assert trace[-1] == pytest.approx(penalised_cut(graph, labels, penalty))
        # No node can move to another cluster, and no two clusters can join.
        for node in range(n):
            for cluster in range(int(labels.max()) + 1):
                moved = labels.copy()
                moved[node] = cluster
                moved = np.unique(moved, return_inverse=True)[1]
                assert penalised_cut(graph, moved, penalty) >= trace[-1] - 1e-9


def test_a_price_of_one_is_worth_one_cluster_only():
    """The paper's lambda' = 0, from which on every graph is one cluster."""
    graph = sparse.csr_array(graph_of(1, 7))
    objectives = {labels.max() + 1: penalised_cut(graph, labels, 1.0) for labels in partitions(7)}
    assert objectives[1] == pytest.approx(0.0)
    assert min(value for k, value in objectives.items() if k > 1) > 0.0


def test_it_finds_curved_groups():
    """Two half circles, which K-means cuts across."""
    rng, n = np.random.default_rng(0), 500
    angle, upper = rng.uniform(0.0, np.pi, n), np.arange(n) % 2 == 0
    x = np.where(upper, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.3 - np.sin(angle))
    values = np.column_stack([x, y]) + rng.normal(0.0, 0.04, (n, 2))
    model = NormalisedCut(penalty=0.995, n_neighbours=8, random_state=0).fit(values)
    assert (model.labels_ == model.labels_[0]).tolist() == upper.tolist()
    assert model.eigenvalues_[0] == pytest.approx(1.0)


def test_the_penalty_is_where_two_clusters_join():
    rng = np.random.default_rng(0)
    values = rng.normal(3.0 * np.eye(3)[np.arange(90) % 3], 1.0)
    model = NormalisedCut(penalty=0.7, random_state=0).fit(values)
    assert model.n_clusters_ == 3
    assert model.objective_ == pytest.approx(model.cut_ + (model.penalty_ - 1.0) * 3)
    graph = kneighbors_graph((values - values.mean(axis=0)) / values.std(axis=0), 10)
    graph = sparse.csr_array(graph.maximum(graph.T))
    assert lower_cut(graph, model.labels_, 0.7)[0].max() == 2
    assert lower_cut(graph, model.labels_, 0.99)[0].max() == 0
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scaled = graph.toarray() / np.sqrt(np.outer(degrees, degrees))
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(scaled)[::-1][:20], atol=1e-9)


def test_what_the_normalised_cut_cannot_use_is_refused():
    values = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(InputError, match="penalty must be a number above 0 and below 1"):
        NormalisedCut(penalty=1.0).fit(values)
    with pytest.raises(InputError, match=r"n_neighbours must be below the number of subjects \(12\)"):
        NormalisedCut(penalty=0.5, n_neighbours=12).fit(values)
