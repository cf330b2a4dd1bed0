"""DP-means beside a literal copy of the algorithm of the paper, and beside all partitions of a few points."""

import numpy as np
import pytest

from clinclust import methods
from clinclust.methods.dp_means import dp_means, penalty_for

from .clear_groups import SCHEMA, cohort


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
        found = []
        for row in rows:
            distances = [squared(row, mean) for mean in means]
            if min(distances) > penalty:
                means.append(row)
                found.append(len(means) - 1)
            else:
                found.append(distances.index(min(distances)))
        in_use = sorted(set(found), key=found.index)
        found = [in_use.index(label) for label in found]
        if found == labels:
            return labels
        labels, means = found, []
        for cluster in range(len(in_use)):
            members = [row for row, label in zip(rows, labels, strict=True) if label == cluster]
            means.append([sum(column) / len(members) for column in zip(*members, strict=True)])


def objective(values, labels, penalty):
    clusters = [values[labels == label] for label in np.unique(labels)]
    return sum(((members - members.mean(axis=0)) ** 2).sum() + penalty for members in clusters)


def partitions(n):
    """Every partition of n points, as labels."""
    labels = [[0]]
    for _ in range(n - 1):
        labels = [[*known, label] for known in labels for label in range(max(known) + 2)]
    return [np.array(known) for known in labels]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("penalty", [0.3, 2.0, 9.0, 200.0])
def test_it_is_the_algorithm_of_the_paper(seed, penalty):
    values = points(seed, 40, 3)
    run = dp_means(values, penalty)
    assert run.labels.tolist() == algorithm_1(values, penalty)
    assert run.trace[-1] == pytest.approx(objective(values, run.labels, penalty))
    assert (np.diff(run.trace) < 0.0).all()


def test_the_order_of_the_subjects_is_that_which_was_given():
    values = points(3, 40, 4)
    order = np.random.default_rng(0).permutation(40)
    run = dp_means(values, 4.0, order)
    assert run.labels[order].tolist() == algorithm_1(values[order], 4.0)


@pytest.mark.parametrize("seed", range(5))
def test_several_starts_come_near_the_best_of_all_partitions_of_a_few_points(seed):
    values = points(seed, 8, 3)
    model = methods.DPMeans(penalty=0.8, n_restarts=100, random_state=0).fit(values)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    best = min(objective(standard, labels, 0.8) for labels in partitions(8))
    assert model.objective_ == pytest.approx(objective(standard, model.labels_, 0.8))
    assert best - 1e-9 <= model.objective_ <= 1.2 * best
    one_start = methods.DPMeans(penalty=0.8, n_restarts=1).fit(values)
    assert model.objective_ <= one_start.objective_


def test_the_farthest_first_heuristic_by_hand():
    line = np.array([[0.0], [1.0], [10.0], [13.0]])  # mean 6: distances 36, 25, 16, 49
    assert [penalty_for(line, k) for k in (1, 2, 3, 4)] == [49.0, 36.0, 9.0, 1.0]


def test_a_larger_penalty_gives_fewer_clusters_at_its_ends():
    frame, _ = cohort(0, 0.0)
    assert methods.DPMeans(SCHEMA, penalty=1e6).fit(frame).n_clusters_ == 1
    assert methods.DPMeans(SCHEMA, penalty=1e-9, n_restarts=1).fit(frame).n_clusters_ == 90


@pytest.mark.parametrize("given", [{}, {"penalty": 2.0, "n_clusters": 3}])
def test_one_of_penalty_and_number_is_needed(given):
    with pytest.raises(ValueError, match="either penalty or n_clusters"):
        methods.DPMeans(SCHEMA, **given).fit(cohort(0, 0.0)[0])


def test_more_clusters_than_different_subjects_are_refused():
    with pytest.raises(ValueError, match=r"n_clusters must be below the number of subjects that differ \(3\), not 3"):
        methods.DPMeans(n_clusters=3).fit(np.array([[0.0], [1.0], [1.0], [5.0]]))
