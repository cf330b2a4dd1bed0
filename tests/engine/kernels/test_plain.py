"""The kernels against the plain algorithm: the joint of every partition a subject could make, and the highest."""

import numpy as np
import pytest
from cohorts import EVERY_LIKELIHOOD
from problems import mixed_problem

from clinclust.engine.kernels.moves import new_partition
from clinclust.engine.kernels.sweep import Visit, sweep
from clinclust.engine.problem.problem import log_joint
from clinclust.engine.search.settle import minimum_gain


def _plain_sweep(problem, labels, order):
    labels = labels.copy()
    for subject in order:
        own, n_clusters = labels[subject], labels.max() + 1
        alone = own >= 0 and (labels == own).sum() == 1
        joints = []
        for cluster in range(n_clusters + (not alone)):  # the last may be new
            moved = labels.copy()
            moved[subject] = cluster
            names = np.unique(moved[moved >= 0])
            renamed = np.where(moved < 0, -1, np.searchsorted(names, moved))
            joints.append(log_joint(problem, problem.partition(renamed)))
        best = np.argmax(joints)
        if own < 0 or joints[best] - joints[own] > minimum_gain(problem):
            labels[subject] = best
            if alone:  # the last cluster takes the place of the one left empty
                labels[labels == n_clusters - 1] = own
    return labels


@pytest.mark.parametrize(("missing", "coarsening"), [(0.0, 1.0), (0.2, 1.0), (0.2, 0.4)])
@pytest.mark.parametrize("seed", range(3))
def test_a_sweep_makes_the_moves_of_the_plain_one(seed, missing, coarsening):
    problem = mixed_problem(seed, 26, coarsening, likelihoods=EVERY_LIKELIHOOD * 2, missing=missing)
    rng = np.random.default_rng(seed)
    labels, order = rng.permutation(np.arange(26) % 9), rng.permutation(26)
    partition = new_partition(problem.cohort.arrays, labels, 40)
    for _ in range(3):
        labels = _plain_sweep(problem, labels, order)
        sweep(problem.cohort.arrays, problem.model, partition, order, Visit(minimum_gain=minimum_gain(problem)))
        assert partition.labels.tolist() == labels.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_subjects_are_seated_where_the_plain_sweep_seats_them(seed):
    problem = mixed_problem(seed, 26, likelihoods=EVERY_LIKELIHOOD * 2, missing=0.2)
    order = np.random.default_rng(seed).permutation(26)
    partition = new_partition(problem.cohort.arrays, np.full(26, -1), 40)
    sweep(problem.cohort.arrays, problem.model, partition, order, Visit())
    assert partition.labels.tolist() == _plain_sweep(problem, np.full(26, -1), order).tolist()
