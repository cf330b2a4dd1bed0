"""The compiled kernels against the plain definition: a score is the change of the joint."""

import numpy as np
import pytest
from cohorts import EVERY_LIKELIHOOD
from problems import joint_with_gaps, mixed_problem

from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.kernels.sweep import Visit, full_sweep, sweep


@pytest.mark.parametrize("coarsening", [1.0, 0.3])
def test_dividing_some_clusters_changes_the_joint_of_all_by_as_much_as_their_own(coarsening):
    problem = mixed_problem(4, 30, coarsening)
    labels = np.random.default_rng(4).permutation(np.repeat([0, 1, 2], [14, 10, 6]))
    members = np.flatnonzero(labels < 2)
    part = problem.restricted_to(members)
    division = np.arange(members.size) % 4
    moved = labels.copy()
    moved[members] = 3 + division
    gain = joint_with_gaps(part, division) - joint_with_gaps(part, labels[members])
    assert gain == pytest.approx(joint_with_gaps(problem, moved) - joint_with_gaps(problem, labels), abs=1e-9)


@pytest.mark.parametrize("likelihood", EVERY_LIKELIHOOD)
def test_moving_there_and_back_restores_everything(likelihood):
    """A sweep of one subject with an impossible gain moves nobody; forced moves must be undone exactly."""
    problem = mixed_problem(1, 30, likelihoods=(likelihood,) * 3)
    arrays, model = problem.cohort.arrays, problem.model
    labels = np.arange(30) % 3
    before = problem.partition(labels)
    nobody = np.zeros(0, dtype=np.int64)
    sweep(arrays, model, before, nobody, Visit())
    moved = problem.partition(labels)
    everyone = np.arange(30)
    while sweep(arrays, model, moved, everyone, Visit(minimum_gain=1e-9))[1]:
        pass
    assert (moved.labels != labels).any()
    # What the moves left behind must be what the labels alone say.
    fresh = new_partition(arrays, moved.labels)
    sweep(arrays, model, fresh, nobody, Visit())
    k = int(fresh.n_clusters[0])
    assert k == moved.n_clusters[0]
    np.testing.assert_allclose(moved.log_weights[:, :k], fresh.log_weights[:, :k], rtol=1e-9)
    for name in ("sizes", "statistics"):
        np.testing.assert_allclose(getattr(moved, name)[:k], getattr(fresh, name)[:k], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moved.table[:, :k], fresh.table[:, :k], rtol=1e-9, atol=1e-9)
    for name in ("left_out", "left_out_coefficients", "spread"):
        np.testing.assert_allclose(getattr(moved, name)[:k], getattr(fresh, name)[:k], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moved.coefficients[..., :k], fresh.coefficients[..., :k], rtol=1e-9, atol=1e-9)


def test_running_out_of_room_changes_nothing_that_is_found():
    problem = mixed_problem(4, 60)
    arrays, model = problem.cohort.arrays, problem.model._replace(concentration=50.0)
    order = np.arange(60)

    def settled(capacity):
        partition, moves = new_partition(arrays, np.zeros(60, dtype=np.int64), capacity), 1
        while moves:
            partition, moves = full_sweep(arrays, model, partition, order, minimum_gain=1e-9)
        return partition.labels

    tight, roomy = settled(0), settled(64)
    assert roomy.max() >= 8  # more than the tight one has room for at first
    assert tight.tolist() == roomy.tolist()
