"""Outlying values: gains of single indicators, moves out of a cluster, and dissolutions against plain definitions."""

import numpy as np
import pytest
from cohorts import LIKELIHOODS, mixed_cohort

from clinclust.engine.joint_estimates.outlying import (
    _Changes,
    best_elsewhere,
    best_outlying,
    gains_of_changes,
    without_outlying,
)
from clinclust.engine.joint_estimates.outlying_search import Dissolution, none_outlying
from clinclust.engine.kernels.partition import new_partition
from clinclust.engine.kernels.sweep import write_scores
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.problem import pose
from clinclust.engine.search.labels import compact
from clinclust.engine.search.plan import RestartResult, SearchPlan
from clinclust.engine.search.settle import settle

SHARE = 0.03


def _posed(seed, n=60, coarsening=0.7):
    frame, schema, _, _ = mixed_cohort(seed, n, likelihoods=LIKELIHOODS, missing=0.1)
    problem = pose(schema.validate(frame, warn=False), schema, None, 3.0, 0.0, coarsening)
    rng = np.random.default_rng(seed)
    outlying = ~_missing(problem) & (rng.random(none_outlying(problem).shape) < 0.1)
    return problem, rng.integers(3, size=n), outlying


def _missing(problem):
    arrays = problem.cohort.arrays
    return np.concatenate([arrays.codes == 0, np.isnan(arrays.values)], axis=1)


def _joint(problem, labels, outlying):
    kept = without_outlying(problem, outlying, SHARE)
    return log_joint(kept, new_partition(kept.cohort.arrays, labels))


@pytest.mark.parametrize("seed", range(3))
def test_the_gain_of_an_indicator_is_the_change_of_the_joint(seed):
    problem, labels, outlying = _posed(seed)
    partition = new_partition(without_outlying(problem, outlying, SHARE).cohort.arrays, labels)
    gains = gains_of_changes(problem.cohort.arrays, problem.model, partition, outlying, SHARE)
    np.testing.assert_array_equal(np.isneginf(gains), _missing(problem))
    before = _joint(problem, labels, outlying)
    for subject in range(0, 60, 7):
        for feature in np.flatnonzero(~_missing(problem)[subject]):
            changed = outlying.copy()
            changed[subject, feature] ^= True
            assert gains[subject, feature] == pytest.approx(_joint(problem, labels, changed) - before, abs=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_outlying_values_of_chunks_of_subjects_are_those_of_all(monkeypatch, seed):
    problem, labels, outlying = _posed(seed)
    whole, joint = best_outlying(problem, labels, outlying, SHARE)
    monkeypatch.setattr("clinclust.engine.search.settle.CHUNK", 16)
    in_chunks, same = best_outlying(problem, labels, outlying, SHARE)
    np.testing.assert_array_equal(in_chunks, whole)
    assert same == joint


def test_the_best_change_of_a_cluster_and_feature_is_the_first_with_the_largest_gain():
    subjects, features = np.array([0, 1, 2, 3, 4]), np.array([1, 1, 0, 1, 1])
    changes = _Changes(subjects, features, np.array([1.0, 3.0, 2.0, 3.0, 0.5]))
    best = changes.best_of_each(np.array([0, 0, 0, 0, 1]))
    assert sorted(zip(best.subjects, best.features, best.gains, strict=True)) == [(1, 1, 3.0), (2, 0, 2.0), (4, 1, 0.5)]


@pytest.mark.parametrize("seed", range(3))
def test_members_leave_a_cluster_for_the_best_of_the_others(seed):
    problem, labels, _ = _posed(seed)
    arrays, partition = problem.cohort.arrays, new_partition(problem.cohort.arrays, labels)
    scores = np.zeros((60, 4))
    write_scores(arrays, problem.model, partition, scores)
    expected = np.where(labels == 1, np.where(scores[:, 0] >= scores[:, 2], 0, 2), labels)
    found = best_elsewhere(problem, labels, none_outlying(problem), 1e-300, 1)  # a share of 0 sets no value aside
    np.testing.assert_array_equal(found, compact(expected))


def test_nothing_is_dissolved_twice_where_nothing_has_changed():
    problem, labels, _ = _posed(0)
    sweeps = []

    def sweep(kept, labels):
        sweeps.append(labels)
        return settle(kept, labels, np.arange(labels.size), 20, plan.cancelled)

    plan = SearchPlan(outlying_share=SHARE)
    outlying, joint = best_outlying(problem, labels, none_outlying(problem), SHARE)
    restart = RestartResult("here", labels, joint, np.array([joint]), 0, True)
    dissolved = Dissolution(problem, plan, sweep, 1e-6)
    after, mask = dissolved(restart, outlying)
    assert after.log_joint >= joint
    assert (np.diff(after.trace) > 0.0).all()
    assert after.log_joint == pytest.approx(_joint(problem, after.labels, mask), abs=1e-7)
    n_sweeps = len(sweeps)
    assert n_sweeps > 0
    again, same = dissolved(after, mask)
    assert again is after
    assert same is mask
    assert len(sweeps) == n_sweeps
    dissolved(RestartResult("elsewhere", labels[::-1].copy(), -np.inf, np.array([]), 0, True), mask)
    assert len(sweeps) > n_sweeps
