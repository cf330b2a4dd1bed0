"""K-harmonic means beside its objective in plain Python, and the derivative of it."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from clinclust import methods
from clinclust.methods.harmonic_means import harmonic_means


def points(seed, sizes):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    places = 10.0 * np.column_stack([rng.permutation(len(sizes)) for _ in range(3)])
    return rng.normal(places[group], 1.0), group


def objective(values, centres):
    """The loss of Zhang, Hsu and Dayal (1999), line by line."""
    total = 0.0
    for row in values:
        total += len(centres) / sum(1.0 / sum((row - centre) ** 2) for centre in centres)
    return total


@pytest.mark.parametrize("seed", range(10))
def test_the_objective_never_rises_and_is_that_of_the_paper(seed):
    values, _ = points(seed, (20, 15, 10))
    start = np.random.default_rng(seed).normal(5.0, 4.0, (4, 3))
    run = harmonic_means(values, start)
    assert len(run.trace) > 3
    assert (np.diff(run.trace) < 0.0).all()
    assert run.trace[0] == pytest.approx(objective(values, start))
    assert run.trace[-1] == pytest.approx(objective(values, run.centres))


def test_at_the_end_the_slope_of_the_objective_is_0():
    values, _ = points(1, (20, 15, 10))
    start = values[[0, 20, 40]]
    centres = harmonic_means(values, start).centres
    for place in np.ndindex(centres.shape):
        step = np.zeros_like(centres)
        step[place] = 1e-4
        slope = (objective(values, centres + step) - objective(values, centres - step)) / 2e-4
        assert abs(slope) < 0.05
    shifted = centres + np.array([0.5, 0.0, 0.0])
    step = np.zeros_like(centres)
    step[:, 0] = 1e-4
    assert abs(objective(values, shifted + step) - objective(values, shifted - step)) / 2e-4 > 1.0


def test_clear_groups_are_found_from_starts_in_one_of_them():
    values, group = points(2, (60, 40, 30))
    run = harmonic_means(values, values[:3])
    nearest = ((values[:, None] - run.centres) ** 2).sum(axis=2).argmin(axis=1)
    assert adjusted_rand_score(group, nearest) == 1.0
    model = methods.KHarmonicMeans(None, 3, random_state=0).fit(values)
    assert model.cluster_sizes_.tolist() == [60, 40, 30]
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    for cluster, centre in enumerate(model.centres_):
        assert np.abs(standard[model.labels_ == cluster].mean(axis=0) - centre).max() < 0.2


def test_subjects_that_lie_on_centres_do_no_harm():
    values = np.array([[0.0], [0.0], [1.0], [5.0], [5.0]])
    run = harmonic_means(values, np.array([[0.0], [5.0]]))
    assert np.isfinite(run.centres).all()
    assert (np.diff(run.trace) < 0.0).all()
    assert run.trace[-1] == pytest.approx(objective(values, run.centres))
    all_on = harmonic_means(values[[0, 1, 3]], np.array([[0.0], [5.0], [9.0]]))
    np.testing.assert_array_equal(all_on.centres, [[0.0], [5.0], [9.0]])
    assert all_on.trace.tolist() == [0.0]


def test_more_clusters_than_different_subjects_are_refused():
    with pytest.raises(ValueError, match=r"subjects that differ \(3\), not 3"):
        methods.KHarmonicMeans(None, 3).fit(np.array([[0.0], [1.0], [1.0], [5.5]]))
