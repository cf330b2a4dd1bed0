"""The compiled kernels against the plain definition: a score is the change of the joint."""

import numpy as np
import pytest
from cohorts import LIKELIHOODS, mixed_cohort

from clinclust.engine.objective import log_joint
from clinclust.engine.partition import new_partition
from clinclust.engine.posterior import leave_one_out_scores, partition_of
from clinclust.engine.problem import pose
from clinclust.engine.sweep import score_all, sweep


def _problem(seed, n=30, **options):
    frame, schema, _, _ = mixed_cohort(seed, n, **options)
    return pose(schema.validate(frame, warn=False), schema, None, 3.0)


def _joint(problem, labels):
    return log_joint(problem, partition_of(problem, np.unique(labels, return_inverse=True)[1]))


@pytest.mark.parametrize("seed", range(6))
def test_the_difference_of_two_scores_is_the_difference_of_the_joint(seed):
    problem = _problem(seed, likelihoods=LIKELIHOODS * 2, missing=0.2)
    labels = np.random.default_rng(seed).integers(4, size=30)
    labels[:2] = 4, 5  # two subjects alone
    partition = partition_of(problem, labels)
    scores = np.zeros((30, 7))
    score_all(problem.cohort.arrays, problem.prior, problem.log_concentration, partition, True, scores)
    here = _joint(problem, labels)
    for i in range(30):
        alone = (labels == labels[i]).sum() == 1
        for k in range(7):
            moved = labels.copy()
            moved[i] = k
            if k == 6 and alone:
                moved = labels  # a new cluster instead of one's own changes nothing
            assert scores[i, k] - scores[i, labels[i]] == pytest.approx(_joint(problem, moved) - here, abs=1e-9)


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_moving_there_and_back_restores_everything(likelihood):
    """A sweep of one subject with an impossible gain moves nobody; forced moves must be undone exactly."""
    problem = _problem(1, likelihoods=(likelihood,) * 3)
    arrays, prior, log_concentration = problem.cohort.arrays, problem.prior, problem.log_concentration
    labels = np.arange(30) % 3
    before = partition_of(problem, labels)
    nobody = np.zeros(0, dtype=np.int64)
    sweep(arrays, prior, log_concentration, before, nobody, 0, 0.0, False)
    moved = partition_of(problem, labels)
    everyone = np.arange(30)
    while sweep(arrays, prior, log_concentration, moved, everyone, 0, 1e-9, False)[1]:
        pass
    assert (moved.labels != labels).any()
    # What the moves left behind must be what the labels alone say.
    fresh = new_partition(arrays, moved.labels)
    sweep(arrays, prior, log_concentration, fresh, nobody, 0, 0.0, False)
    k = int(fresh.n_clusters[0])
    assert k == moved.n_clusters[0]
    for name in ("sizes", "log_sizes", "statistics"):
        np.testing.assert_allclose(getattr(moved, name)[:k], getattr(fresh, name)[:k], rtol=1e-9, atol=1e-9)
    for name in ("table", "left_out"):
        np.testing.assert_allclose(getattr(moved, name)[:, :k], getattr(fresh, name)[:, :k], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moved.coefficients[..., :k], fresh.coefficients[..., :k], rtol=1e-9, atol=1e-9)


def test_running_out_of_room_changes_nothing_that_is_found():
    problem = _problem(4, n=60)
    arrays, prior, log_concentration = problem.cohort.arrays, problem.prior, np.log(50.0)
    order = np.arange(60)

    def settled(capacity):
        from clinclust.engine.partition import grow

        partition = new_partition(arrays, np.zeros(60, dtype=np.int64), capacity)
        moves = 1
        while moves:
            position = moves = 0
            while position < 60:
                position, made = sweep(arrays, prior, log_concentration, partition, order, position, 1e-9, False)
                moves += made
                if position < 60:
                    partition = grow(arrays, partition)
        return partition.labels

    tight, roomy = settled(0), settled(64)
    assert roomy.max() >= 8  # more than the tight one has room for at first
    assert tight.tolist() == roomy.tolist()


def test_a_subject_without_any_value_weighs_clusters_by_size_alone():
    problem = _problem(2)
    arrays = problem.cohort.arrays
    arrays.codes[5] = 0
    arrays.values[5] = np.nan
    labels = np.repeat([0, 1, 2], [15, 10, 5])
    partition = new_partition(arrays, labels)
    scores = leave_one_out_scores(problem, partition)
    assert scores[5].tolist() == np.log([14.0, 10.0, 5.0]).tolist()


def test_identical_subjects_are_never_apart_at_a_fixed_point():
    """Log normalisers are convex: a cluster that holds a subject's twin explains the subject strictly better."""
    frame, schema, _, _ = mixed_cohort(7, n=20)
    twins = frame.loc[np.repeat(frame.index, 2)].reset_index(drop=True)
    from clinclust import MAPDP

    labels = MAPDP(schema, random_state=1).fit(twins).labels_
    assert labels[::2].tolist() == labels[1::2].tolist()
