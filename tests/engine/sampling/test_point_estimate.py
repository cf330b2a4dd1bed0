"""Point estimates of a partition, against all partitions and scikit-learn."""

import numpy as np
import pytest
from oracles import partitions
from sklearn.metrics import mutual_info_score

from clinclust.engine.sampling.chains import losses, membership_of_draws, point_estimate
from clinclust.engine.search.settle import compact


def drawn(n_subjects, n_draws, seed, flip=0.3):
    """Noisy copies of three groups."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_subjects) % 3
    draws = np.where(rng.random((n_draws, n_subjects)) < flip, rng.integers(0, 4, (n_draws, n_subjects)), truth)
    return np.array([compact(labels) for labels in draws], dtype=np.int32)


def entropy(labels):
    shares = np.bincount(labels) / labels.size
    return -np.sum(shares[shares > 0] * np.log(shares[shares > 0]))


def test_the_loss_is_that_of_the_textbooks():
    draws = drawn(40, 10, 0)
    labels = draws[3].astype(np.int64)
    for draw, information in zip(draws, losses(draws, labels), strict=True):
        mutual = mutual_info_score(labels, draw)
        assert information == pytest.approx(entropy(labels) + entropy(draw) - 2.0 * mutual, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_no_partition_of_seven_subjects_has_a_lower_expected_loss(seed):
    draws = drawn(7, 60, seed, flip=0.5)
    lowest = min(losses(draws, np.array(labels)).mean() for labels in partitions(7))
    found = point_estimate(draws)
    assert losses(draws, found).mean() == pytest.approx(lowest, abs=1e-12)


def test_a_point_estimate_can_be_better_than_every_draw():
    draws = drawn(60, 200, 1)
    found = point_estimate(draws)
    assert (found == np.arange(60) % 3).all()
    assert losses(draws, found).mean() < min(losses(draws, each.astype(np.int64)).mean() for each in draws)


def test_memberships_are_shares_of_the_draws_under_the_names_of_the_point_estimate():
    draws = drawn(60, 200, 2, flip=0.1)
    renamed = np.array([np.random.default_rng(s).permutation(4)[labels] for s, labels in enumerate(draws)])
    found = membership_of_draws(renamed.astype(np.int32), np.arange(60) % 3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (found.argmax(axis=1) == np.arange(60) % 3).all()
    assert 0.85 < found.max(axis=1).mean() < 0.97  # one value in ten was drawn anew


def test_draws_that_are_all_the_same_are_the_point_estimate():
    draws = np.repeat(drawn(20, 1, 4), 5, axis=0)
    labels = point_estimate(draws)
    assert losses(draws, labels).max() == 0.0
