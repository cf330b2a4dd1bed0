"""Divisions and profiles: every gain is a difference of log joints, and none is lost."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, mixed_cohort, with_blocks
from problems import problem_of
from scored import few

from clinclust import log_joint
from clinclust.engine.continuum import tested_node as module
from clinclust.engine.continuum.null_cohorts import one_population
from clinclust.engine.continuum.tested_node import best_division, profile

POWERS = {"block 0": 0.25, "block 1": 0.6}


def posed(seed, n=90, n_groups=4, powers=None, likelihoods=EVERY_LIKELIHOOD):
    frame, schema, _, _ = mixed_cohort(seed, n, likelihoods, n_groups=n_groups)
    schema = with_blocks(schema)
    problem = problem_of(frame, schema, block_weights=powers)

    def joint(labels):
        """Return the log joint of labels in encoded order, as the public function has it."""
        labels = problem.cohort.in_table_order(labels)
        return log_joint(frame, labels, schema, problem.hyperparameters, 3.0, block_weights=powers)

    return problem, joint


@pytest.mark.parametrize("powers", [None, POWERS])
@pytest.mark.parametrize("seed", few(range(4), 1))
def test_gains_are_differences_of_log_joints_and_do_not_fall(monkeypatch, seed, powers):
    problem, joint = posed(seed, powers=powers)
    partitions, polished = [], []
    joint_of, settle_from = module.joint_of, module.settle_from

    def asked_for(part, labels):
        if part is problem and labels.max() > 0:
            partitions.append(labels)
        return joint_of(part, labels)

    monkeypatch.setattr(module, "joint_of", asked_for)

    def remembered(arrays, model, partition, *choices):
        is_settled = settle_from(arrays, model, partition, *choices)
        polished.append(partition.labels.copy())
        return is_settled

    monkeypatch.setattr(module, "settle_from", remembered)
    gains, first = profile(problem, 6)
    one = joint(np.zeros(90, dtype=np.int64))
    assert gains[0] == first.gain == pytest.approx(joint(first.labels) - one, abs=1e-8)
    assert gains.shape == (5,)
    assert (np.diff(gains) >= 0.0).all()
    found = [joint(labels) - one for labels in partitions]  # the last may be a division that gained nothing
    n_kept = len(found) if np.all(np.diff(found) > 0) else len(found) - 1
    np.testing.assert_allclose(gains[: min(n_kept, 4)], found[: min(n_kept, 4)], atol=1e-8)
    assert gains[-1] == pytest.approx(max(found[n_kept - 1], joint(polished[-1]) - one), abs=1e-8)
    assert [int(labels.max()) + 1 for labels in partitions] == list(range(2, 2 + len(partitions)))
    assert gains[2] > gains[0]  # there are four groups


@pytest.mark.parametrize("seed", few(range(5), 1))
def test_the_best_division_is_a_fixed_point_of_all_two_way_moves_and_near_the_best_of_all(seed):
    problem, joint = posed(seed, n=8, n_groups=2, likelihoods=("gaussian", "gaussian", "poisson", "gaussian"))
    best = best_division(problem)
    one = joint(np.zeros(8, dtype=np.int64))
    every = [joint(np.array([0, *rest])) - one for rest in product((0, 1), repeat=7) if any(rest)]
    if best.gain == -np.inf:
        assert max(every) < 3.0
        return
    assert best.gain == pytest.approx(joint(best.labels) - one, abs=1e-8)
    assert best.gain <= max(every) + 1e-8
    for subject in range(8):
        moved = best.labels.copy()
        moved[subject] = 1 - moved[subject]
        assert joint(moved) - one <= best.gain + 1e-8


@pytest.mark.parametrize("seed", few(range(3), 1))
def test_sweeps_from_a_given_division_raise_its_log_joint(seed):
    problem, joint = posed(seed, n=60, n_groups=2)
    one = joint(np.zeros(60, dtype=np.int64))
    rng = np.random.default_rng(seed)
    for _ in range(10):
        given = rng.integers(2, size=60)
        found = best_division(problem, given)
        assert found.gain == -np.inf or found.gain == pytest.approx(joint(found.labels) - one, abs=1e-8)
        assert found.gain == -np.inf or found.gain >= joint(given) - one


def test_the_subjects_of_a_node_gain_as_much_as_by_its_halves():
    rng = np.random.default_rng(0)
    groups = np.arange(120) % 2  # which lie beside a severity, the principal axis
    severity = 0.9 * rng.normal(size=(120, 1)) + 0.5 * rng.normal(size=(120, 8))
    apart = 5.0 * groups[:, None] + rng.normal(size=(120, 4))
    problem = problem_of(pd.DataFrame(np.hstack([severity, apart])).rename(columns="x{}".format))
    groups = groups[problem.cohort.order]
    scores = one_population(problem, rng).scores
    for begun in (best_division(problem, groups), None):
        gains, _, is_begun = module._statistics(problem, scores, 3, begun)
        assert is_begun == (begun is not None)
        assert gains[0] == pytest.approx((begun or best_division(problem)).gain)
    assert (best_division(problem, groups).labels == groups).all()  # the principal axis hides them
    assert best_division(problem, groups).gain > best_division(problem).gain + 20.0


def test_what_cannot_be_divided_gains_nothing():
    problem, _ = posed(0)
    same = problem.restricted_to(np.zeros(30, dtype=np.int64))
    gains, _ = profile(same, 4)
    assert gains.shape == (3,)
    assert (gains <= 0.0).all()
    alone = problem.restricted_to(np.zeros(1, dtype=np.int64))
    assert best_division(alone).gain == -np.inf
    gains, first = profile(alone, 3)
    assert (gains == 0.0).all()
    assert first.labels.tolist() == [0]
